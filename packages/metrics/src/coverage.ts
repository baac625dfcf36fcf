import { wilson } from './statistics.js';

/** What a set of models made of one item. */
export interface CoverageItem {
  readonly item_id: string;
  /** Label of its subject or category; null without one. */
  readonly subject: string | null;
  /** Chance of a guess, 0…1; null when not known. */
  readonly guess_rate: number | null;
  /** By model: right or wrong; null where it was not scored. */
  readonly right: Readonly<Record<string, boolean | null>>;
}

/** Best-of-set coverage: the share of items that at least one model of the set gets right. */
export interface Coverage {
  /** Null without decided items. */
  readonly value: number | null;
  /** Wilson's 95 % interval over items. */
  readonly lo: number | null;
  readonly hi: number | null;
  /** Items that are covered, or missed by every model. */
  readonly decided: number;
  /** Items that none of the scored models got right, while others were not scored. They count in neither part. */
  readonly undecided: number;
  /** Coverage if every undecided item were missed, and if every one were covered; null without items. */
  readonly worst: number | null;
  readonly best: number | null;
  /**
   * What models that guess apart from one another would reach: the mean over decided items of 1 − (1 − g)^m for m scored
   * models. Null where the chance of a guess is not known for every item.
   */
  readonly floor: number | null;
  /** (coverage − floor) / (1 − floor): 0 for a set of guessers. Null at a floor of 1 or none. */
  readonly above_floor: number | null;
  /** The model that is right most often among the decided items that it was scored on; first by name on ties. */
  readonly best_single: { readonly model: string; readonly accuracy: number; readonly n: number } | null;
}

/** Coverage by a set of models, of all items. `models` names the set; items of other models are not looked at. */
export function coverage(items: readonly CoverageItem[], models: readonly string[]): Coverage {
  const seen = items.map((item) => ({ item, state: stateOf(item, models) }));
  const decided = seen.filter(({ state }) => state !== 'undecided' && state !== 'unscored');
  const covered = decided.filter(({ state }) => state === 'covered').length;
  const undecided = items.length - decided.length;
  const interval = wilson(covered, decided.length);
  const floor = guessingFloor(
    decided.map(({ item }) => ({ guess_rate: item.guess_rate, models: scoredOf(item, models).length })),
  );
  const value = interval?.value ?? null;
  return {
    value,
    lo: interval?.lo ?? null,
    hi: interval?.hi ?? null,
    decided: decided.length,
    undecided,
    worst: items.length === 0 ? null : covered / items.length,
    best: items.length === 0 ? null : (covered + undecided) / items.length,
    floor,
    above_floor: value === null || floor === null || floor >= 1 ? null : (value - floor) / (1 - floor),
    best_single: bestSingle(
      decided.map(({ item }) => item),
      models,
    ),
  };
}

/** `coverage` for each subject, by name; items without one stand under null. */
export function coverageBySubject(
  items: readonly CoverageItem[],
  models: readonly string[],
): { readonly subject: string | null; readonly coverage: Coverage }[] {
  const subjects = [...new Set(items.flatMap(({ subject }) => (subject === null ? [] : [subject])))].sort();
  const rest = items.some(({ subject }) => subject === null) ? [null] : [];
  return [...subjects, ...rest].map((subject) => ({
    subject,
    coverage: coverage(
      items.filter((item) => item.subject === subject),
      models,
    ),
  }));
}

/**
 * Coverage that guessing alone reaches, in closed form: the mean of 1 − (1 − g)^m. Null without items, or where a chance
 * is not known or lies outside 0…1.
 */
export function guessingFloor(
  items: readonly { readonly guess_rate: number | null; readonly models: number }[],
): number | null {
  let sum = 0;
  for (const { guess_rate: g, models } of items) {
    if (g === null || !(g >= 0 && g <= 1)) return null;
    sum += 1 - (1 - g) ** models;
  }
  return items.length === 0 ? null : sum / items.length;
}

const scoredOf = ({ right }: CoverageItem, models: readonly string[]): string[] =>
  models.filter((model) => typeof right[model] === 'boolean');

function stateOf(
  item: CoverageItem,
  models: readonly string[],
): 'covered' | 'missed' | 'undecided' | 'unscored' {
  const scored = scoredOf(item, models);
  if (scored.some((model) => item.right[model] === true)) return 'covered';
  if (scored.length === 0) return 'unscored';
  return scored.length === models.length ? 'missed' : 'undecided';
}

function bestSingle(items: readonly CoverageItem[], models: readonly string[]): Coverage['best_single'] {
  const singles = models.flatMap((model) => {
    const scored = items.filter(({ right }) => typeof right[model] === 'boolean');
    const correct = scored.filter(({ right }) => right[model] === true).length;
    return scored.length === 0 ? [] : [{ model, accuracy: correct / scored.length, n: scored.length }];
  });
  const [first] = singles.sort((a, b) => b.accuracy - a.accuracy || (a.model < b.model ? -1 : 1));
  return first ?? null;
}
