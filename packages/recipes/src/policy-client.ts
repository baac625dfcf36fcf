import { createHash } from 'node:crypto';
import {
  type CallInput,
  type CallOptions,
  type CallRecord,
  type CallStamps,
  type Client,
  type ClientRequest,
  type Clock,
  type EndpointFacts,
  PerwattError,
  seedFrom,
} from '@perwatt/core';
import { parseCheckpoint, restoreTrainer } from './checkpoint.js';
import type { PolicyAnswer, PolicyPiece, PolicyService, PolicyWriting, Trainer } from './recipe.js';
import { recipeById } from './recipes.js';

/** How a trained policy is named as an endpoint: `recipe:<id>@<checkpoint>`. */
const pattern = /^recipe:([a-z_]+)@(.+)$/;

/** The parts of a policy's endpoint; null for an address of another kind. */
export function policyAddress(text: string): { readonly recipe: string; readonly checkpoint: string } | null {
  const [, recipe, checkpoint] = pattern.exec(text) ?? [];
  return recipe === undefined || checkpoint === undefined ? null : { recipe, checkpoint };
}

/** A policy to ask. */
export interface PolicyEndpoint {
  /** As `recipe:<id>@<checkpoint>`. */
  readonly address: string;
  /** Text of the checkpoint's file. */
  readonly text: string;
  readonly clock: Clock;
}

/** Identity of a policy: the digest of its checkpoint. */
export const policySha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Policy {
  readonly trainer: Trainer;
  readonly serve: PolicyService;
  readonly version: number;
}

/** The policy of a checkpoint. Throws as `restoreTrainer`, and `INPUT_INVALID` for a recipe whose policy answers nothing. */
function policyOf({ address, text }: PolicyEndpoint): Policy {
  const parts = policyAddress(address);
  if (parts === null) throw new PerwattError('INPUT_INVALID', `"${address}" is no recipe:<id>@<checkpoint>`);
  const recipe = recipeById(parts.recipe);
  const trainer = restoreTrainer(recipe, parseCheckpoint(text, parts.checkpoint));
  const { serve, version } = recipe;
  if (serve === undefined)
    throw new PerwattError('INPUT_INVALID', `the policy of recipe ${recipe.id} answers no prompts`, {
      hint: 'Its model is a router: name its file in the strategy `route_learned`.',
    });
  return { trainer, serve, version };
}

const promptOf = (input: CallInput): string =>
  input.kind === 'completion'
    ? input.prompt
    : (input.messages.findLast(({ role }) => role === 'user')?.content ?? '');

/**
 * A client whose answers are a trained policy's. The policy draws as it was trained, by the seed of the call; a call without one
 * takes the next of its own. What is no item of the recipe is a failed call. A policy that writes token by token is read as it
 * writes, up to the tokens that may be spent; of another one an answer that takes more of them is not given.
 */
export function policyClient(endpoint: PolicyEndpoint): Client {
  let policy: Policy | null = null;
  let calls = 0;
  const facts = (version: number): EndpointFacts => ({
    kind: 'embedded',
    endpoint: endpoint.address,
    engine: 'perwatt-recipe',
    engine_version: String(version),
    model: endpoint.address,
    model_sha256: policySha256(endpoint.text),
    quantisation: null,
    chat_template_sha256: null,
    context_tokens: null,
    threads: 1,
    pids: [],
  });
  return {
    async open() {
      policy ??= policyOf(endpoint);
      return facts(policy.version);
    },
    async call(request, options = {}) {
      policy ??= policyOf(endpoint);
      calls += 1;
      const { trainer, serve } = policy;
      const { now } = endpoint.clock;
      const dispatch_ns = now();
      if (options.signal?.aborted === true)
        return failed(dispatch_ns, { status: 'cancelled', text: 'the call was cancelled' });
      const prompt = promptOf(request.input);
      const seed = seedFrom(request.sampling.seed ?? calls, prompt);
      const answering = { request, options, dispatch_ns, now };
      const writing = serve.write?.(trainer, prompt, seed) ?? null;
      if (writing !== null) return written(writing, answering);
      const answer = serve.answer(trainer, prompt, seed);
      if (answer === null)
        return failed(now(), { status: 'protocol_error', text: 'the prompt is no item of the recipe' });
      return answered(answer, answering);
    },
    async close() {},
  };
}

type Now = Clock['now'];

const noStamps = { socket_ns: null, sent_ns: null, headers_ns: null, done_ns: null } as const;

const noTransport = {
  reasoning: '',
  tool_calls: [],
  http_status: null,
  reads: 0,
  bytes_in: 0,
  bytes_out: 0,
  conn_reused: null,
} as const;

function failed(
  at: CallStamps['dispatch_ns'],
  { status, text }: { readonly status: 'cancelled' | 'protocol_error'; readonly text: string },
): CallRecord {
  return {
    ...noTransport,
    status,
    content: '',
    finish_reason: null,
    usage: null,
    done: false,
    events: 0,
    content_events: 0,
    n_tokens: null,
    token_source: null,
    error_kind: status,
    error_message: text,
    stamps: {
      ...noStamps,
      dispatch_ns: at,
      first_event_ns: null,
      first_any_ns: null,
      first_content_ns: null,
      last_content_ns: null,
      end_ns: at,
    },
    icl_ns: [],
  };
}

interface Answering {
  readonly request: ClientRequest;
  readonly options: CallOptions;
  readonly dispatch_ns: CallStamps['dispatch_ns'];
  readonly now: Now;
}

function answered(answer: PolicyAnswer, { request, options, dispatch_ns, now }: Answering): CallRecord {
  const { max_tokens } = request.sampling;
  const whole = answer.completion_tokens <= max_tokens;
  const content = whole ? answer.text : '';
  const tokens = whole ? answer.completion_tokens : max_tokens;
  if (content !== '') options.onDelta?.({ content, reasoning: '' });
  const at = now();
  const told = request.stream === false || content === '' ? null : at;
  return {
    ...noTransport,
    status: 'ok',
    content,
    finish_reason: whole ? 'stop' : 'length',
    usage: { prompt_tokens: answer.prompt_tokens, completion_tokens: tokens },
    done: true,
    events: 1,
    content_events: content === '' ? 0 : 1,
    n_tokens: tokens,
    token_source: 'server_usage',
    error_kind: null,
    error_message: null,
    stamps: {
      ...noStamps,
      dispatch_ns,
      first_event_ns: at,
      first_any_ns: told,
      first_content_ns: told,
      last_content_ns: told,
      end_ns: now(),
    },
    icl_ns: [],
  };
}

/** A piece with when it was read. */
interface ReadPiece extends PolicyPiece {
  readonly at: CallStamps['dispatch_ns'];
}

/** Reads what a policy writes until it ends or has spent its tokens. */
function readPieces(
  pieces: Iterable<PolicyPiece>,
  { request, now }: Answering,
  tell: (piece: PolicyPiece) => void,
): readonly ReadPiece[] {
  const read: ReadPiece[] = [];
  const reader = pieces[Symbol.iterator]();
  while (read.length < request.sampling.max_tokens && read.at(-1)?.ends !== true) {
    const next = reader.next();
    if (next.done === true) break;
    read.push({ at: now(), ...next.value });
    tell(next.value);
  }
  return read;
}

/** Passes on what a policy writes, with a stamp a token. */
function written({ prompt_tokens, pieces }: PolicyWriting, answering: Answering): CallRecord {
  const { request, options, dispatch_ns, now } = answering;
  const streams = request.stream !== false;
  const tell = (content: string) => {
    if (content !== '') options.onDelta?.({ content, reasoning: '' });
  };
  const read = readPieces(pieces, answering, ({ text }) => tell(streams ? text : ''));
  const content = read.map(({ text }) => text).join('');
  if (!streams) tell(content);
  const told = read.filter(({ text }) => streams && text !== '').map(({ at }) => at);
  const at = now();
  const [first = null, last = null] = [told[0], told.at(-1)];
  return {
    ...noTransport,
    status: 'ok',
    content,
    finish_reason: read.at(-1)?.ends === true ? 'stop' : 'length',
    usage: { prompt_tokens, completion_tokens: read.length },
    done: true,
    events: streams ? read.length : 1,
    content_events: streams ? told.length : Math.min(1, content.length),
    n_tokens: read.length,
    token_source: 'server_usage',
    error_kind: null,
    error_message: null,
    stamps: {
      ...noStamps,
      dispatch_ns,
      first_event_ns: streams ? (read[0]?.at ?? null) : at,
      first_any_ns: first,
      first_content_ns: first,
      last_content_ns: last,
      end_ns: at,
    },
    icl_ns: told.slice(1).map((own, i) => Number(own - (told[i] ?? own))),
  };
}
