import { blindEvents, type Domain, type Recorder, type SampleColumns, sampleEvents } from '@perwatt/core';
import { boundaryOf } from '@perwatt/metrics';

/** Energy and mean power of one domain over a measurement. */
export interface DomainTotal {
  readonly domain: Domain;
  /** J; null, with a reason, when it can't be told. */
  readonly energy_j: number | null;
  /** Bounds from gaps, unseen laps and an estimator's band; the sensor's own edges and scale error not included. */
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
  readonly lo: number;
  readonly hi: number;
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

export function powerMeter(recorder: Recorder): PowerMeter {
  const series = recorder.domains.map((): Series => {
    return { first: null, last: null, shown: null, samples: 0, missing: 0 };
  });
  return {
    collect() {
      const columns = recorder.drain();
      for (const [i, d] of columns.domain.entries()) {
        const own = series[d];
        if (own !== undefined) take(own, columns, i);
      }
    },
    watts: () =>
      series.map((own) => {
        const power_w = own.shown && own.last && meanWatts(own.shown, own.last);
        own.shown = own.last;
        return power_w;
      }),
    totals(duration_ns) {
      const { state, reason } = recorder.status();
      const failure = state === 'failed' ? (reason ?? 'the source failed') : null;
      return recorder.domains.map((domain, d) => total(domain, series[d], { duration_ns, failure }));
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
    lo: columns.booked_lo_j[i] ?? 0,
    hi: columns.booked_hi_j[i] ?? 0,
  };
  own.first ??= reading;
  own.shown ??= reading;
  own.last = reading;
}

const meanWatts = (from: Reading, to: Reading): number | null =>
  to.at_ns > from.at_ns ? ((to.energy - from.energy) / Number(to.at_ns - from.at_ns)) * 1e9 : null;

function total(
  domain: Domain,
  own: Series | undefined,
  { duration_ns, failure }: { readonly duration_ns: number; readonly failure: string | null },
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
  if (!own?.first || !own.last) return unknown('nothing was read');
  const mean_power_w = meanWatts(own.first, own.last);
  if (mean_power_w === null) return unknown('read only once');
  const covered = Number(own.last.at_ns - own.first.at_ns) / duration_ns;
  if (covered < coverageBar) return unknown(`read in only ${Math.floor(covered * 100)} % of the time`);
  return {
    ...counts,
    energy_j: own.last.energy - own.first.energy,
    energy_lo_j: own.last.lo - own.first.lo,
    energy_hi_j: own.last.hi - own.first.hi,
    mean_power_w,
    reason: null,
  };
}

/** The domains summed into one figure: of one provenance, none inside another. */
export const summedOf = (domains: readonly Domain[]): readonly Domain[] => boundaryOf(domains)?.domains ?? [];

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

/** The sum; null when a part of it is unknown, or when there is nothing to sum. */
export function sumKnown(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum;
}
