import { boundaryOf, type PowerSeries } from '@perwatt/metrics';
import type { CellFile, ClockZero, PowerFileSeries } from '@perwatt/records';
import type { CellSpan, PowerTrace, Timeline } from './results-types.js';

/** Most points of a timeline, over all its domains. */
const TIMELINE_POINTS = 5_000;

/** Milliseconds of wall time of a stamp, by the clock reading taken on the same boot; null when there was none. */
type WallTime = (at_ns: bigint, boot_id: string | null) => number | null;

function wallTimeOf(clocks: readonly ClockZero[]): WallTime {
  return (at_ns, boot_id) => {
    const zero = clocks.find((clock) => clock.boot_id === boot_id);
    if (zero === undefined) return null;
    const at = Date.parse(zero.wall_time);
    return Number.isFinite(at) ? at + Number(at_ns - BigInt(zero.at_ns)) / 1e6 : null;
  };
}

/** Indices of at most `most` samples, first and last included, evenly spread. */
function thinned(length: number, most: number): number[] {
  if (length <= most) return Array.from({ length }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / (most - 1)));
}

/** Mean power (W) from each kept sample to the next; the last one holds nothing. */
function powersOf(
  series: Pick<PowerSeries, 'at_ns' | 'booked_j'>,
  kept: readonly number[],
): (number | null)[] {
  return kept.map((from, i) => {
    const to = kept[i + 1];
    if (to === undefined) return null;
    const span = Number((series.at_ns[to] ?? 0n) - (series.at_ns[from] ?? 0n));
    const energy = (series.booked_j[to] ?? 0) - (series.booked_j[from] ?? 0);
    return span > 0 ? (energy / span) * 1e9 : null;
  });
}

interface Piece {
  readonly domain: PowerFileSeries['domains'][number];
  readonly boot_id: string | null;
  readonly series: Pick<PowerSeries, 'at_ns' | 'booked_j'>;
}

const piecesOf = (power: readonly PowerFileSeries[]): Piece[] =>
  power.flatMap(({ domains, series, boot_id }) =>
    domains.flatMap((domain) => {
      const samples = series.get(domain.id);
      return samples !== undefined && samples.at_ns.length > 1 ? [{ domain, boot_id, series: samples }] : [];
    }),
  );

function spansOf(
  cells: readonly CellFile[],
  since: (at: bigint, boot: string | null) => number | null,
): CellSpan[] {
  return cells.flatMap(({ cell_id, sittings }) =>
    sittings.flatMap(({ start_ns, end_ns, boot_id }) => {
      if (end_ns === null) return [];
      const [start_s, end_s] = [since(BigInt(start_ns), boot_id), since(BigInt(end_ns), boot_id)];
      return start_s === null || end_s === null ? [] : [{ cell_id, start_s, end_s }];
    }),
  );
}

/**
 * Power over the whole run, thinned to at most `most` points (5,000) so that the area under each step stays the energy booked,
 * and the cells' windows on the same axis: seconds since the first sample or cell.
 */
export function powerTimeline(
  power: readonly PowerFileSeries[],
  cells: readonly CellFile[],
  clocks: readonly ClockZero[],
  most = TIMELINE_POINTS,
): Timeline {
  const wall = wallTimeOf(clocks);
  const pieces = piecesOf(power);
  const firsts = [
    ...pieces.map(({ series, boot_id }) => wall(series.at_ns[0] ?? 0n, boot_id)),
    ...cells.flatMap(({ sittings }) => sittings.map((s) => wall(BigInt(s.start_ns), s.boot_id))),
  ].filter((at) => at !== null);
  const zero = Math.min(...firsts);
  const since = (at: bigint, boot_id: string | null) => {
    const ms = wall(at, boot_id);
    return ms === null ? null : (ms - zero) / 1e3;
  };
  const inBoundary = new Set(boundaryOf(pieces.map(({ domain }) => domain))?.domains.map(({ id }) => id));
  const samples = pieces.reduce((sum, { series }) => sum + series.at_ns.length, 0);
  const share = Math.min(1, most / Math.max(samples, 1));
  const traces = pieces.map(({ domain, boot_id, series }): PowerTrace => {
    const kept = thinned(series.at_ns.length, Math.max(2, Math.floor(series.at_ns.length * share)));
    const times = kept.map((i) => since(series.at_ns[i] ?? 0n, boot_id));
    const seen = kept.filter((_, i) => times[i] !== null);
    return {
      domain: domain.id,
      provenance: domain.provenance,
      in_boundary: inBoundary.has(domain.id),
      t_s: times.filter((t) => t !== null),
      power_w: powersOf(series, seen),
    };
  });
  return { traces, spans: spansOf(cells, since) };
}
