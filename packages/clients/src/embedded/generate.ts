import { randomInt } from 'node:crypto';
import type { Sampling } from '@perwatt/core';
import { createDetokenizer } from './detokenizer.js';
import type { EvaluateOptions, Model, Sequence, Token } from './engine-api.js';
import type { EngineAnswer } from './protocol.js';
import { createStopScanner } from './stop-scanner.js';

export interface GenerateOptions {
  readonly model: Model;
  /** A cleared sequence. */
  readonly sequence: Sequence;
  readonly prompt: Token[];
  readonly sampling: Sampling;
  readonly stops: readonly string[];
  /** Most tokens that the sequence may hold. */
  readonly context_tokens: number;
  readonly now: () => bigint;
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

/** An answer of a call that didn't get as far as the first token. */
export const noAnswer = (
  prompt_tokens: number,
  error: EngineAnswer['error'],
  cancelled = error === null,
): EngineAnswer => ({
  content: '',
  finish_reason: null,
  prompt_tokens,
  completion_tokens: 0,
  mean_logprob: null,
  first_event_ns: null,
  content_ns: new BigInt64Array(0),
  cancelled,
  error,
});

/**
 * Decodes one answer. It ends at an end token or a stop text (`stop`), or at `max_tokens` or a full context (`length`); a
 * token that is both the last allowed and the end of a stop text counts as `stop`.
 */
export async function generate(options: GenerateOptions): Promise<EngineAnswer> {
  const { model, sequence, prompt, sampling, now, signal, onText } = options;
  const limit = Math.max(1, Math.min(sampling.max_tokens, options.context_tokens - prompt.length));
  const stream = createTextStream((tokens) => model.detokenize(tokens, false), prompt, options.stops);
  const content_ns = new BigInt64Array(limit);
  const pieces: string[] = [];
  let completion_tokens = 0;
  let logprob = 0;
  let first_event_ns: bigint | null = null;
  let finish_reason: EngineAnswer['finish_reason'] = null;

  for await (const { token, confidence } of drawn(sequence, prompt, sampling)) {
    const at = now();
    logprob += logarithm(confidence);
    first_event_ns ??= at;
    completion_tokens += 1;
    const ended = model.isEogToken(token);
    let text = ended ? '' : stream.push(token);
    finish_reason = finishOf(ended || stream.stopped(), completion_tokens >= limit);
    if (finish_reason !== null) text += stream.end();
    if (text !== '') {
      content_ns[pieces.length] = at;
      pieces.push(text);
      onText?.(text);
    }
    if (finish_reason !== null || signal.aborted) break;
  }
  return {
    content: pieces.join(''),
    finish_reason,
    prompt_tokens: prompt.length,
    completion_tokens,
    mean_logprob: sampling.logprobs === true ? logprob / Math.max(1, completion_tokens) : null,
    first_event_ns,
    content_ns: content_ns.slice(0, pieces.length),
    cancelled: finish_reason === null,
    error: null,
  };
}

interface Drawn {
  readonly token: Token;
  /** Null where it was not asked for. */
  readonly confidence: number | null;
}

async function* drawn(sequence: Sequence, prompt: Token[], sampling: Sampling): AsyncGenerator<Drawn> {
  const options = evaluateOptions(sampling);
  if (sampling.logprobs === true) yield* sequence.evaluateWithMetadata(prompt, { confidence: true }, options);
  else for await (const token of sequence.evaluate(prompt, options)) yield { token, confidence: null };
}

const logarithm = (probability: number | null): number =>
  probability === null ? 0 : Math.log(Math.max(probability, Number.MIN_VALUE));

const finishOf = (stopped: boolean, full: boolean): EngineAnswer['finish_reason'] => {
  if (stopped) return 'stop';
  return full ? 'length' : null;
};

/** Tokens to text up to the first stop text. */
function createTextStream(
  detokenize: (tokens: readonly number[]) => string,
  prompt: readonly number[],
  stops: readonly string[],
) {
  const detokenizer = createDetokenizer(detokenize, prompt);
  const scanner = createStopScanner(stops);
  return {
    push: (token: number) => scanner.push(detokenizer.push(token)),
    stopped: () => scanner.stopped,
    end: () => (scanner.stopped ? '' : scanner.push(detokenizer.end()) + scanner.end()),
  };
}

function evaluateOptions({ temperature, top_p, seed }: Sampling): EvaluateOptions {
  return {
    temperature,
    topK: null,
    topP: top_p < 1 ? top_p : null,
    seed: seed ?? randomInt(2 ** 31),
    yieldEogToken: true,
  };
}
