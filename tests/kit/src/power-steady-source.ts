import {
  type Clock,
  type Domain,
  type Instant,
  instant,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
} from '@perwatt/core';
import { checkPeriod, type ScriptedSample, sampleColumns } from './power-scripted-source.js';

/** How a steady source draws its power. */
export interface SteadySourceOptions {
  readonly name?: string;
  readonly domains: readonly Domain[];
  /** Time between two samples when the recorder is not asked for another, ns; default 100 ms. */
  readonly period_ns?: number;
  /** Time of every sample; move it to let time pass. */
  readonly clock: Clock;
  /** Power of a domain at a time since the start, W. */
  readonly watts: (domain: number, elapsed_ns: number) => number;
  /** Bounds of the booked energy as factors of it: an estimator's band. */
  readonly band?: readonly [lo: number, hi: number];
}

/** A power source whose energy follows a clock: a sample every period that has passed, taken when it is drained or marked. */
export function steadyPowerSource(options: SteadySourceOptions): PowerSource {
  const { name = 'steady', domains, period_ns: default_period_ns = 100_000_000 } = options;
  const [first] = domains;
  if (first === undefined) throw new Error('a steady source needs a domain');
  return {
    name,
    provenance: first.provenance,
    default_period_ns,
    start: ({ period_ns = default_period_ns } = {}) => record(options, period_ns),
  };
}

function record(options: SteadySourceOptions, period_ns: number): Recorder {
  checkPeriod(period_ns);
  const { clock, domains, watts, band = [1, 1] } = options;
  const origin = clock.now();
  const booked = domains.map(() => 0);
  const counted = domains.some(({ kind }) => kind === 'counter');
  let last = origin;
  let pending: ScriptedSample[] = [];
  let state: RecorderStatus['state'] = 'running';
  let reads = 0;
  const read = (at: Instant, event?: 'first') => {
    reads += 1;
    for (const d of domains.keys()) {
      const power_w = watts(d, Number(at - origin));
      const total = (booked[d] ?? 0) + (power_w * Number(at - last)) / 1e9;
      booked[d] = total;
      pending.push({
        at_ns: at,
        domain: d,
        raw: BigInt(Math.round(total * 1e6)),
        booked_energy_j: total,
        booked_lo_j: total * band[0],
        booked_hi_j: total * band[1],
        ...(event && { event }),
        ...(!counted && !event && { power_w }),
      });
    }
    last = at;
  };
  const catchUp = (now: Instant) => {
    while (state === 'running' && Number(now - last) >= period_ns) {
      read(instant(last + BigInt(Math.round(period_ns))));
    }
  };
  const markNow = (): Instant => {
    const now = clock.now();
    catchUp(now);
    if (state === 'running' && now > last) read(now);
    return now;
  };
  read(origin, 'first');
  return {
    source: options.name ?? 'steady',
    domains,
    raw_units: domains.map(() => 'uJ'),
    period_ns,
    drain() {
      catchUp(clock.now());
      const taken = pending;
      pending = [];
      return sampleColumns(taken);
    },
    mark: markNow,
    status: () => ({ state, reason: null, reads, missed_deadlines: 0, read_ns: 0 }),
    stop() {
      markNow();
      state = 'stopped';
    },
  };
}
