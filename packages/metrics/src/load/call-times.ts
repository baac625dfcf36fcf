/** What the times of one call are made of: stamps in ns on one clock, of any zero. Null where the event did not happen. */
export interface CallStampsOf {
  /** Due time; null in a closed loop. */
  readonly sched_ns: number | null;
  readonly dispatch_ns: number;
  readonly first_any_ns: number | null;
  readonly first_content_ns: number | null;
  readonly last_content_ns: number | null;
  readonly end_ns: number;
  /** Whether the call was answered as a stream: it had an event. */
  readonly streamed: boolean;
  /** Whether it ended well. A call that did not has no latency. */
  readonly ok: boolean;
  /** Output tokens; null when nobody counted. */
  readonly tokens: number | null;
}

/** The times of one call, ns; null where a call cannot answer, never 0. */
export interface CallTimes {
  /** From dispatch to the first non-empty delta of any kind. */
  readonly ttft_any: number | null;
  /** From dispatch to the first answer text. */
  readonly ttft_content: number | null;
  /** (last − first delta) / (tokens − 1). */
  readonly tpot: number | null;
  /** From dispatch to the last delta, or to the end where it was not streamed. */
  readonly e2e_from_dispatch: number | null;
  /** The same from the due time: what a user waits, queueing in the client included. */
  readonly e2e_from_schedule: number | null;
  /** From the due time to dispatch; failed calls have it too. */
  readonly lag: number | null;
}

export const callTimeNames = [
  'ttft_any',
  'ttft_content',
  'tpot',
  'e2e_from_dispatch',
  'e2e_from_schedule',
  'lag',
] as const satisfies readonly (keyof CallTimes)[];
/** One of `callTimeNames`. */
export type CallTimeName = (typeof callTimeNames)[number];

const minus = (to: number | null, from: number | null) => (to === null || from === null ? null : to - from);

/** The times of one call by the definitions of the metric specification. */
export function callTimes(call: CallStampsOf): CallTimes {
  const { sched_ns, dispatch_ns, first_any_ns, first_content_ns } = call;
  const lag = minus(dispatch_ns, sched_ns);
  if (!call.ok)
    return {
      ttft_any: null,
      ttft_content: null,
      tpot: null,
      e2e_from_dispatch: null,
      e2e_from_schedule: null,
      lag,
    };
  const last = call.streamed ? call.last_content_ns : call.end_ns;
  return {
    ttft_any: minus(first_any_ns, dispatch_ns),
    ttft_content: minus(first_content_ns, dispatch_ns),
    tpot: timePerToken(call),
    e2e_from_dispatch: minus(last, dispatch_ns),
    e2e_from_schedule: minus(last, sched_ns),
    lag,
  };
}

function timePerToken({ first_any_ns, last_content_ns, tokens }: CallStampsOf): number | null {
  const span = minus(last_content_ns, first_any_ns);
  return span === null || tokens === null || tokens < 2 ? null : span / (tokens - 1);
}
