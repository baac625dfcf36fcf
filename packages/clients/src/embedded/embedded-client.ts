import {
  type CallInput,
  type CallOptions,
  type CallRecord,
  type Client,
  type ClientRequest,
  type Clock,
  type EndpointFacts,
  messageOf,
  PerwattError,
} from '@perwatt/core';
import { type EmbeddedFailure, embeddedRecord } from './embedded-record.js';
import { type EngineProcess, type StartingEngine, startEngine } from './engine-process.js';
import type { EngineAnswer } from './protocol.js';

/** Which weights the engine runs, and with what of the machine. */
export interface EmbeddedClientOptions {
  /** GGUF file. */
  readonly modelPath: string;
  /** Name of the model in records. */
  readonly model: string;
  /** Threads of the engine. Leave one core to the rest: the engine's threads spin, and a busy neighbour stalls them. */
  readonly threads: number;
  /** Lets the engine use a GPU where it finds one. Default false. */
  readonly gpu?: boolean;
  /** Tokens that one call may take, prompt and answer. Default: what the model was trained for, 4,096 at most. */
  readonly contextTokens?: number;
  /** Calls decoded at a time; further ones wait. Default 1. */
  readonly sequences?: number;
  readonly clock: Clock;
  /** sha256 of the weight file, for the facts. */
  readonly modelSha256?: string | null;
  /** Quantisation, for the facts. Default: what the file says of itself. */
  readonly quantisation?: string | null;
  /** Name the engine's library is imported by. Default `node-llama-cpp`. */
  readonly engineModule?: string;
}

const aborted: EmbeddedFailure = { status: 'cancelled', kind: 'aborted', message: 'the call was cancelled' };
const closedFailure: EmbeddedFailure = {
  status: 'cancelled',
  kind: 'client_closed',
  message: 'the client was closed',
};

/**
 * A client whose engine is llama.cpp in a child process. Calls are independent of one another: nothing of an earlier prompt
 * is reused. Token times are taken in that process and handed over with the answer; only a call with `onDelta` sends text as
 * it comes. A call opens the client if need be; time limits don't apply, as there is no connection to wait for.
 *
 * Failed calls: `cancelled`; `connect_error` when the engine does not start; `stream_error` (`engine_gone`) when its process
 * ended, after which the next call starts another; `protocol_error` for what it can't be asked (`context_overflow`, `prompt_invalid`,
 * `unsupported`).
 */
export function embeddedClient(options: EmbeddedClientOptions): Client {
  const { clock } = options;
  const inFlight = new Set<(failure: EmbeddedFailure) => void>();
  let engine: StartingEngine | null = null;
  let closed = false;

  const running = async (): Promise<EngineProcess> => {
    const current = engine;
    if (current !== null && (await isGone(current)) && engine === current) engine = null;
    if (closed) throw new PerwattError('ENGINE_FAILED', closedFailure.message);
    engine ??= startEngine(engineOptions(options), clock);
    return engine.ready;
  };

  return {
    async open() {
      closed = false;
      return factsOf(options, await running());
    },
    async call(request, callOptions = {}) {
      const dispatch_ns = clock.now();
      const streamed = request.stream ?? true;
      const fail = (failure: EmbeddedFailure): CallRecord =>
        embeddedRecord({
          dispatch_ns,
          streamed,
          failure,
          answer: null,
          offset_ns: 0n,
          seen: null,
          offers_tools: false,
          end_ns: clock.now(),
        });
      const refused = refusalOf(callOptions, closed);
      if (refused !== null) return fail(refused);
      let process: EngineProcess;
      try {
        process = await running();
      } catch (error) {
        const failed = { status: 'connect_error', kind: 'engine_failed', message: messageOf(error) } as const;
        return fail(closed ? closedFailure : failed);
      }
      if (closed) return fail(closedFailure);
      return callEngine(process, request, { dispatch_ns, clock, inFlight, callOptions });
    },
    async close() {
      closed = true;
      for (const cancel of inFlight) cancel(closedFailure);
      const ending = engine?.kill();
      engine = null;
      await ending;
    },
  };
}

const isGone = ({ ready }: StartingEngine): Promise<boolean> =>
  ready.then(
    (engine) => engine.gone() !== null,
    () => true,
  );

const engineOptions = (options: EmbeddedClientOptions) => ({
  modelPath: options.modelPath,
  threads: options.threads,
  gpu: options.gpu ?? false,
  contextTokens: options.contextTokens ?? null,
  sequences: options.sequences ?? 1,
  engineModule: options.engineModule ?? 'node-llama-cpp',
});

const factsOf = (options: EmbeddedClientOptions, { facts, pid }: EngineProcess): EndpointFacts => ({
  kind: 'embedded',
  endpoint: 'embedded',
  engine: 'llama.cpp',
  engine_version: facts.engine_version,
  model: options.model,
  model_sha256: options.modelSha256 ?? null,
  quantisation: options.quantisation ?? facts.quantisation,
  chat_template_sha256: facts.chat_template_sha256,
  context_tokens: facts.context_tokens,
  threads: facts.threads,
  pids: [pid],
});

/** Why a call isn't begun at all, or null. */
function refusalOf({ signal }: CallOptions, closed: boolean): EmbeddedFailure | null {
  if (signal?.aborted === true) return aborted;
  return closed ? closedFailure : null;
}

interface Calling {
  readonly dispatch_ns: CallRecord['stamps']['dispatch_ns'];
  readonly clock: Clock;
  readonly inFlight: Set<(failure: EmbeddedFailure) => void>;
  readonly callOptions: CallOptions;
}

async function callEngine(
  engine: EngineProcess,
  request: ClientRequest,
  { dispatch_ns, clock, inFlight, callOptions }: Calling,
): Promise<CallRecord> {
  const { signal, onDelta } = callOptions;
  const streamed = request.stream ?? true;
  const told: string[] = [];
  let cut: EmbeddedFailure | null = null;
  let thrown: { readonly by: unknown } | null = null;
  const tell = (text: string) => {
    if (cut !== null) return;
    told.push(text);
    try {
      onDelta?.({ content: text, reasoning: '' });
    } catch (error) {
      thrown = { by: error };
      cancel(aborted);
    }
  };
  const following = streamed && onDelta !== undefined;
  const call = engine.call(request.input, request.sampling, following ? tell : undefined);
  const cancel = (failure: EmbeddedFailure) => {
    cut ??= failure;
    call.cancel();
  };
  const onAbort = () => cancel(aborted);
  inFlight.add(cancel);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const ended = await call.ended;
  signal?.removeEventListener('abort', onAbort);
  inFlight.delete(cancel);
  rethrow(thrown);
  const answer = 'gone' in ended ? null : ended;
  return embeddedRecord({
    dispatch_ns,
    end_ns: clock.now(),
    streamed,
    answer,
    offset_ns: engine.offset_ns,
    offers_tools: offersTools(request.input),
    failure: cut ?? failureOf(ended),
    seen: following && (cut !== null || answer === null) ? told : null,
  });
}

const offersTools = (input: CallInput): boolean => input.kind === 'chat' && (input.tools?.length ?? 0) > 0;

/** What the caller's own `onDelta` threw is the caller's. */
function rethrow(thrown: { readonly by: unknown } | null): void {
  if (thrown !== null) throw thrown.by;
}

function failureOf(ended: EngineAnswer | { readonly gone: string }): EmbeddedFailure | null {
  if ('gone' in ended) return { status: 'stream_error', kind: 'engine_gone', message: ended.gone };
  if (ended.error !== null) {
    const status = ended.error.kind === 'engine_error' ? 'stream_error' : 'protocol_error';
    return { status, ...ended.error };
  }
  return ended.cancelled ? aborted : null;
}
