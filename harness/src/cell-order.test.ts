import { fc, test as property } from '@fast-check/vitest';
import type { CellOrder } from '@perwatt/core';
import { expect, test } from 'vitest';
import { defaultBlocks, orderCells, type Placeable, squareRow } from './cell-order.js';

const cellOrders: readonly CellOrder[] = ['shuffle', 'interleave', 'latin', 'as-written'];

const grid = (models: number, strategies: number, loads = 1): Placeable[] =>
  Array.from({ length: models * strategies * loads }, (_, i) => {
    const model = `m${Math.floor(i / (strategies * loads))}`;
    const strategy = `s${Math.floor(i / loads) % strategies}`;
    return {
      point: { model, accelerator: 'a', dataset: 'd', strategy, load: `c${i % loads}` },
      load_key: `${model} × ${i % loads}`,
    };
  });

const names = (placed: readonly { readonly cell: Placeable }[]) =>
  placed.map(({ cell }) => `${cell.point.model}${cell.point.strategy}${cell.point.load}`);

const rule = (order: CellOrder, seed = 1) => ({ order, blocks: defaultBlocks(order), seed });

property.prop([
  fc.constantFrom(...cellOrders),
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: 3 }),
  fc.nat(1000),
])('every order ends, keeps every cell once and is the same for the same seed', (order, m, s, l, seed) => {
  const cells = grid(m, s, l);
  const placed = orderCells(cells, rule(order, seed));
  expect(names(placed).toSorted()).toEqual(names(cells.map((cell) => ({ cell }))).toSorted());
  expect(names(orderCells(cells, rule(order, seed)))).toEqual(names(placed));
});

property.prop([fc.constantFrom(...cellOrders), fc.integer({ min: 1, max: 5 }), fc.nat(1000)])(
  'blocks of the loaded model stay together, numbered from 0 with places from 0',
  (order, models, seed) => {
    const placed = orderCells(grid(models, 3, 2), { order, blocks: 'loaded', seed });
    const runs = placed.filter(({ cell }, i) => cell.load_key !== placed[i - 1]?.cell.load_key);
    expect(runs).toHaveLength(models * 2);
    expect(runs.map(({ block }) => block)).toEqual(Array.from(runs, (_, i) => i));
    expect(runs.every(({ block_position }) => block_position === 0)).toBe(true);
  },
);

test('as written is as written; another seed shuffles otherwise', () => {
  const cells = grid(3, 4);
  const written = names(cells.map((cell) => ({ cell })));
  expect(names(orderCells(cells, rule('as-written')))).toEqual(written);
  expect(names(orderCells(cells, rule('shuffle')))).not.toEqual(written);
  expect(names(orderCells(cells, rule('shuffle', 2)))).not.toEqual(names(orderCells(cells, rule('shuffle'))));
});

test('interleave without blocks never puts two cells of one model side by side when they are even', () => {
  for (const seed of [1, 2, 3]) {
    const placed = orderCells(grid(3, 4), { order: 'interleave', blocks: 'none', seed });
    const models = placed.map(({ cell }) => cell.point.model);
    expect(models.filter((model, i) => model === models[i - 1])).toEqual([]);
  }
});

test('an uneven interleave keeps neighbours apart as long as another value is left', () => {
  const cells = grid(3, 3).filter(
    ({ point }) => point.model !== 'm2' && (point.model === 'm0' || point.strategy !== 's0'),
  );
  const placed = orderCells(cells, { order: 'interleave', blocks: 'none', seed: 1 });
  expect(placed.map(({ cell }) => cell.point.model)).toEqual(['m0', 'm1', 'm0', 'm1', 'm0']);
});

test.each([2, 3, 4, 5, 6])('latin gives each of %i treatments every place equally often', (n) => {
  const blocks = 2 * n;
  const placed = orderCells(grid(blocks, n), rule('latin'));
  const counts = new Map<string, number>();
  for (const { cell, block_position } of placed) {
    const key = `${cell.point.strategy} at ${block_position}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect(counts.size).toBe(n * n);
  expect(new Set(counts.values())).toEqual(new Set([2]));
});

test('a drift over time biases as-written more than ten times as much as latin', () => {
  const bias = (order: CellOrder) => {
    const placed = orderCells(grid(6, 6), { order, blocks: 'loaded', seed: 5 });
    const watts = (s: string) =>
      placed
        .flatMap(({ cell }, i) => (cell.point.strategy === s ? [100 * (1 + 0.01 * i)] : []))
        .reduce((a, b) => a + b / 6, 0);
    return Math.abs(watts('s5') / watts('s0') - 1);
  };
  expect(bias('as-written')).toBeGreaterThan(0.04);
  expect(bias('latin')).toBeLessThan(0.004);
});

test('a square of even size lets every ordered pair of neighbours happen once', () => {
  const pairs = Array.from({ length: 6 }, (_, i) => squareRow(i, 6)).flatMap((row) =>
    row.slice(1).map((letter, j) => `${row[j]}${letter}`),
  );
  expect(new Set(pairs).size).toBe(30);
});
