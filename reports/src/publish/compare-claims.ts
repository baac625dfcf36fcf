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
  /** Metrics that come out and are claimed of no cell, by their ids: whoever claims less claims nothing wrong. */
  readonly unclaimed_metrics: readonly string[];
}

export interface ClaimOptions {
  /**
   * What else comes out and isn't claimed: `ignore` where the claim was made by another version, which may have told less.
   * Members of lists, as cells are, are never ignored.
   */
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
  const silent = silentMetrics(claimed, found);
  const values = compare({ claimed, found }, [], { differences, unclaimed, silent });
  return { values, differences, unclaimed_metrics: [...silent] };
}

/** Members that hold figures by the ids of metrics. */
const figureMembers: ReadonlySet<string> = new Set(['metrics', 'values']);

/** Ids below the members of figures of a tree. */
function metricIds(tree: unknown, ids = new Set<string>()): Set<string> {
  if (!isTree(tree)) return ids;
  for (const [key, value] of Object.entries(tree)) {
    if (figureMembers.has(key) && isTree(value) && !Array.isArray(value))
      for (const id of Object.keys(value)) ids.add(id);
    metricIds(value, ids);
  }
  return ids;
}

/** Metrics that come out and stand nowhere in the claim. One that is claimed of some cells is missed in the others. */
function silentMetrics(claimed: unknown, found: unknown): ReadonlySet<string> {
  const known = metricIds(claimed);
  return new Set([...metricIds(found)].filter((id) => !known.has(id)));
}

interface Pair {
  readonly claimed: unknown;
  readonly found: unknown;
}

interface Comparing extends ClaimOptions {
  readonly differences: ClaimDifference[];
  readonly silent: ReadonlySet<string>;
}

function compare({ claimed, found }: Pair, path: readonly string[], comparing: Comparing): number {
  if (isTree(claimed) && isTree(found) && Array.isArray(claimed) === Array.isArray(found)) {
    let values = 0;
    for (const key of new Set([...Object.keys(claimed), ...foundKeys(found, path, comparing)])) {
      const pair = { claimed: claimed[key], found: found[key] };
      values += compare(pair, [...path, nameOf(pair, key)], comparing);
    }
    return values;
  }
  if (!same(claimed, found)) comparing.differences.push({ path: path.join('.'), claimed, found });
  return 1;
}

/** Members of what came out that a claim must have. */
function foundKeys(found: Tree, path: readonly string[], { unclaimed, silent }: Comparing): string[] {
  if (Array.isArray(found)) return Object.keys(found);
  if (unclaimed === 'ignore') return [];
  const keys = Object.keys(found);
  return figureMembers.has(path.at(-1) ?? '') ? keys.filter((key) => !silent.has(key)) : keys;
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
