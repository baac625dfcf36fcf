/** Relative difference up to which two figures are the same: mathematics libraries differ in the last digits. */
const TOLERANCE = 1e-9;

/** A place at which what is claimed isn't what comes out. */
export interface ClaimDifference {
  /** `cells.c0ffee.metrics.ipj_per_j.value` */
  readonly path: string;
  readonly claimed: unknown;
  readonly found: unknown;
}

/** What was compared, and the differences in the order of what was found. */
export interface ClaimComparison {
  readonly values: number;
  readonly differences: readonly ClaimDifference[];
}

export interface ClaimOptions {
  /** What comes out and isn't claimed: `ignore` where the claim was made by an earlier version, which had fewer figures. */
  readonly unclaimed: 'refuse' | 'ignore';
}

/**
 * Holds claimed results to those that were worked out again, value by value. Numbers may differ in the tenth digit; members of
 * lists that have an id are matched by their place and told by their id.
 */
export function compareClaims(
  claimed: unknown,
  found: unknown,
  { unclaimed }: ClaimOptions,
): ClaimComparison {
  const differences: ClaimDifference[] = [];
  const values = compare({ claimed, found }, [], { differences, unclaimed });
  return { values, differences };
}

interface Pair {
  readonly claimed: unknown;
  readonly found: unknown;
}

interface Comparing extends ClaimOptions {
  readonly differences: ClaimDifference[];
}

function compare({ claimed, found }: Pair, path: readonly string[], comparing: Comparing): number {
  if (isTree(claimed) && isTree(found) && Array.isArray(claimed) === Array.isArray(found)) {
    const more = comparing.unclaimed === 'refuse' || Array.isArray(found) ? Object.keys(found) : [];
    let values = 0;
    for (const key of new Set([...Object.keys(claimed), ...more])) {
      const pair = { claimed: claimed[key], found: found[key] };
      values += compare(pair, [...path, nameOf(pair, key)], comparing);
    }
    return values;
  }
  if (!same(claimed, found)) comparing.differences.push({ path: path.join('.'), claimed, found });
  return 1;
}

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/** A cell's id where there is one: the number of a place tells nobody anything. */
function nameOf({ claimed, found }: Pair, key: string): string {
  for (const side of [found, claimed]) {
    if (isTree(side) && typeof side['cell_id'] === 'string') return side['cell_id'];
  }
  return key;
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** A difference in words. */
export const differenceText = ({ path, claimed, found }: ClaimDifference): string =>
  `${path}: ${textOf(claimed)} is claimed, ${textOf(found)} comes out`;

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
