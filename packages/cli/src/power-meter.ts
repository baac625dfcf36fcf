import {
  blindEvents,
  type Domain,
  instant,
  type Recorder,
  type SampleColumns,
  sampleEvents,
} from '@perwatt/core';
import type { Window } from '@perwatt/metrics';
import { accountFor, type DomainAccount } from './power-account.js';
import { keepSamples } from './power-series.js';
import { sumKnown, summedOf } from './summed.js';

/** Energy and mean power of one domain over a measurement. */
export interface DomainTotal {
  readonly domain: Domain;
  /** J; null, with a reason, when it can't be told. */
  readonly energy_j: number | null;
  /** Bounds as those of every window: edges, scale error, gaps, unseen laps, an estimator's band. */
  readonly energy_lo_j: number | null;
  readonly energy_hi_j: number | null;
  readonly mean_power_w: number | null;
  readonly reason: string | null;
  readonly samples: number;
  readonly missing: number;
}

/** Gathers a recorder's samples and says what they amount to. */
export interface PowerMeter {
  /** Takes in what was read since the last call. */
  collect(): void;
  /** Mean power of every domain since the last call, W; null where nothing new was read. */
  watts(): (number | null)[];
  /** What was measured over the span `duration_ns` that ends with the last sample. */
  totals(duration_ns: number): DomainTotal[];
}

interface Reading {
  readonly at_ns: bigint;
  readonly energy: number;
}

interface Series {
  first: Reading | null;
  last: Reading | null;
  shown: Reading | null;
  samples: number;
  missing: number;
}

/** Share of a measurement that samples must span, as for every window. */
const coverageBar = 0.95;

/** `onColumns` sees what was read, for instance to write it down. */
export function powerMeter(recorder: Recorder, onColumns?: (columns: SampleColumns) => void): PowerMeter {
  const series = recorder.domains.map((): Series => {
    return { first: null, last: null, shown: null, samples: 0, missing: 0 };
  });
  const kept = keepSamples(recorder, (columns) => {
    onColumns?.(columns);
    for (const [i, d] of columns.domain.entries()) {
      const own = series[d];
      if (own !== undefined) take(own, columns, i);
    }
  });
  return {
    collect: () => kept.collect(),
    watts: () =>
      series.map((own) => {
        const power_w = own.shown && own.last && meanWatts(own.shown, own.last);
        own.shown = own.last;
        return power_w;
      }),
    totals(duration_ns) {
      const { state, reason } = recorder.status();
      const failure = state === 'failed' ? (reason ?? 'the source failed') : null;
      const window = spanOf(series);
      const { period_ns } = recorder;
      const accounts = window && accountFor(kept.series(), { window, idle: null, period_ns });
      return recorder.domains.map((domain, d) =>
        total(domain, series[d], { duration_ns, failure, account: accounts?.[d] ?? null }),
      );
    },
  };
}

function take(own: Series, columns: SampleColumns, i: number) {
  own.samples += 1;
  const event = sampleEvents[columns.event[i] ?? -1];
  if (event === undefined || blindEvents.has(event)) {
    own.missing += 1;
    return;
  }
  const reading = {
    at_ns: columns.at_ns[i] ?? 0n,
    energy: columns.booked_energy_j[i] ?? 0,
  };
  own.first ??= reading;
  own.shown ??= reading;
  own.last = reading;
}

const meanWatts = (from: Reading, to: Reading): number | null =>
  to.at_ns > from.at_ns ? ((to.energy - from.energy) / Number(to.at_ns - from.at_ns)) * 1e9 : null;

/** From the first number of any domain to the last. */
function spanOf(series: readonly Series[]): Window | null {
  const firsts = series.flatMap(({ first }) => first?.at_ns ?? []);
  const lasts = series.flatMap(({ last }) => last?.at_ns ?? []);
  const [first, last] = [firsts[0], lasts[0]];
  if (first === undefined || last === undefined) return null;
  return {
    start: instant(firsts.reduce((a, b) => (a < b ? a : b), first)),
    end: instant(lasts.reduce((a, b) => (a > b ? a : b), last)),
  };
}

interface Measured {
  readonly duration_ns: number;
  readonly failure: string | null;
  readonly account: DomainAccount | null;
}

function total(
  domain: Domain,
  own: Series | undefined,
  { duration_ns, failure, account }: Measured,
): DomainTotal {
  const counts = { domain, samples: own?.samples ?? 0, missing: own?.missing ?? 0 };
  const unknown = (reason: string): DomainTotal => ({
    ...counts,
    energy_j: null,
    energy_lo_j: null,
    energy_hi_j: null,
    mean_power_w: null,
    reason,
  });
  if (failure !== null) return unknown(failure);
  if (!own?.first || !own.last || account === null) return unknown('nothing was read');
  if (own.last.at_ns === own.first.at_ns) return unknown('read only once');
  const covered = Number(own.last.at_ns - own.first.at_ns) / duration_ns;
  if (covered < coverageBar) return unknown(`read in only ${Math.floor(covered * 100)} % of the time`);
  const { gross, mean_power_w, reason } = account;
  return {
    ...counts,
    energy_j: gross.energy_j,
    energy_lo_j: gross.lo_j,
    energy_hi_j: gross.hi_j,
    mean_power_w,
    reason,
  };
}

/** Sum over the domains that make up the total. One that is unknown makes the sum unknown, not smaller. */
export function sumTotals(
  totals: readonly DomainTotal[],
): Pick<DomainTotal, 'energy_j' | 'energy_lo_j' | 'energy_hi_j' | 'mean_power_w'> {
  const summed = summedOf(totals.map(({ domain }) => domain));
  const counted = totals.filter(({ domain }) => summed.includes(domain));
  const sum = (of: (total: DomainTotal) => number | null) => sumKnown(counted.map(of));
  return {
    energy_j: sum(({ energy_j }) => energy_j),
    energy_lo_j: sum(({ energy_lo_j }) => energy_lo_j),
    energy_hi_j: sum(({ energy_hi_j }) => energy_hi_j),
    mean_power_w: sum(({ mean_power_w }) => mean_power_w),
  };
}
