import { boundaryOf } from './boundary.js';
import { type Edges, lengthOf, windowsOf } from './cell-spans.js';
import type { CellEnergy, SittingInput } from './cell-types.js';
import { energyOverSpans } from './energy-window.js';
import { type BaselinePoint, netEnergy } from './net-energy.js';
import { totalLength } from './spans.js';
import { gaugesForStale } from './stale-gauge.js';
import type { PowerSeries, Window } from './types.js';

/** The spans that count, by sitting, ns since an origin. */
export interface BusyTime {
  readonly origin_ns: bigint;
  readonly bySitting: ReadonlyMap<number, Edges>;
}

interface Part {
  readonly gross: { readonly energy_j: number; readonly lo_j: number; readonly hi_j: number } | null;
  readonly net: { readonly energy_j: number; readonly lo_j: number; readonly hi_j: number } | null;
  readonly coverage_ratio: number;
  readonly drift_ratio: number | null;
  readonly reason: string | null;
  readonly net_reason: string | null;
}

function baselineOf(sitting: SittingInput, domain: string, when: 'before' | 'after'): BaselinePoint | null {
  return sitting.baselines.find((b) => b.domain === domain && b.when === when) ?? null;
}

/** Energy of one domain over the busy spans of one sitting. */
function partOf(sitting: SittingInput, series: PowerSeries, busy: readonly Window[]): Part {
  const { energy_j, lo_j, hi_j, coverage_ratio, reason } = energyOverSpans(series, busy);
  if (energy_j === null || lo_j === null || hi_j === null)
    return { gross: null, net: null, coverage_ratio, drift_ratio: null, reason, net_reason: reason };
  const gross = { energy_j, lo_j, hi_j };
  const net = netEnergy({
    gross,
    window: sitting.window,
    length_ns: totalLength(busy),
    before: baselineOf(sitting, series.domain.id, 'before'),
    after: baselineOf(sitting, series.domain.id, 'after'),
  });
  const known = net.energy_j !== null && net.lo_j !== null && net.hi_j !== null;
  return {
    gross,
    net: known ? { energy_j: net.energy_j, lo_j: net.lo_j, hi_j: net.hi_j } : null,
    coverage_ratio,
    drift_ratio: net.drift_ratio,
    reason: null,
    net_reason: net.reason,
  };
}

const missing = (reason: string): Part => ({
  gross: null,
  net: null,
  coverage_ratio: 0,
  drift_ratio: null,
  reason,
  net_reason: reason,
});

function summed(parts: readonly Part[], pick: 'gross' | 'net') {
  const picked = parts.map((part) => part[pick]).filter((part) => part !== null);
  if (picked.length < parts.length || parts.length === 0) return { energy_j: null, lo_j: null, hi_j: null };
  const add = (key: 'energy_j' | 'lo_j' | 'hi_j') => picked.reduce((sum, part) => sum + part[key], 0);
  return { energy_j: add('energy_j'), lo_j: add('lo_j'), hi_j: add('hi_j') };
}

const firstReason = (parts: readonly Part[], key: 'reason' | 'net_reason'): string | null =>
  parts.find((part) => part[key] !== null)?.[key] ?? null;

const farthest = (ratios: readonly (number | null)[]): number | null =>
  ratios.reduce<number | null>(
    (most, ratio) => (ratio !== null && Math.abs(ratio) > Math.abs(most ?? 0) ? ratio : (most ?? ratio)),
    null,
  );

/** Length of the spans of all sittings, ns. */
export const busyLength = ({ bySitting }: BusyTime): number =>
  [...bySitting.values()].reduce((sum, edges) => sum + lengthOf(edges), 0);

/**
 * Energy and length of the busy time of a cell, summed over its sittings and the domains of its boundary. One domain
 * missing in one sitting makes the energy null: a partial total would pass for a small one. Bounds add up linearly. A
 * counter that stood still gives way to the power beside it, see `gaugesForStale`.
 */
export function cellEnergy(sittings: readonly SittingInput[], time: BusyTime): CellEnergy {
  const used = sittings.filter(({ sitting }) => (time.bySitting.get(sitting)?.length ?? 0) > 0);
  const powered = used.some(({ series }) => series.length > 0) ? used : [];
  const spans = powered.map((sitting) => ({
    sitting,
    busy: windowsOf(time.bySitting.get(sitting.sitting) ?? new Float64Array(), time.origin_ns),
  }));
  const { sittings: measured, gauged, unknown } = gaugesForStale(spans);
  const boundary = boundaryOf(measured.flatMap(({ sitting }) => sitting.series.map(({ domain }) => domain)));
  const parts = measured.flatMap(({ sitting, busy }) =>
    (boundary?.domains ?? []).map(({ id }) => {
      if (unknown.has(id)) return missing('stale_counter');
      const series = sitting.series.find(({ domain }) => domain.id === id);
      return series === undefined ? missing('domain_missing') : partOf(sitting, series, busy);
    }),
  );
  const [gross, net] = [summed(parts, 'gross'), summed(parts, 'net')];
  const none = used.length === 0 ? 'no_calls' : boundary === null ? 'no_power' : null;
  return {
    boundary,
    gross_j: gross.energy_j,
    gross_lo_j: gross.lo_j,
    gross_hi_j: gross.hi_j,
    net_j: net.energy_j,
    net_lo_j: net.lo_j,
    net_hi_j: net.hi_j,
    net_resolved: isResolved(net.lo_j, net.hi_j),
    busy_ns: busyLength(time),
    window_ns: totalLength(sittings.map(({ window }) => window)),
    coverage_ratio: parts.length === 0 ? null : Math.min(...parts.map((part) => part.coverage_ratio)),
    stale_counters: [...gauged, ...unknown],
    drift_ratio: farthest(parts.map((part) => part.drift_ratio)),
    reason: none ?? firstReason(parts, 'reason'),
    net_reason: none ?? firstReason(parts, 'net_reason'),
    taken_from: 'samples',
  };
}

/** Whether an interval of energy excludes 0. */
export const isResolved = (lo_j: number | null, hi_j: number | null): boolean =>
  lo_j !== null && hi_j !== null && (lo_j > 0 || hi_j < 0);
