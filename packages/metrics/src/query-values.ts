import type { CellFacts } from './cell-facts.js';
import type { MetricValue } from './cell-types.js';
import type { Metric, MetricId } from './metric-definitions.js';
import { absent } from './metric-value.js';
import { quantileIntervals, t95 } from './statistics.js';
import { FEWEST_REPEATS, runSpread, SPREAD_UNKNOWN } from './stats/run-spread.js';

type Definition = Metric<MetricId>;

function hasNaN(values: Float64Array): boolean {
  for (let row = 0; row < values.length; row++) if (Number.isNaN(values[row])) return true;
  return false;
}

/** Why single queries have no energy of their own; null when all have. */
function lackingOf({ isolated, columns, energy }: CellFacts): string | null {
  const { queries } = columns;
  if (queries.length === 0) return 'no_calls';
  if (energy.boundary === null) return energy.reason ?? 'no_power';
  if (!isolated) return 'not_isolated';
  return hasNaN(queries.gross_j) ? 'not_booked' : null;
}

/** Energy (`e`, J) or mean power (`p`, W) of every query. */
function valuesOf({ columns: { queries } }: CellFacts, list: 'e' | 'p', energy: Float64Array): Float64Array {
  if (list === 'e') return energy;
  const { start, end } = queries;
  const powers = new Float64Array(energy.length);
  for (let row = 0; row < powers.length; row++)
    powers[row] = (energy[row] ?? Number.NaN) / (((end[row] ?? 0) - (start[row] ?? 0)) / 1e9);
  return powers;
}

/** Mean with the interval of whole items by Student's t, items over all their repeats. */
export function clusteredMean(values: Float64Array, item: Int32Array, items: number) {
  const sums = new Float64Array(items);
  const counts = new Uint32Array(items);
  let total = 0;
  for (let row = 0; row < values.length; row++) {
    const at = item[row] ?? 0;
    const own = values[row] ?? Number.NaN;
    sums[at] = (sums[at] ?? 0) + own;
    counts[at] = (counts[at] ?? 0) + 1;
    total += own;
  }
  const value = total / values.length;
  if (items < 2) return { value, lo: null, hi: null };
  let squares = 0;
  for (let at = 0; at < items; at++) squares += ((sums[at] ?? 0) - (counts[at] ?? 0) * value) ** 2;
  const half = (t95(items - 1) * Math.sqrt((items / (items - 1)) * squares)) / values.length;
  return { value, lo: value - half, hi: value + half };
}

function meansOfRepeats({ columns: { queries }, repeats }: CellFacts, values: Float64Array): number[] {
  const most = repeats.reduce((max, { repeat }) => Math.max(max, repeat), 0);
  const sums = new Float64Array(most + 1);
  for (let row = 0; row < values.length; row++) {
    const repeat = queries.repeat[row] ?? 0;
    sums[repeat] = (sums[repeat] ?? 0) + (values[row] ?? Number.NaN);
  }
  return repeats.map(({ repeat, queries: n }) => (sums[repeat] ?? Number.NaN) / n);
}

/** Mean of energies (`e`) or of the powers that they are (`p`); null where it isn't finite. */
function meanOf({ columns: { queries } }: CellFacts, list: 'e' | 'p', energy: Float64Array): number | null {
  const { start, end } = queries;
  let sum = 0;
  if (list === 'e') for (let row = 0; row < energy.length; row++) sum += energy[row] ?? Number.NaN;
  else
    for (let row = 0; row < energy.length; row++)
      sum += (energy[row] ?? Number.NaN) / (((end[row] ?? 0) - (start[row] ?? 0)) / 1e9);
  const mean = sum / energy.length;
  return Number.isFinite(mean) ? mean : null;
}

/** The mean over single queries, each counting once, of their energies or powers. */
export function meanOfQueries(facts: CellFacts, definition: Definition, list: 'e' | 'p'): MetricValue {
  const { columns, queries: n, repeats } = facts;
  const lacking = lackingOf(facts);
  if (lacking !== null) return absent(definition, n, lacking);
  const { queries } = columns;
  const values = valuesOf(facts, list, queries.gross_j);
  const { value, lo, hi } = clusteredMean(values, queries.item, queries.items);
  if (!Number.isFinite(value)) return absent(definition, n, 'no_busy_time');
  return {
    ...absent(definition, n, ''),
    value,
    lo,
    hi,
    interval: lo === null ? null : 'item_clustered',
    sampling_lo: lo,
    sampling_hi: hi,
    sensor_lo: meanOf(facts, list, queries.lo_j),
    sensor_hi: meanOf(facts, list, queries.hi_j),
    spread: runSpread(meansOfRepeats(facts, values)),
    provenance: facts.energy.boundary?.provenance ?? null,
    reason: null,
    note: repeats.length < FEWEST_REPEATS ? SPREAD_UNKNOWN : null,
  };
}

/** Quantiles of the energies of single queries. */
export function quantileOfQueries(
  facts: CellFacts,
  wanted: readonly { readonly definition: Definition; readonly p: number }[],
): [MetricId, MetricValue][] {
  const lacking = lackingOf(facts);
  const { gross_j } = facts.columns.queries;
  const estimates = quantileIntervals(
    lacking === null ? gross_j : [],
    wanted.map(({ p }) => p),
  );
  return wanted.map(({ definition, p }, i) => {
    const estimate = estimates[i] ?? null;
    if (estimate === null) return [definition.id, absent(definition, facts.queries, lacking ?? 'no_calls')];
    const { value, lo, hi, n } = estimate;
    return [
      definition.id,
      {
        ...absent(definition, n, ''),
        value,
        lo,
        hi,
        interval: lo === null && hi === null ? null : 'order_statistics',
        sampling_lo: lo,
        sampling_hi: hi,
        provenance: facts.energy.boundary?.provenance ?? null,
        reason: null,
        note: p === 0.99 && n < 100 ? `the largest of only ${n} queries` : null,
      },
    ];
  });
}
