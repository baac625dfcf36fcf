import { normalQuantile, studentQuantile } from '../distributions.js';

/** Chances of the two errors of a test. */
export interface Errors {
  /** Two-sided chance of calling equal systems different. Default 0.05. */
  readonly level?: number;
  /** Chance of seeing the effect when it is there. Default 0.8. */
  readonly power?: number;
}

/** Two proportions on different items (`unpaired`), or on the same ones (`paired`). */
interface Proportions extends Errors {
  readonly kind: 'proportions';
  readonly pairing: 'paired' | 'unpaired';
  /** Accuracy of the first system, 0…1. */
  readonly accuracy: number;
  /** Difference in accuracy to be seen, signed. */
  readonly effect: number;
  /** Paired: share of items that just one of the two gets right. Default: as if they were independent. */
  readonly discordant?: number;
}

/** Means over items with several attempts each, as a paired difference (Miller 2024, equation 9). */
interface Means extends Errors {
  readonly kind: 'means';
  readonly effect: number;
  /** Standard deviation over items of the true difference. */
  readonly between_sd: number;
  /** Standard deviation of one attempt within an item, and attempts an item, of either system. */
  readonly a: { readonly within_sd: number; readonly attempts: number };
  readonly b: { readonly within_sd: number; readonly attempts: number };
}

/** Ratio of two means over items, such as joules a query. */
interface RatioOfMeans extends Errors {
  readonly kind: 'ratio_of_means';
  readonly pairing: 'paired' | 'unpaired';
  /** Relative difference to be seen: 0.05 is 5 %. */
  readonly effect: number;
  /** Paired: standard deviation over items of (b/b̄ − a/ā). Unpaired: standard deviation over mean of one system. */
  readonly cv: number;
}

export type PowerQuestion = Proportions | Means | RatioOfMeans;

function bothQuantiles({ level = 0.05, power = 0.8 }: Errors): number {
  return normalQuantile(1 - level / 2) + normalQuantile(power);
}

const errorsHold = ({ level = 0.05, power = 0.8 }: Errors): boolean =>
  level > 0 && level < 1 && power > level / 2 && power < 1;

const whole = (items: number): number | null =>
  Number.isFinite(items) && items > 0 ? Math.ceil(items - 1e-9) : null;

/** Items for two proportions: normal approximation, paired after Connor (1987). */
function forProportions(question: Proportions): number | null {
  const { accuracy: p, effect, pairing, level = 0.05, power = 0.8 } = question;
  const other = p + effect;
  if (!(p >= 0 && p <= 1 && other >= 0 && other <= 1)) return null;
  const [zLevel, zPower] = [normalQuantile(1 - level / 2), normalQuantile(power)];
  if (pairing === 'unpaired') {
    const middle = (p + other) / 2;
    const none = Math.sqrt(2 * middle * (1 - middle));
    const some = Math.sqrt(p * (1 - p) + other * (1 - other));
    return whole(((zLevel * none + zPower * some) / effect) ** 2);
  }
  const share = question.discordant ?? p * (1 - other) + other * (1 - p);
  if (!(share >= Math.abs(effect) && share <= 1)) return null;
  return whole(((zLevel * Math.sqrt(share) + zPower * Math.sqrt(share - effect ** 2)) / effect) ** 2);
}

function forMeans(question: Means): number | null {
  const { effect, between_sd, a, b } = question;
  const sds = [between_sd, a.within_sd, b.within_sd];
  if (!(sds.every((sd) => sd >= 0) && a.attempts >= 1 && b.attempts >= 1)) return null;
  const variance = between_sd ** 2 + a.within_sd ** 2 / a.attempts + b.within_sd ** 2 / b.attempts;
  return whole((bothQuantiles(question) ** 2 * variance) / effect ** 2);
}

function forRatio(question: RatioOfMeans): number | null {
  const { effect, cv, pairing } = question;
  if (!(effect > -1 && cv >= 0)) return null;
  const variance = pairing === 'paired' ? cv ** 2 : 2 * cv ** 2;
  return whole((bothQuantiles(question) * Math.sqrt(variance)) ** 2 / Math.log1p(effect) ** 2);
}

/**
 * Items needed to see an effect: of each system where items differ, of both together where they are the same. Normal
 * approximation, good from some 20 items. Null for no effect, no spread, or numbers that can't be.
 */
export function itemsNeeded(question: PowerQuestion): number | null {
  if (!(errorsHold(question) && Number.isFinite(question.effect) && question.effect !== 0)) return null;
  switch (question.kind) {
    case 'proportions':
      return forProportions(question);
    case 'means':
      return forMeans(question);
    case 'ratio_of_means':
      return forRatio(question);
  }
}

const FEWEST_REPEATS = 3;
const MOST_REPEATS = 10_000;

/**
 * Repeats of each system needed to see a relative effect through a between-run spread (standard deviation over mean),
 * which no number of items makes smaller. By Student's t over repeats; at least 3. Null for no effect, a spread that can't
 * be, or more than 10,000 repeats.
 */
export function repeatsNeeded(
  question: Errors & { readonly effect: number; readonly spread_ratio: number },
): number | null {
  const { effect, spread_ratio, level = 0.05, power = 0.8 } = question;
  const possible = effect > -1 && effect !== 0 && Number.isFinite(effect) && spread_ratio >= 0;
  if (!(errorsHold(question) && possible)) return null;
  const size = Math.abs(Math.log1p(effect));
  const enough = (repeats: number): boolean => {
    const se = spread_ratio * Math.sqrt(2 / repeats);
    const reach = studentQuantile(1 - level / 2, repeats - 1) + studentQuantile(power, repeats - 1);
    return reach * se <= size;
  };
  return enough(MOST_REPEATS) ? fewest(FEWEST_REPEATS, MOST_REPEATS, enough) : null;
}

/** The fewest for which a condition holds that holds for `most`, and for all above one for which it holds. */
function fewest(from: number, most: number, enough: (n: number) => boolean): number {
  let [low, high] = [from, most];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

/** Smallest difference that Q items whose paired differences spread by `sd` show; null where there are none. */
export function detectableDifference(items: number, sd: number, errors: Errors = {}): number | null {
  if (!(errorsHold(errors) && items >= 1 && sd >= 0 && Number.isFinite(items + sd))) return null;
  return (bothQuantiles(errors) * sd) / Math.sqrt(items);
}
