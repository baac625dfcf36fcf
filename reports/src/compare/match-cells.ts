import { closest, PerwattError } from '@perwatt/core';
import { axesOf, axisValue, type ComparableCell, cellLabel } from './comparable.js';

/** Two cells that agree on every axis but the one they are compared by. */
export interface CellPair {
  readonly baseline: ComparableCell;
  readonly other: ComparableCell;
}

export interface MatchOptions {
  /** Axis to compare by: one of the cells' own, `run` or `record`. */
  readonly by: string;
  /** Value on that axis that the others are compared with. Default: the first that a group of cells has. */
  readonly baseline?: string;
  /** Axes that must agree. Default: all others. */
  readonly match?: readonly string[];
}

/** The pairs, and the cells that have no partner. */
export interface MatchedCells {
  readonly pairs: readonly CellPair[];
  /** Axes on which the pairs differ from one another. */
  readonly varying: readonly string[];
  readonly left_out: readonly { readonly cell: string; readonly reason: string }[];
}

/** Always there beside the cells' own axes. */
const ownAxes = ['run', 'record'];

function checkAxes(cells: readonly ComparableCell[], { by, match = [] }: MatchOptions): void {
  const known = [...axesOf(cells), ...ownAxes];
  for (const axis of [by, ...match]) {
    if (known.includes(axis)) continue;
    const guess = closest(axis, known);
    throw new PerwattError('INPUT_INVALID', `no axis "${axis}", only ${known.join(', ')}`, {
      hint: guess == null ? 'Name one of the axes.' : `Did you mean "${guess}"?`,
    });
  }
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Groups by what must agree; where runs repeat a point, within each run. */
function groupsOf(
  cells: readonly ComparableCell[],
  by: string,
  fixed: readonly string[],
): ComparableCell[][] {
  const whole = [...groupBy(cells, (cell) => cellLabel(cell, fixed)).values()];
  const isSingle = (group: readonly ComparableCell[]) =>
    new Set(group.map((cell) => axisValue(cell, by))).size === group.length;
  return whole.flatMap((group) =>
    by === 'run' || by === 'record' || isSingle(group)
      ? [group]
      : [...groupBy(group, ({ run_id }) => run_id).values()],
  );
}

type Left = MatchedCells['left_out'][number];

interface Grouped {
  readonly pairs: CellPair[];
  readonly left: Left[];
}

/** The pairs of one group; a value that several cells have can't be told which of them is meant. */
function pairsOf(group: readonly ComparableCell[], { by, baseline }: MatchOptions): Grouped {
  const byValue = groupBy(group, (cell) => axisValue(cell, by));
  const left = (cells: readonly ComparableCell[], reason: string): Left[] =>
    cells.map((cell) => ({ cell: cellLabel(cell), reason }));
  const several = [...byValue.values()].filter((cells) => cells.length > 1);
  const single = [...byValue.values()].filter((cells) => cells.length === 1).flat();
  const twice = several.flatMap((cells) =>
    left(cells, `${cells.length} cells of one configuration: compare them by record`),
  );
  const base = baseline === undefined ? single[0] : single.find((cell) => axisValue(cell, by) === baseline);
  if (base === undefined)
    return { pairs: [], left: [...twice, ...left(single, `no ${by} "${baseline ?? ''}" beside it`)] };
  const others = single.filter((cell) => cell !== base);
  const alone = others.length === 0 ? left([base], `no other ${by} beside it`) : [];
  return { pairs: others.map((other) => ({ baseline: base, other })), left: [...twice, ...alone] };
}

const differing = (a: ComparableCell, b: ComparableCell, axes: readonly string[]): string[] =>
  axes.filter((axis) => axisValue(a, axis) !== axisValue(b, axis));

/** Cells that a message is picked from. */
const MOST_LOOKED_AT = 400;

/** Two cells of different value that agree on as much as any two do, for a message; null where nothing parts them. */
function nearest(cells: readonly ComparableCell[], by: string, fixed: readonly string[]): string | null {
  const byValue = [...groupBy(cells, (cell) => axisValue(cell, by)).values()];
  const each = Math.max(1, Math.floor(MOST_LOOKED_AT / byValue.length));
  const few = byValue.flatMap((own) => own.slice(0, each)).slice(0, MOST_LOOKED_AT);
  let best: { readonly a: ComparableCell; readonly b: ComparableCell; readonly axes: string[] } | null = null;
  for (const [i, a] of few.entries()) {
    for (const b of few.slice(i + 1)) {
      if (axisValue(a, by) === axisValue(b, by)) continue;
      const axes = differing(a, b, fixed);
      if (best === null || axes.length < best.axes.length) best = { a, b, axes };
    }
  }
  if (best === null) return `all cells have the same ${by}`;
  const { a, b, axes } = best;
  if (axes.length === 0) return null;
  const texts = axes.map((axis) => `${axis} ("${axisValue(a, axis)}" and "${axisValue(b, axis)}")`);
  return `the nearest two, ${by} "${axisValue(a, by)}" and "${axisValue(b, by)}", differ in ${texts.join(', ')} too`;
}

/**
 * Pairs of cells that agree on all axes but one, in the order of the cells, each beside its group's baseline. Throws
 * `INPUT_INVALID` for an unknown axis or baseline, and where no two cells match, naming the nearest two and what
 * parts them.
 */
export function matchCells(cells: readonly ComparableCell[], options: MatchOptions): MatchedCells {
  checkAxes(cells, options);
  const { by, baseline, match } = options;
  const values = [...new Set(cells.map((cell) => axisValue(cell, by)))];
  if (baseline !== undefined && !values.includes(baseline))
    throw new PerwattError('INPUT_INVALID', `no ${by} "${baseline}", only ${values.slice(0, 20).join(', ')}`);
  const fixed = (match ?? axesOf(cells)).filter((axis) => axis !== by);
  const groups = groupsOf(cells, by, fixed).map((group) => pairsOf(group, options));
  const pairs = groups.flatMap((group) => group.pairs);
  const left_out = groups.flatMap(({ left }) => left);
  if (pairs.length === 0) {
    const why = nearest(cells, by, fixed) ?? `${left_out[0]?.cell}: ${left_out[0]?.reason}`;
    throw new PerwattError('INPUT_INVALID', `no two cells differ in ${by} alone: ${why}`, {
      hint: 'Compare by another axis, or name the axes that must agree with `--match`; what differs is then refused or flagged.',
    });
  }
  const varying = fixed.filter((axis) => new Set(pairs.map(({ other }) => axisValue(other, axis))).size > 1);
  return { pairs, varying, left_out };
}
