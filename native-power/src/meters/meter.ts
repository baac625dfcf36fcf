import {
  type Clock,
  messageOf,
  PerwattError,
  type PowerSource,
  type Recorder,
  type Scope,
} from '@perwatt/core';
import {
  checkPeriod,
  type FeedDomain,
  type FeedRecorder,
  type FeedValue,
  feedRecorder,
} from '../feed-recorder.js';
import { backoffMs } from './backoff.js';

/** What every external meter declares of itself, since nothing can be probed. */
export interface MeterOptions {
  /** Name in tables and files. */
  readonly id: string;
  /** What the meter covers; default `wall`. */
  readonly scope?: Scope;
  /** How often the meter renews its value, ms; default 1000. */
  readonly update_ms?: number;
  /** Declared relative error, 0…1; null or left out when nobody declares one. */
  readonly accuracy?: number | null;
  /** Smallest step, W or J; null or left out when unknown. */
  readonly quantum?: number | null;
  /** More than it can ever show, W; default 10,000. */
  readonly max_power_w?: number;
  /** How far the stamps of its values may be off, ms: it widens the bounds at the edges of a window. Default 0. */
  readonly clock_error_ms?: number;
  /** Time between two readings, ms; default 1000. */
  readonly period_ms?: number;
  /** Longest wait for one reading, ms; default 10,000. */
  readonly timeout_ms?: number;
}

/** What meters use of the world. */
export interface MeterWorld {
  readonly clock: Clock;
  /** Wall time, ns since 1970, for meters that stamp their values themselves. */
  readonly wallNs: () => bigint;
}

/** A source whose meter may be out of reach, which only a reading tells. */
export interface MeterSource extends PowerSource {
  /** Takes one reading. Throws `POWER_NO_SOURCE` with the reason when that gives no number. */
  check(signal?: AbortSignal): Promise<void>;
}

/** The one domain of a meter that measures one thing. */
export const meterDomain = (
  options: MeterOptions,
  own: Pick<FeedDomain, 'kind' | 'note'> & Partial<FeedDomain>,
): FeedDomain => ({
  id: `${options.id}:${options.scope ?? 'wall'}`,
  source: options.id,
  scope: options.scope ?? 'wall',
  provenance: 'external',
  in_total: true,
  update_period_ns: ((options.update_ms ?? 1000) + (options.clock_error_ms ?? 0)) * 1e6,
  quantum: options.quantum ?? null,
  scale_error_ratio: options.accuracy ?? null,
  max_power_w: options.max_power_w ?? 10_000,
  ...own,
});

/** Default time between two readings of a meter, ns. */
export const periodNs = (options: MeterOptions): number => (options.period_ms ?? 1000) * 1e6;

export const timeoutMs = (options: MeterOptions): number => options.timeout_ms ?? 10_000;

/** Throws the error of a meter that gives no number. */
export function refuse(id: string, reason: string, cause?: unknown): never {
  throw new PerwattError('POWER_NO_SOURCE', `meter ${id} gives no number: ${reason}`, {
    hint: 'Check that the meter is reachable and that its section of the matrix file names the right value.',
    cause,
  });
}

/** One reading of a meter that is asked each time. Rejects, or says what is missing, when it has no number. */
export type ReadMeter = (signal: AbortSignal) => Promise<readonly FeedValue[]>;

export interface PollOptions {
  readonly options: MeterOptions;
  readonly domains: readonly FeedDomain[];
  readonly read: ReadMeter;
  readonly clock: Clock;
}

/** A meter that is asked once a period, on absolute deadlines; one that fails is asked less and less often, at least twice a minute. */
export function polledMeter({ options, domains, read, clock }: PollOptions): MeterSource {
  const default_period_ns = periodNs(options);
  const within = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs(options))]);
  return {
    name: options.id,
    provenance: 'external',
    default_period_ns,
    start({ period_ns = default_period_ns } = {}): Recorder {
      return poll({ source: options.id, domains, period_ns, clock, read: (signal) => read(within(signal)) });
    },
    async check(signal = new AbortController().signal) {
      let values: readonly FeedValue[];
      try {
        values = await read(within(signal));
      } catch (error) {
        refuse(options.id, messageOf(error), error);
      }
      for (const value of values) if ('missing' in value) refuse(options.id, value.missing);
    },
  };
}

interface Poll {
  readonly source: string;
  readonly domains: readonly FeedDomain[];
  readonly period_ns: number;
  readonly clock: Clock;
  readonly read: ReadMeter;
}

function poll({ source, domains, period_ns, clock, read }: Poll): FeedRecorder {
  checkPeriod(period_ns);
  const ending = new AbortController();
  const period = BigInt(Math.round(period_ns));
  let due = clock.now();
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  const recorder = feedRecorder({
    source,
    domains,
    period_ns,
    clock,
    onMark: () => void step(),
    onStop() {
      clearTimeout(timer);
      ending.abort();
    },
  });
  const step = async () => {
    if (busy) return;
    busy = true;
    const before = clock.now();
    const values = await attempt(domains, () => read(ending.signal));
    recorder.push({ before, after: clock.now(), values });
    failures = values.some((value) => 'missing' in value) ? failures + 1 : 0;
    busy = false;
  };
  const schedule = () => {
    if (ending.signal.aborted) return;
    const wait_ns = Math.max(backoffMs(failures, period_ns / 1e6) * 1e6, period_ns);
    const steps = BigInt(Math.ceil(wait_ns / period_ns));
    due = (due + period * steps) as typeof due;
    const late = clock.now() - due;
    if (late > 0n) {
      const missed = late / period + 1n;
      recorder.missDeadlines(Number(missed));
      due = (due + period * missed) as typeof due;
    }
    timer = setTimeout(run, Number(due - clock.now()) / 1e6);
    timer.unref();
  };
  const run = () => void step().then(schedule);
  run();
  return recorder;
}

async function attempt(
  domains: readonly FeedDomain[],
  read: () => Promise<readonly FeedValue[]>,
): Promise<readonly FeedValue[]> {
  try {
    return await read();
  } catch (error) {
    const missing = messageOf(error);
    return domains.map(() => ({ missing }));
  }
}
