import type { Provenance } from '@perwatt/core';
import { type AmountRange, carbonOf, costOf, type RegionFactors, waterOf } from '@perwatt/metrics';
import type { CellResult } from '@perwatt/reports';
import { figure } from './figure.js';

/** What is asked of a cell's results. */
export type FootprintInput = Pick<CellResult, 'cell_id' | 'point'> & {
  readonly energy: Pick<
    CellResult['energy'],
    'boundary' | 'gross_j' | 'gross_lo_j' | 'gross_hi_j' | 'reason'
  >;
  readonly counts: Pick<CellResult['counts'], 'attempted'>;
};

/** Energy of a number of queries, and what it comes to in one region. */
export interface Footprint {
  readonly energy_j: AmountRange;
  readonly carbon_g: AmountRange;
  readonly water_l: AmountRange;
  /** Electricity only; null when the region has no tariff. */
  readonly cost: (AmountRange & { readonly currency: string }) | null;
}

/** One cell's footprint: all of it, and of 1,000 queries. Null with a reason where its energy is not known. */
export interface CellFootprint {
  readonly cell_id: string;
  readonly point: CellResult['point'];
  readonly queries: number;
  readonly provenance: Provenance | null;
  /** Scopes in the boundary of the energy. */
  readonly scopes: readonly string[];
  readonly total: Footprint | null;
  readonly per_1000_queries: Footprint | null;
  readonly reason: string | null;
}

const PER = 1000;

/** The footprint of a cell's gross energy, the sensor's bounds and the factors' ranges multiplied out. */
export function cellFootprint(cell: FootprintInput, factors: RegionFactors): CellFootprint {
  const { energy, counts } = cell;
  const boundary = energy.boundary;
  const about = {
    cell_id: cell.cell_id,
    point: cell.point,
    queries: counts.attempted,
    provenance: boundary?.provenance ?? null,
    scopes: [...new Set(boundary?.domains.map(({ scope }) => scope) ?? [])],
  };
  if (energy.gross_j === null || counts.attempted === 0) {
    const reason = energy.reason ?? 'no queries';
    return { ...about, total: null, per_1000_queries: null, reason };
  }
  const energy_j = {
    lo: Math.max(0, energy.gross_lo_j ?? energy.gross_j),
    hi: energy.gross_hi_j ?? energy.gross_j,
  };
  const share = PER / counts.attempted;
  return {
    ...about,
    total: footprintOf(energy_j, factors),
    per_1000_queries: footprintOf({ lo: energy_j.lo * share, hi: energy_j.hi * share }, factors),
    reason: null,
  };
}

const footprintOf = (energy_j: AmountRange, factors: RegionFactors): Footprint => ({
  energy_j,
  carbon_g: carbonOf(energy_j, factors),
  water_l: waterOf(energy_j, factors),
  cost: costOf(energy_j, factors),
});

const DIGITS = 3;
const shown = ({ lo, hi }: AmountRange) => {
  const [low, high] = [small(lo), small(hi)];
  return low === high ? low : `${low}–${high}`;
};
function small(value: number): string {
  if (value === 0 || value >= 1) return figure(value, DIGITS);
  return value < 0.001 ? value.toExponential(1) : String(Number(value.toPrecision(DIGITS)));
}

const heads = [
  'model',
  'dataset',
  'strategy',
  'load',
  'energy J',
  'carbon g CO2e',
  'water L',
  'cost',
  'power',
];

/** The footprint of 1,000 queries of each cell, as lines of a table. */
export function footprintTable(cells: readonly CellFootprint[]): string[] {
  const lines = [heads, ...cells.map(footprintLine)];
  const widths = heads.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function footprintLine({
  point,
  per_1000_queries: each,
  provenance,
  scopes,
  reason,
}: CellFootprint): string[] {
  const names = [point.model, point.dataset, point.strategy, point.load];
  if (each === null) return [...names, '–', '–', '–', '–', reason ?? ''];
  const cost = each.cost === null ? 'no tariff' : `${shown(each.cost)} ${each.cost.currency}`;
  const power = `${provenance ?? ''} ${scopes.join('+')}`.trim();
  return [...names, shown(each.energy_j), shown(each.carbon_g), shown(each.water_l), cost, power];
}
