import {
  type Clock,
  type Domain,
  type Instant,
  PerwattError,
  type Recorder,
  type RecorderStatus,
} from '@perwatt/core';
import { buildFix, type Loaded, loaded } from './binding.js';

/** A domain whose numbers are pushed. */
export interface FeedDomain extends Domain {
  readonly kind: 'counter' | 'gauge';
  /** More than it can draw, W: a number beyond it is not believed, and it bounds what a gap may hide. */
  readonly max_power_w: number;
}

/** One number of one domain: a count of energy (µJ), a power (W), or why there is none. */
export type FeedValue =
  | { readonly energy_uj: bigint }
  | { readonly power_w: number }
  | { readonly missing: string };

/** One reading of every domain, taken between two stamps of the run's clock; the middle counts. */
export interface FeedReading {
  readonly before: Instant;
  readonly after: Instant;
  /** In the order of the recorder's domains. One that is left out is missing. */
  readonly values: readonly FeedValue[];
}

/** A recorder that others read for: numbers are booked by the same core as those of its own sampler. */
export interface FeedRecorder extends Recorder {
  /** Books one reading. After the stop it is ignored. */
  push(reading: FeedReading): void;
  /** Ends the recording by itself, with the reason. */
  fail(reason: string): void;
  /** Readings that came too late for their deadline. */
  missDeadlines(count: number): void;
}

export interface FeedOptions {
  readonly source: string;
  readonly domains: readonly FeedDomain[];
  /** Time between two readings, ns. */
  readonly period_ns: number;
  readonly clock: Clock;
  /** Asks for a reading out of schedule. */
  readonly onMark?: () => void;
  /** Ends whoever pushes. Called once, before the series is closed. */
  readonly onStop?: () => void;
}

const shortest_ns = 100_000;
const longest_ns = 3_600_000_000_000;

/** A recorder whose readings are pushed. Throws `POWER_NO_SOURCE` without the addon and `INPUT_INVALID` for a period out of range. */
export function feedRecorder(options: FeedOptions, { binding, problem }: Loaded = loaded): FeedRecorder {
  const { source, domains, period_ns, clock, onMark, onStop } = options;
  checkPeriod(period_ns);
  if (binding === null) {
    throw new PerwattError('POWER_NO_SOURCE', problem, { hint: `Build it with \`${buildFix}\`.` });
  }
  const feed = new binding.Feed(
    domains.map(({ kind, update_period_ns, max_power_w }) => ({ kind, update_period_ns, max_power_w })),
    period_ns,
  );
  let status: RecorderStatus = {
    state: 'running',
    reason: null,
    reads: 0,
    missed_deadlines: 0,
    read_ns: 0,
    missing_reason: null,
  };
  const end = (ended: Pick<RecorderStatus, 'state' | 'reason'>) => {
    if (status.state !== 'running') return;
    onStop?.();
    status = { ...status, ...ended };
    feed.close();
  };
  return {
    source,
    domains: domains.map(({ max_power_w: _, ...domain }) => domain),
    raw_units: domains.map(({ kind }) => (kind === 'counter' ? 'uJ' : 'uW')),
    period_ns,
    push({ before, after, values }) {
      if (status.state !== 'running') return;
      let missing_reason: string | null = null;
      for (const d of domains.keys()) {
        const value = values[d] ?? { missing: 'no number' };
        if ('energy_uj' in value) feed.pushEnergy(d, before, after, value.energy_uj);
        else if ('power_w' in value) feed.pushPower(d, before, after, value.power_w);
        else {
          feed.pushMissing(d, before, after);
          missing_reason = value.missing;
        }
      }
      const { reads, read_ns } = status;
      status = {
        ...status,
        reads: reads + 1,
        read_ns: read_ns + Math.max(Number(after - before), 0),
        missing_reason,
      };
    },
    fail: (reason) => end({ state: 'failed', reason }),
    missDeadlines(count) {
      status = { ...status, missed_deadlines: status.missed_deadlines + count };
    },
    drain: () => feed.drain(),
    mark() {
      const at = clock.now();
      if (status.state === 'running') onMark?.();
      return at;
    },
    status: () => ({ ...status, dropped: feed.dropped }),
    stop: () => end({ state: 'stopped', reason: null }),
  };
}

/** Throws `INPUT_INVALID` for a time between two readings that no source takes. */
export function checkPeriod(period_ns: number): void {
  if (period_ns >= shortest_ns && period_ns <= longest_ns) return;
  throw new PerwattError(
    'INPUT_INVALID',
    `period of ${period_ns} ns is outside ${shortest_ns} ns (0.1 ms) to ${longest_ns} ns (1 h)`,
  );
}
