import type {
  CallInput,
  CallRecord,
  CallStamps,
  Client,
  ClientRequest,
  EndpointFacts,
  Instant,
  SimulatedDataset,
  SimulatedModel,
} from '@perwatt/core';
import type { Device } from './device.js';
import { chanceOf, type DeviceLaw, lognormal, normal, outputTokens } from './laws.js';
import { askedFor, type ItemLaw, type SimulatedItems } from './simulated-items.js';
import type { VirtualTime } from './virtual-time.js';

export interface SimulatedClientOptions {
  readonly time: VirtualTime;
  readonly device: Device;
  readonly law: DeviceLaw;
  readonly model: SimulatedModel;
  readonly facts: EndpointFacts;
  /** Data sets by the name that prompts ask for them by. */
  readonly items: ReadonlyMap<string, SimulatedItems>;
  readonly gap_ns: number;
  readonly noise: { readonly run_power_cv: number; readonly run_pace_cv: number };
  readonly random: () => number;
}

interface Question {
  readonly key: string;
  readonly index: number;
  readonly item: ItemLaw;
  readonly law: SimulatedDataset;
}

/**
 * A client whose calls end when a simulated device says so. A run of queries begins when another data set is asked for, or its
 * questions start over: then the device's power and pace are drawn anew. Calls differ by chance in whether they are right.
 */
export function simulatedClient(options: SimulatedClientOptions): Client {
  const { time, device, law, facts, items, gap_ns, noise, random } = options;
  const now = () => time.clock.now();
  let last: Pick<Question, 'key' | 'index'> | null = null;
  const beginRun = ({ key, index }: Question) => {
    if (last === null || last.key !== key || index < last.index) {
      const draw = (cv: number) => lognormal(cv, normal(random));
      device.beginRun({ power: draw(noise.run_power_cv), pace: draw(noise.run_pace_cv) });
    }
    last = { key, index };
  };
  return {
    async open() {
      device.load(law);
      return facts;
    },
    async call(request, { signal } = {}) {
      if (gap_ns > 0) await new Promise<void>((resolve) => time.afterNs(gap_ns, resolve));
      const question = questionOf(request.input, items);
      const dispatch_ns = now();
      if (question === null) return refused(dispatch_ns);
      beginRun(question);
      const work = workOf(question, request, options);
      const first_ns = await computed(device, work, now);
      const status = signal?.aborted === true ? 'cancelled' : 'ok';
      return record({ ...work, status, dispatch_ns, first_ns, end_ns: now() });
    },
    async close() {
      device.load(null);
    },
  };
}

function questionOf(input: CallInput, items: SimulatedClientOptions['items']): Question | null {
  const text = input.kind === 'chat' ? (input.messages.at(-1)?.content ?? '') : input.prompt;
  const asked = askedFor(text);
  const set = asked === null ? undefined : items.get(asked.key);
  const item = asked === null ? undefined : set?.items[asked.index];
  if (asked === null || set === undefined || item === undefined) return null;
  return { ...asked, item, law: set.law };
}

interface Work {
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  readonly truncated: boolean;
  readonly text: string;
}

function workOf(
  { item, law }: Question,
  { sampling }: ClientRequest,
  { model, random }: SimulatedClientOptions,
): Work {
  const wanted = outputTokens(law, model, item.output_z);
  const right = random() < chanceOf(model.skill, item.difficulty, law.guess_rate);
  const answer = right ? item.gold : item.gold + 1 + Math.floor(random() * 500);
  const truncated = wanted > sampling.max_tokens;
  return {
    prompt_tokens: item.prompt_tokens,
    output_tokens: Math.min(wanted, sampling.max_tokens),
    truncated,
    text: truncated ? 'Let us see' : `The answer is ${answer}`,
  };
}

/** Resolves when the job has ended, with the time of its first token. */
function computed(
  device: Device,
  { prompt_tokens, output_tokens }: Work,
  now: () => Instant,
): Promise<Instant> {
  return new Promise((resolve) => {
    let first = now();
    device.submit({
      prompt_tokens,
      output_tokens,
      onFirst: () => {
        first = now();
      },
      onEnd: () => resolve(first),
    });
  });
}

interface Done extends Work {
  readonly status: 'ok' | 'cancelled';
  readonly dispatch_ns: Instant;
  readonly first_ns: Instant;
  readonly end_ns: Instant;
}

function record({ status, dispatch_ns, first_ns, end_ns, ...work }: Done): CallRecord {
  const { text, truncated, prompt_tokens, output_tokens: completion_tokens } = work;
  return {
    status,
    content: text,
    reasoning: '',
    tool_calls: [],
    finish_reason: truncated ? 'length' : 'stop',
    usage: { prompt_tokens, completion_tokens },
    done: true,
    events: completion_tokens,
    content_events: completion_tokens,
    n_tokens: completion_tokens,
    token_source: 'server_usage',
    http_status: null,
    error_kind: null,
    error_message: null,
    reads: 0,
    bytes_in: 0,
    bytes_out: 0,
    conn_reused: null,
    stamps: stampsOf(dispatch_ns, first_ns, end_ns),
    icl_ns: [],
  };
}

const stampsOf = (dispatch_ns: Instant, first_ns: Instant | null, end_ns: Instant): CallStamps => ({
  dispatch_ns,
  socket_ns: null,
  sent_ns: dispatch_ns,
  headers_ns: null,
  first_event_ns: first_ns,
  first_any_ns: first_ns,
  first_content_ns: first_ns,
  last_content_ns: first_ns === null ? null : end_ns,
  done_ns: first_ns === null ? null : end_ns,
  end_ns,
});

/** A prompt that is no question of the simulation: nobody knows how hard it is. */
const refused = (at: Instant): CallRecord => ({
  status: 'protocol_error',
  content: '',
  reasoning: '',
  tool_calls: [],
  finish_reason: null,
  usage: null,
  done: false,
  events: 0,
  content_events: 0,
  n_tokens: null,
  token_source: null,
  http_status: null,
  error_kind: 'not_simulated',
  error_message: 'the prompt holds no question of a simulated data set',
  reads: 0,
  bytes_in: 0,
  bytes_out: 0,
  conn_reused: null,
  stamps: stampsOf(at, null, at),
  icl_ns: [],
});
