import type { RegionFactors } from './factor-files.js';
import type { AmountRange, PriceFile } from './factor-schema.js';

const J_PER_KWH = 3.6e6;
const TOKENS_PER_MILLION = 1e6;

/** Throws a `RangeError` for what is no range of amounts: an end that is negative or not finite, or `lo` above `hi`. */
function checked({ lo, hi }: AmountRange): AmountRange {
  if (Number.isFinite(hi) && lo >= 0 && lo <= hi) return { lo, hi };
  throw new RangeError(`${lo} to ${hi} is no range of amounts`);
}

const times = (a: AmountRange, b: AmountRange): AmountRange => ({ lo: a.lo * b.lo, hi: a.hi * b.hi });
const plus = (a: AmountRange, b: AmountRange): AmountRange => ({ lo: a.lo + b.lo, hi: a.hi + b.hi });
const kwh = (energy_j: AmountRange): AmountRange => {
  const { lo, hi } = checked(energy_j);
  return { lo: lo / J_PER_KWH, hi: hi / J_PER_KWH };
};

/**
 * Carbon of `energy_j` of computers, g CO2e: energy × PUE × grid intensity. Location-based; nothing embodied. The energy
 * is what was metered: a boundary that leaves out memory or fans leaves them out here too.
 */
export const carbonOf = (energy_j: AmountRange, factors: RegionFactors): AmountRange =>
  times(times(kwh(energy_j), factors.pue), factors.carbon_g_per_kwh);

/** Water of `energy_j` of computers, L: on site by WUE, and in generation: energy × (WUE + PUE × water of the grid). */
export const waterOf = (energy_j: AmountRange, factors: RegionFactors): AmountRange =>
  times(kwh(energy_j), plus(factors.wue_l_per_kwh, times(factors.pue, factors.water_l_per_kwh)));

/** Cost of `energy_j` of computers: energy × PUE × tariff; null when the region has no tariff. Electricity only. */
export function costOf(
  energy_j: AmountRange,
  factors: RegionFactors,
): (AmountRange & { readonly currency: string }) | null {
  const tariff = factors.tariff_per_kwh;
  if (tariff === null) return null;
  return { ...times(times(kwh(energy_j), factors.pue), tariff), currency: tariff.currency };
}

/** Tokens that are paid for. `cached_tokens` are part of `prompt_tokens`. */
export interface PaidTokens {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens?: number;
}

/**
 * Price of tokens of a hosted model, in the file's currency, over all providers the file lists for it; null when it lists
 * none. Throws a `RangeError` for counts that are negative, not finite, or more cached than prompt tokens.
 */
export function tokenCostOf(prices: PriceFile, model: string, tokens: PaidTokens): AmountRange | null {
  const { prompt_tokens, completion_tokens, cached_tokens = 0 } = tokens;
  checked({ lo: cached_tokens, hi: prompt_tokens });
  checked({ lo: 0, hi: completion_tokens });
  const costs = prices.models
    .filter((entry) => entry.model === model)
    .map(({ input_per_million, output_per_million, cached_input_per_million }) => {
      const cached = cached_input_per_million ?? input_per_million;
      const fresh = prompt_tokens - cached_tokens;
      const sum = fresh * input_per_million + cached_tokens * cached + completion_tokens * output_per_million;
      return sum / TOKENS_PER_MILLION;
    });
  return costs.length === 0 ? null : { lo: Math.min(...costs), hi: Math.max(...costs) };
}
