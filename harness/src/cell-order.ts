import {
  type BlockKind,
  type CellOrder,
  createRng,
  type PointAxis,
  pointAxes,
  seedFrom,
} from '@perwatt/core';
import type { CellPoint } from '@perwatt/records';

/** What of a cell decides its place. */
export interface Placeable {
  readonly point: CellPoint;
  /** Equal for cells that can go on with the same loaded model. */
  readonly load_key: string;
}

/** The rule by which cells follow one another. */
export interface OrderRule {
  readonly order: CellOrder;
  readonly blocks: BlockKind;
  readonly seed: number;
}

/** A cell with its block, from 0, and its place in it. */
export interface Placed<T> {
  readonly cell: T;
  readonly block: number;
  readonly block_position: number;
}

/** Blocks of an order where the matrix names none. */
export const defaultBlocks = (order: CellOrder): BlockKind =>
  order === 'interleave' || order === 'latin' ? 'loaded' : 'none';

/**
 * Cells in the order of their execution. `shuffle` permutes blocks, and cells within each, after Fisher and Yates.
 * `interleave` deals blocks, and cells within each, from the values of their first axis that varies in turn. `latin` takes
 * the rows of a Williams square (of a cyclic one for an odd number) as the orders of the blocks: with b blocks of n
 * treatments each one takes every place ⌊b/n⌋ or ⌈b/n⌉ times. Blocks of one cell each stand for no blocks.
 */
export function orderCells<T extends Placeable>(cells: readonly T[], rule: OrderRule): Placed<T>[] {
  const blocks = blocksOf(cells, rule.blocks);
  const ordered = orderBlocks(blocks, rule);
  return ordered.flatMap((block, b) => block.map((cell, i) => ({ cell, block: b, block_position: i })));
}

/** Cells that stay together, in the order of their first; without blocks all are one. */
function blocksOf<T extends Placeable>(cells: readonly T[], kind: BlockKind): T[][] {
  const keyOf = ({ load_key, point }: T) =>
    kind === 'none' ? '' : kind === 'loaded' ? load_key : (point[kind] ?? '');
  return [...grouped(cells, keyOf).values()];
}

function orderBlocks<T extends Placeable>(blocks: readonly T[][], rule: OrderRule): T[][] {
  const seed = seedFrom(rule.seed, 'cell order');
  if (rule.order === 'as-written') return [...blocks];
  if (rule.order === 'latin') return latin(blocks, seed);
  if (rule.order === 'interleave') {
    const first = firstVarying(blocks.flatMap((block) => block[0] ?? []));
    const axis = (block: readonly T[]) => (first === null ? '' : (block[0]?.point[first] ?? ''));
    return dealt(shuffle(blocks, seed), axis).map((block, b) =>
      interleaved(block, seedFrom(seed, 'block', b)),
    );
  }
  const mixed = blocks.length === 1 ? [...blocks] : shuffle(blocks, seed);
  return mixed.map((block, b) => shuffle(block, blocks.length === 1 ? seed : seedFrom(seed, 'block', b)));
}

function interleaved<T extends Placeable>(cells: readonly T[], seed: number): T[] {
  const axis = firstVarying(cells);
  return dealt(shuffle(cells, seed), (cell) => (axis === null ? '' : (cell.point[axis] ?? '')));
}

/** The first axis on which cells differ. */
const firstVarying = (cells: readonly Placeable[]): PointAxis | null =>
  pointAxes.find((axis) => new Set(cells.map(({ point }) => point[axis])).size > 1) ?? null;

/** Values dealt so that one follows another group as long as there is one: always from the group with most left. */
function dealt<T>(values: readonly T[], groupOf: (value: T) => string): T[] {
  const groups = [...grouped(values, groupOf)].map(([key, members]) => ({ key, left: members, next: 0 }));
  const out: T[] = [];
  let last: string | null = null;
  while (out.length < values.length) {
    const open = groups.filter(({ left, next }) => next < left.length);
    const others = open.filter(({ key }) => key !== last);
    const from = (others.length > 0 ? others : open).reduce((a, b) =>
      b.left.length - b.next > a.left.length - a.next ? b : a,
    );
    out.push(...from.left.slice(from.next, from.next + 1));
    from.next += 1;
    last = from.key;
  }
  return out;
}

/** Each block in the order of a row of the square, its rows and its letters shuffled. */
function latin<T extends Placeable>(blocks: readonly T[][], seed: number): T[][] {
  const varying = pointAxes.filter((axis) =>
    blocks.some((block) => new Set(block.map(({ point }) => point[axis])).size > 1),
  );
  const treatmentOf = ({ point }: T) => JSON.stringify(varying.map((axis) => point[axis]));
  const treatments = shuffle([...grouped(blocks.flat(), treatmentOf).keys()], seedFrom(seed, 'letters'));
  const n = treatments.length;
  const rows = shuffle(
    Array.from({ length: n }, (_, i) => i),
    seedFrom(seed, 'rows'),
  );
  return shuffle(blocks, seed).map((block, b) => {
    const row = squareRow(rows[b % n] ?? 0, n);
    const placeOf = new Map(row.map((letter, place) => [treatments[letter], place]));
    return block.toSorted((x, y) => (placeOf.get(treatmentOf(x)) ?? 0) - (placeOf.get(treatmentOf(y)) ?? 0));
  });
}

/** Row `i` of a Latin square of `n` letters: Williams' for even `n`, cyclic for odd. */
export function squareRow(i: number, n: number): number[] {
  return Array.from({ length: n }, (_, j) => {
    const step = n % 2 === 1 ? j : j % 2 === 1 ? (j + 1) / 2 : (n - j / 2) % n;
    return (step + i) % n;
  });
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Fisher and Yates, from a seed. */
function shuffle<T>(values: readonly T[], seed: number): T[] {
  const rng = createRng(seed);
  const out = [...values];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(rng() * (i + 1));
    const [a, b] = [out[i], out[j]];
    if (a !== undefined && b !== undefined) [out[i], out[j]] = [b, a];
  }
  return out;
}
