import {
  asObserved,
  blindEvents,
  type Clock,
  type Domain,
  elapsed,
  type PowerSource,
  type Recorder,
  type SampleColumns,
  sampleEvents,
} from '@perwatt/core';
import { clock as hostClock } from './clock.js';
import { type BestSourceOptions, bestSources } from './sources.js';

/** An energy with its bounds; all null, with a reason, when it can't be told. */
export interface MeasuredEnergy {
  /** J. */
  readonly energy_j: number | null;
  /** Bounds, J: gaps, unseen laps, an estimator's band, one update period at either end (longer by the share of it that the sensor doesn't look), the declared scale error. */
  readonly lo_j: number | null;
  readonly hi_j: number | null;
  readonly mean_power_w: number | null;
  /** Where the figure comes from: never mixed within one sum. Null for a sum of unlike parts, which isn't told. */
  readonly provenance: Domain['provenance'] | null;
  readonly reason: string | null;
}

export interface MeasuredDomain extends MeasuredEnergy {
  readonly domain: Domain;
}

/** What a piece of work returned, and what was drawn meanwhile: the sum over the domains of the total, and each by itself. */
export interface Measurement<T> extends MeasuredEnergy {
  readonly value: T;
  readonly duration_ns: number;
  readonly domains: readonly MeasuredDomain[];
}

export interface MeasureOptions extends BestSourceOptions {
  /** Sources to read. Without it: those that `bestSources` finds. */
  readonly sources?: readonly PowerSource[];
  /** Time between two readings, ns; the source's own unless said. */
  readonly period_ns?: number;
  /** Where time comes from, for sources that bring their own. */
  readonly clock?: Clock;
}

/**
 * Runs `work` and tells its energy. Every source is read right before and right after, so that no edge is interpolated.
 * What `work` throws passes through. Throws `POWER_NO_SOURCE` before it runs anything when nothing can be read.
 *
 * The host is measured, not the process: whatever else runs meanwhile is in it. Work of less than two update periods of
 * a sensor has no energy by it. Bounds hold one update period at the mean power for either end.
 */
export async function measure<T>(
  work: () => T | Promise<T>,
  options: MeasureOptions = {},
): Promise<Measurement<T>> {
  const { sources = bestSources(options), period_ns, clock = hostClock } = options;
  const recorders = startAll(sources, period_ns);
  try {
    const before = recorders.map(edge);
    const start = clock.now();
    const value = await work();
    const duration_ns = elapsed(start, clock.now());
    const domains = recorders.flatMap((recorder, r) => {
      const [from, to] = [before[r] ?? [], edge(recorder)];
      const parts = recorder.domains.map((domain, d) =>
        between(domain, { from: from[d], to: to[d], recorder }),
      );
      return withoutStale(parts, recorder.status().flags ?? []);
    });
    return { value, duration_ns, ...total(domains), domains };
  } finally {
    for (const recorder of recorders) recorder.stop();
  }
}

function startAll(sources: readonly PowerSource[], period_ns: number | undefined): Recorder[] {
  const started: Recorder[] = [];
  try {
    for (const source of sources) started.push(source.start(period_ns === undefined ? {} : { period_ns }));
  } catch (error) {
    for (const recorder of started) recorder.stop();
    throw error;
  }
  return started;
}

/** What one domain had booked when it was last read. */
interface Reading {
  readonly at_ns: bigint;
  readonly energy: number;
  readonly lo: number;
  readonly hi: number;
}

/** Work of less than so many update periods of a sensor can't be told by it: a counter may not even have moved. */
const FEWEST_PERIODS = 2;

/** Reads every domain now; one that gives no number is left out. */
function edge(recorder: Recorder): (Reading | undefined)[] {
  recorder.mark();
  const columns = recorder.drain();
  const readings: (Reading | undefined)[] = recorder.domains.map(() => undefined);
  columns.domain.forEach((d, i) => {
    readings[d] = readingAt(columns, i);
  });
  return readings;
}

function readingAt(columns: SampleColumns, i: number): Reading | undefined {
  const event = sampleEvents[columns.event[i] ?? -1];
  if (event === undefined || blindEvents.has(event)) return undefined;
  return {
    at_ns: columns.at_ns[i] ?? 0n,
    energy: columns.booked_energy_j[i] ?? 0,
    lo: columns.booked_lo_j[i] ?? 0,
    hi: columns.booked_hi_j[i] ?? 0,
  };
}

interface Edges {
  readonly from: Reading | undefined;
  readonly to: Reading | undefined;
  readonly recorder: Recorder;
}

function between(declared: Domain, { from, to, recorder }: Edges): MeasuredDomain {
  const { state, reason, observed } = recorder.status();
  const domain = asObserved(declared, observed);
  if (state === 'failed') return { domain, ...unknown(domain.provenance, reason ?? 'the source failed') };
  if (from === undefined || to === undefined)
    return { domain, ...unknown(domain.provenance, 'not read at both ends') };
  const length_ns = Number(to.at_ns - from.at_ns);
  if (length_ns < FEWEST_PERIODS * Math.max(domain.update_period_ns, 1))
    return { domain, ...unknown(domain.provenance, 'over before its sensor could tell') };
  const energy_j = to.energy - from.energy;
  const mean_power_w = (energy_j / length_ns) * 1e9;
  const quantum = domain.quantum ?? 0;
  const step_j = domain.kind === 'gauge' ? (quantum * length_ns) / 1e9 : 2 * quantum;
  const unseen = 1 - (domain.sensing_share_ratio ?? 1);
  const edge_j = (2 * mean_power_w * domain.update_period_ns * (1 + unseen)) / 1e9 + step_j;
  const scale = domain.scale_error_ratio ?? 0;
  return {
    domain,
    energy_j,
    lo_j: Math.max(0, (Math.min(to.lo - from.lo, energy_j) - edge_j) * (1 - scale)),
    hi_j: (Math.max(to.hi - from.hi, energy_j) + edge_j) * (1 + scale),
    mean_power_w,
    provenance: domain.provenance,
    reason: null,
  };
}

/** Puts the power of a device in the place of its counter where that stood still meanwhile. */
function withoutStale(parts: readonly MeasuredDomain[], flags: readonly string[]): MeasuredDomain[] {
  return parts.map((part) => {
    const { id } = part.domain;
    if (!flags.includes(`stale->gauge:${id}`)) return part;
    const beside = parts.find(({ domain }) => domain.id === id.replace(/energy$/, 'power'));
    if (beside === undefined) return part;
    const { kind, provenance, update_period_ns, quantum } = beside.domain;
    const note = `its counter stood still: the power of ${beside.domain.id}, integrated`;
    return { ...beside, domain: { ...part.domain, kind, provenance, update_period_ns, quantum, note } };
  });
}

const unknown = (provenance: Domain['provenance'] | null, reason: string): MeasuredEnergy => ({
  energy_j: null,
  lo_j: null,
  hi_j: null,
  mean_power_w: null,
  provenance,
  reason,
});

/** Sum over the domains of the total. A part that is unknown, or of another provenance, makes it unknown, not smaller. */
function total(domains: readonly MeasuredDomain[]): MeasuredEnergy {
  const counted = domains.filter(({ domain }) => domain.in_total);
  const [provenance = null, other] = [...new Set(counted.map((part) => part.provenance))];
  if (other !== undefined) return unknown(null, `${provenance} and ${other} energy are not summed`);
  const missing = counted.find(({ energy_j }) => energy_j === null);
  if (missing !== undefined) return unknown(provenance, `${missing.domain.id}: ${missing.reason}`);
  if (counted.length === 0) return unknown(provenance, 'no domain is counted');
  const sum = (of: (part: MeasuredEnergy) => number | null) =>
    counted.reduce((acc, part) => acc + (of(part) ?? 0), 0);
  return {
    energy_j: sum(({ energy_j }) => energy_j),
    lo_j: sum(({ lo_j }) => lo_j),
    hi_j: sum(({ hi_j }) => hi_j),
    mean_power_w: sum(({ mean_power_w }) => mean_power_w),
    provenance,
    reason: null,
  };
}
