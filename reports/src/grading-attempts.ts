import { type Estimate, majorityAtK, passAllK, passAtK, studentT, wilson } from '@perwatt/metrics';

/** One graded attempt at an item. */
export interface Attempt {
  readonly score: number;
  /** Which answers are the same; null where there are no classes. */
  readonly answer_class: number | null;
}

/** Means over the items with at least k attempts: the calls that stood for an answer where there are several, else the repeats. */
export interface AttemptFigures {
  /** Most attempts that every item has. */
  readonly k: number;
  readonly items: number;
  /** Attempts with a score, over all items. */
  readonly attempts: number;
  /** Mean score of all attempts, each item counting once. */
  readonly avg_at_k: number | null;
  readonly at: readonly AttemptsAt[];
}

/** Chances with k attempts drawn from those there are. */
export interface AttemptsAt {
  readonly k: number;
  /** At least one is right. */
  readonly pass_at_k: number | null;
  /**
   * Its 95 % interval over items: Student's t of the items' own chances, Wilson where all of them are 0 or 1; null for a
   * single item whose chance is neither.
   */
  readonly pass_interval: { readonly lo: number; readonly hi: number } | null;
  /** All are right. */
  readonly pass_all_k: number | null;
  /** The answer that most give is right; ties are shared. Null where answers have no classes. */
  readonly maj_at_k: number | null;
}

/** The figures of attempts, a list an item; null where an item has fewer than two. Draws of a majority follow `seed`. */
export function attemptFigures(lists: readonly (readonly Attempt[])[], seed: number): AttemptFigures | null {
  const k = lists.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  if (!(k >= 2 && Number.isFinite(k))) return null;
  return {
    k,
    items: lists.length,
    attempts: lists.reduce((sum, { length }) => sum + length, 0),
    avg_at_k: mean(lists.map((list) => mean(list.map((own) => own.score)))),
    at: sizes(k).map((size) => attemptsAt(lists, size, seed)),
  };
}

/** 1, 2, 4, 8 … and k itself. */
function sizes(k: number): number[] {
  const own: number[] = [];
  for (let size = 1; size < k; size *= 2) own.push(size);
  return [...own, k];
}

function attemptsAt(lists: readonly (readonly Attempt[])[], k: number, seed: number): AttemptsAt {
  const right = (list: readonly Attempt[]) => list.filter(({ score }) => score === 1).length;
  const classed = lists.some((list) => list.some(({ answer_class }) => answer_class !== null));
  const majority = (list: readonly Attempt[]) => majorityAtK(list, { k, ties: 'shared', seed });
  const chances = lists.map((list) => passAtK(list.length, right(list), k));
  return {
    k,
    pass_at_k: mean(chances),
    pass_interval: intervalOver(chances),
    pass_all_k: mean(lists.map((list) => passAllK(list.length, right(list), k))),
    maj_at_k: classed ? mean(lists.map(majority)) : null,
  };
}

function intervalOver(chances: readonly (number | null)[]): AttemptsAt['pass_interval'] {
  const known = chances.filter((chance) => chance !== null);
  if (known.length < chances.length) return null;
  const sure = known.every((chance) => chance === 0 || chance === 1);
  const bounds: Pick<Estimate, 'lo' | 'hi'> | null = sure
    ? wilson(known.filter((chance) => chance === 1).length, known.length)
    : studentT(known);
  return bounds && { lo: Math.max(bounds.lo, 0), hi: Math.min(bounds.hi, 1) };
}

/** Null where one is unknown. */
function mean(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum / values.length;
}
