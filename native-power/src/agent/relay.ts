import { blindEvents, type SampleColumns, sampleEvents } from '@perwatt/core';

/** A span in which an agent could not be heard. */
export interface AgentGap {
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly length_ns: number;
}

export interface RelayDomain {
  /** More than it can draw, W: bounds what a gap may hide. */
  readonly max_power_w: number;
}

/** Puts the sessions of a remote recorder one after the other, on our clock. */
export interface Relay {
  /** Begins a session: what the remote recorder books counts from nothing again. `places` gives our index of each of its domains; −1 for one that we don't know. */
  begin(places: readonly number[]): void;
  /** Samples of the session, their stamps moved by `offset_ns`. */
  take(columns: SampleColumns, offset_ns: bigint): void;
  drain(): SampleColumns;
  /** The longest gap of each session change that any domain saw. */
  gaps(): readonly AgentGap[];
}

interface Booked {
  readonly energy: number;
  readonly lo: number;
  readonly hi: number;
}

interface State {
  /** What earlier sessions booked. */
  base: Booked;
  /** What is booked up to the last sample. */
  booked: Booked;
  /** Last stamp, and the last one with a number. */
  last_ns: bigint | null;
  known_ns: bigint | null;
  fresh: boolean;
}

interface Sample {
  readonly at_ns: bigint;
  readonly read_ns: number;
  readonly domain: number;
  readonly raw: bigint;
  readonly raw_valid: number;
  readonly event: number;
  readonly booked: Booked;
  readonly power_w: number;
  readonly power_valid: number;
}

const gap = sampleEvents.indexOf('gap');
const clock = sampleEvents.indexOf('clock');
/** Indices of the events that tell nothing of the energy up to them. */
const blindIndices: ReadonlySet<number> = new Set([...blindEvents].map((name) => sampleEvents.indexOf(name)));
const nothing: Booked = { energy: 0, lo: 0, hi: 0 };
const mostWaiting = 1 << 18;

/**
 * A relay for domains in a fixed order. Between two sessions nothing is booked: the first sample of the later one is a
 * `gap`, up to which the upper bound grows by all that the domain could have drawn.
 */
export function relay(domains: readonly RelayDomain[]): Relay {
  const states = domains.map(
    (): State => ({ base: nothing, booked: nothing, last_ns: null, known_ns: null, fresh: true }),
  );
  let places: readonly number[] = [];
  let waiting: Sample[] = [];
  const gaps: AgentGap[] = [];
  let sessionGap: AgentGap | null = null;
  const noteGap = (start_ns: bigint, end_ns: bigint) => {
    const length_ns = Number(end_ns - start_ns);
    if (sessionGap !== null && sessionGap.length_ns >= length_ns) return;
    if (sessionGap !== null) gaps.pop();
    sessionGap = { start_ns, end_ns, length_ns };
    gaps.push(sessionGap);
  };
  /** Widens the base by what the time since the last number may hide, when a session has just begun. */
  const crossGap = (state: State, at_ns: bigint, max_power_w: number): boolean => {
    if (!state.fresh || state.known_ns === null) return false;
    noteGap(state.known_ns, at_ns);
    const hidden = (max_power_w * Number(at_ns - state.known_ns)) / 1e9;
    state.base = { ...state.base, hi: state.base.hi + hidden };
    return true;
  };
  const takeOne = (sample: Sample, d: number) => {
    const [state, domain] = [states[d], domains[d]];
    if (state === undefined || domain === undefined) return;
    const { at_ns } = sample;
    if (state.last_ns !== null && at_ns <= state.last_ns) {
      waiting.push({ ...sample, domain: d, event: clock, booked: state.booked });
      return;
    }
    const blind = blindIndices.has(sample.event);
    const crossed = !blind && crossGap(state, at_ns, domain.max_power_w);
    state.booked = grown(state, sample.booked);
    waiting.push({ ...sample, domain: d, event: crossed ? gap : sample.event, booked: state.booked });
    state.last_ns = at_ns;
    if (blind) return;
    state.fresh = false;
    state.known_ns = at_ns;
  };
  return {
    begin(ours) {
      places = ours;
      sessionGap = null;
      for (const state of states) {
        state.base = state.booked;
        state.fresh = true;
      }
    },
    take(columns, offset_ns) {
      for (const [i, theirs] of columns.domain.entries()) {
        takeOne(sampleAt(columns, i, offset_ns), places[theirs] ?? -1);
      }
      if (waiting.length > mostWaiting) waiting = waiting.slice(-mostWaiting);
    },
    drain() {
      const taken = waiting;
      waiting = [];
      return columnsOf(taken);
    },
    gaps: () => gaps,
  };
}

/** What a session adds to the base; a remote sum that falls is not followed. */
const grown = ({ base, booked }: State, session: Booked): Booked => ({
  energy: Math.max(base.energy + session.energy, booked.energy),
  lo: Math.max(base.lo + session.lo, booked.lo),
  hi: Math.max(base.hi + session.hi, booked.hi),
});

function sampleAt(columns: SampleColumns, i: number, offset_ns: bigint): Sample {
  return {
    at_ns: BigInt.asIntN(64, (columns.at_ns[i] ?? 0n) + offset_ns),
    read_ns: columns.read_ns[i] ?? 0,
    domain: columns.domain[i] ?? 0,
    raw: columns.raw[i] ?? 0n,
    raw_valid: columns.raw_valid[i] ?? 0,
    event: columns.event[i] ?? 0,
    booked: {
      energy: columns.booked_energy_j[i] ?? 0,
      lo: columns.booked_lo_j[i] ?? 0,
      hi: columns.booked_hi_j[i] ?? 0,
    },
    power_w: columns.power_w[i] ?? 0,
    power_valid: columns.power_valid[i] ?? 0,
  };
}

const columnsOf = (samples: readonly Sample[]): SampleColumns => ({
  at_ns: BigInt64Array.from(samples, (s) => s.at_ns),
  read_ns: Float64Array.from(samples, (s) => s.read_ns),
  domain: Uint16Array.from(samples, (s) => s.domain),
  raw: BigInt64Array.from(samples, (s) => s.raw),
  raw_valid: Uint8Array.from(samples, (s) => s.raw_valid),
  event: Uint8Array.from(samples, (s) => s.event),
  booked_energy_j: Float64Array.from(samples, (s) => s.booked.energy),
  booked_lo_j: Float64Array.from(samples, (s) => s.booked.lo),
  booked_hi_j: Float64Array.from(samples, (s) => s.booked.hi),
  power_w: Float64Array.from(samples, (s) => s.power_w),
  power_valid: Uint8Array.from(samples, (s) => s.power_valid),
});
