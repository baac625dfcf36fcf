import {
  type Clock,
  type Domain,
  PerwattError,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
  type SampleColumns,
} from '@perwatt/core';
import { checkPeriod } from './feed-recorder.js';

/** What one recording kept. */
export interface RecordedSamples {
  /** As they were recorded. Those of the total are of one provenance. */
  readonly domains: readonly Domain[];
  /** Vendor's unit of `raw`, by domain. */
  readonly raw_units: readonly string[];
  /** Samples in the order of their stamps, on whatever clock they were taken by. */
  readonly columns: SampleColumns;
  /** Time between two of its readings, ns. */
  readonly period_ns: number;
  /** What its recorder flagged. Default nothing. */
  readonly flags?: readonly string[];
}

export interface ReplayedOptions {
  /** Name of the source, which also stands before the ids of its domains. Default `replayed`. */
  readonly name?: string;
  readonly clock: Clock;
}

/**
 * A source that plays recorded samples back at the pace they were taken, from its start on. What was booked is handed over
 * as it is; nothing is read, interpolated or booked again, so that a mark adds no sample. When the recording is over the
 * recorder has failed, with that reason, and tells no more energy.
 *
 * Every domain has provenance `replayed`, and its note says what it was recorded as. Throws `INPUT_INVALID` for a recording
 * without samples, or whose total holds several provenances.
 */
export function replayedSource(recorded: RecordedSamples, options: ReplayedOptions): PowerSource {
  const { name = 'replayed', clock } = options;
  const tiers = new Set(
    recorded.domains.filter(({ in_total }) => in_total).map(({ provenance }) => provenance),
  );
  if (recorded.columns.at_ns.length === 0)
    throw new PerwattError('INPUT_INVALID', `the recording of ${name} holds no samples`);
  if (tiers.size > 1) {
    throw new PerwattError('INPUT_INVALID', `${[...tiers].join(' and ')} energy of ${name} are not summed`, {
      hint: 'Leave the domains of one provenance in the total.',
    });
  }
  return {
    name,
    provenance: 'replayed',
    default_period_ns: recorded.period_ns,
    start({ period_ns = recorded.period_ns } = {}) {
      checkPeriod(period_ns);
      return play(recorded, { name, clock, period_ns: Math.max(period_ns, recorded.period_ns) });
    },
  };
}

function replayedDomain(domain: Domain, name: string): Domain {
  const { id, kind, provenance, note } = domain;
  return {
    ...domain,
    id: `${name}:${id}`,
    source: name,
    kind: kind === 'estimate' ? 'gauge' : kind,
    provenance: 'replayed',
    note: `replayed; recorded as ${provenance}${note === null ? '' : `: ${note}`}`,
  };
}

/** Flags that name a domain, by the name it goes by now. */
const replayedFlag = (flag: string, name: string, domains: readonly Domain[]): string => {
  const at = flag.indexOf(':');
  const named = at >= 0 && domains.some(({ id }) => id === flag.slice(at + 1));
  return named ? `${flag.slice(0, at)}:${name}:${flag.slice(at + 1)}` : flag;
};

interface Playing {
  readonly name: string;
  readonly clock: Clock;
  readonly period_ns: number;
}

function play(recorded: RecordedSamples, { name, clock, period_ns }: Playing): Recorder {
  const { domains, raw_units, columns, flags = [] } = recorded;
  const { at_ns } = columns;
  const offset = clock.now() - (at_ns[0] ?? 0n);
  let handed = 0;
  let due = 0;
  let reads = 0;
  let ended: Pick<RecorderStatus, 'state' | 'reason'> | null = null;
  const catchUp = () => {
    const now = clock.now() - offset;
    for (let at = at_ns[due]; ended === null && at !== undefined && at <= now; at = at_ns[due]) {
      if (due === 0 || at !== at_ns[due - 1]) reads += 1;
      due += 1;
    }
    if (now > (at_ns.at(-1) ?? 0n)) ended ??= { state: 'failed', reason: 'the recording is over' };
  };
  return {
    source: name,
    domains: domains.map((domain) => replayedDomain(domain, name)),
    raw_units,
    period_ns,
    drain() {
      catchUp();
      const part = slice(columns, { from: handed, to: due, offset });
      handed = due;
      return part;
    },
    mark() {
      catchUp();
      return clock.now();
    },
    status() {
      catchUp();
      const { state, reason } = ended ?? { state: 'running', reason: null };
      const own = flags.map((flag) => replayedFlag(flag, name, domains));
      return { state, reason, reads, missed_deadlines: 0, read_ns: 0, flags: own };
    },
    stop() {
      catchUp();
      ended ??= { state: 'stopped', reason: null };
    },
  };
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly offset: bigint;
}

function slice(columns: SampleColumns, { from, to, offset }: Span): SampleColumns {
  return {
    at_ns: columns.at_ns.slice(from, to).map((at) => at + offset),
    read_ns: columns.read_ns.slice(from, to),
    domain: columns.domain.slice(from, to),
    raw: columns.raw.slice(from, to),
    raw_valid: columns.raw_valid.slice(from, to),
    event: columns.event.slice(from, to),
    booked_energy_j: columns.booked_energy_j.slice(from, to),
    booked_lo_j: columns.booked_lo_j.slice(from, to),
    booked_hi_j: columns.booked_hi_j.slice(from, to),
    power_w: columns.power_w.slice(from, to),
    power_valid: columns.power_valid.slice(from, to),
  };
}
