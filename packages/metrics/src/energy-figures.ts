import type { TotalSymbol } from './formula.js';
import { symbolPowers } from './formula.js';
import { formulaOf, type MetricId, metricOf } from './metric-definitions.js';

/** Totals that every query of a cell adds to, in the order of every list of them. */
export const totalNames = [
  'score',
  'scored',
  'queries',
  'seconds',
  'gross_j',
  'net_j',
  'output_tokens',
  'all_tokens',
] as const;
export type TotalName = (typeof totalNames)[number];

/** Totals that are known of repeats too; those of phases of single queries as well, in a table of their own. */
export const repeatTotalNames = [
  ...totalNames,
  'net_host_j',
  'prompt_tokens',
  'prefill_j',
  'decode_j',
  'decoded_tokens',
] as const;
export type RepeatTotalName = (typeof repeatTotalNames)[number];

/** A symbol of a formula as powers of totals; `E` is the gross, net or net-of-host one. */
const totalsOfSymbol: Readonly<Partial<Record<TotalSymbol, Partial<Record<RepeatTotalName, number>>>>> = {
  A: { score: 1, scored: -1 },
  N: { queries: 1 },
  T: { seconds: 1 },
  O: { output_tokens: 1 },
  I: { prompt_tokens: 1 },
  E_pre: { prefill_j: 1 },
  E_dec: { decode_j: 1 },
  O_dec: { decoded_tokens: 1 },
  K: { all_tokens: 1 },
};

/** The powers of a metric's formula, in the order of `repeatTotalNames`. */
export interface FigurePowers {
  readonly powers: readonly number[];
  /** False when the formula holds more than what repeats have totals of: windows, statistics of lists. */
  readonly complete: boolean;
}

const known = new Map<MetricId, FigurePowers>();

/** A metric as a product of powers of totals. */
export function figurePowers(id: MetricId): FigurePowers {
  const found = known.get(id) ?? computedPowers(id);
  known.set(id, found);
  return found;
}

function computedPowers(id: MetricId): FigurePowers {
  const { energy, formula } = metricOf(id);
  const symbols = [...symbolPowers(formulaOf({ formula }))];
  const powers = new Map<RepeatTotalName, number>();
  let complete = symbols.length > 0;
  for (const [symbol, power] of symbols) {
    const own: Partial<Record<RepeatTotalName, number>> | undefined =
      symbol === 'E' && energy !== null ? { [`${energy}_j` as const]: 1 } : totalsOfSymbol[symbol];
    if (own === undefined) complete = false;
    for (const [total, times] of Object.entries(own ?? {}) as [RepeatTotalName, number][])
      powers.set(total, (powers.get(total) ?? 0) + power * times);
  }
  return { powers: repeatTotalNames.map((name) => powers.get(name) ?? 0), complete };
}

/** Figures that are products of powers of `totalNames`. */
export const productNames = [
  'accuracy',
  'power_w',
  'energy_per_query_j',
  'ipw_per_w',
  'ipj_per_j',
  'energy_per_correct_j',
  'energy_per_output_token_j',
  'energy_per_token_j',
  'tokens_per_j',
  'tokens_per_s',
] as const satisfies readonly MetricId[];
/** One of `productNames`. */
export type ProductName = (typeof productNames)[number];

/** The powers of a figure, in the order of `totalNames`: what intervals and paired comparisons take. */
export function powersOf(name: ProductName, kind: 'gross' | 'net' = 'gross'): number[] {
  const own = metricOf(name).energy === null || kind === 'gross' ? name : (`net_${name}` as MetricId);
  return figurePowers(own).powers.slice(0, totalNames.length);
}
