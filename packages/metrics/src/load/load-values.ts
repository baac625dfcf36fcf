import type { CellFacts } from '../cell-facts.js';
import type { MetricValue } from '../cell-types.js';
import { evaluate, symbolPowers, type TotalSymbol, type Totals } from '../formula.js';
import { formulaOf, type Metric, type MetricId } from '../metric-definitions.js';
import { absent } from '../metric-value.js';
import { SPREAD_UNKNOWN } from '../stats/run-spread.js';
import { ruleText } from './steady-facts.js';

type Definition = Metric<MetricId>;

const windowTotals = ({ window, energy }: CellFacts): Totals => ({
  E_w: window.gross_j,
  T_w: energy.window_ns / 1e9,
  E_idle: window.gross_j === null || energy.gross_j === null ? null : window.gross_j - energy.gross_j,
});

const steadyTotals = ({ steady }: CellFacts): Totals => ({
  T_s: steady.length_ns / 1e9,
  O_s: steady.tokens,
  C_s: steady.calls_ok,
});

const loadSymbols: ReadonlySet<TotalSymbol> = new Set([
  'due_gaps',
  'sent_gaps',
  'ok',
  'good',
  'E_idle',
  'O_s',
  'C_s',
]);

/** Whether a metric is one of the load as a whole, without a sensor's bounds of its own. */
export const isOfLoad = (definition: Definition): boolean =>
  definition.energy !== null && definition.window === 'steady'
    ? false
    : [...symbolPowers(formulaOf(definition)).keys()].some((name) => loadSymbols.has(name));

/** Why a figure of the load can't be told. */
function reasonOf(
  { load, steady, window, queries }: CellFacts,
  { window: over, energy, needs, id }: Definition,
): string {
  if (queries === 0) return 'no_calls';
  if (over === 'steady') return steady.reason ?? 'tokens_unknown';
  if (energy !== null) return window.reason ?? 'no_energy';
  if (id === 'offered_per_s') return load.no_schedule ?? 'all_due_at_once';
  if (needs.includes('slo')) return load.no_goodput ?? 'no_limit_applies';
  return over === 'load' ? 'too_few_calls' : 'no_window';
}

/** What is said beside a figure of the steady window: the rule that cut it. */
export const steadyNote = ({ steady }: CellFacts, { window }: Definition): string | null =>
  window !== 'steady' || steady.rule === null || steady.reason !== null
    ? null
    : `steady window by ${ruleText(steady.rule)}, ${Number((steady.length_ns / 1e9).toPrecision(3))} s`;

/** Queueing ties the calls of a load to one another, so that no interval is drawn over them. */
const ONE_LOAD = 'calls of one load depend on one another: no interval';

/**
 * A figure of the load as a whole: rates, goodput, the share of idle energy, throughput in the steady window. Of one load,
 * so without an interval.
 */
export function loadValue(facts: CellFacts, definition: Definition): MetricValue {
  const totals = { ...facts.load.totals, ...windowTotals(facts), ...steadyTotals(facts) };
  const stopped = definition.window === 'steady' ? facts.steady.reason : null;
  const value = stopped === null ? evaluate(formulaOf(definition), totals) : null;
  const n = facts.columns.calls_from === 'calls' ? facts.columns.calls.length : facts.queries;
  const provenance = definition.energy === null ? null : (facts.energy.boundary?.provenance ?? null);
  if (value === null) return { ...absent(definition, n, reasonOf(facts, definition)), provenance };
  const note = definition.energy === null ? ONE_LOAD : SPREAD_UNKNOWN;
  const rule = steadyNote(facts, definition);
  return {
    ...absent(definition, n, ''),
    value,
    provenance,
    reason: null,
    note: rule === null ? note : `${note}; ${rule}`,
  };
}
