import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedCatalogue } from '@perwatt/metrics';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import type { RunResults } from '../results-types.js';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { pooledCells } from './pooled-cells.js';
import { cellNamer, siteOf } from './site-model.js';

let root = '';
let results: RunResults;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-site-model-'));
  results = buildResults(syntheticRun({ root, items: 4, run_id: 'one' }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const site = (...all: RunResults[]) =>
  siteOf(
    all.map((own) => ({ results: own, run: null })),
    shippedCatalogue(),
  );

test('one run keeps its cell ids, several have theirs before them, and none is taken twice', () => {
  expect(site(results).cells.map(({ key }) => key)).toEqual(results.cells.map(({ cell_id }) => cell_id));
  const keys = site(results, { ...results, run_id: '../o ne' }, results).cells.map(({ key }) => key);
  expect(new Set(keys).size).toBe(24);
  for (const key of keys) expect(key).toMatch(/^(one|o-ne)\.c0{11}[0-7](-\d)?$/);
});

test('two devices of one name on two hosts are two accelerators, on one host they are one', () => {
  const other: RunResults = { ...results, run_id: 'two', host: { ...results.host, hostname: 'elsewhere' } };
  const names = (own: ReturnType<typeof site>) => [
    ...new Set(own.merged.cells.map(({ point }) => point.accelerator)),
  ];
  expect(names(site(results, other))).toEqual(['host-cpu on bench-1', 'host-cpu on elsewhere']);
  expect(names(site(results, { ...results, run_id: 'two' }))).toEqual(['host-cpu']);
});

test('a point that two runs have is named with its run, any other is not', () => {
  const more: RunResults = { ...results, run_id: 'two', cells: results.cells.slice(0, 1) };
  const own = site(results, more);
  const names = own.merged.cells.map((cell) => cellNamer(own)(cell, ['model', 'strategy']));
  const [first] = results.cells;
  const name = `${first?.point.model} · ${first?.point.strategy}`;
  expect(names.filter((text) => text.split(' · ').length > 2).sort()).toEqual([
    `${name} · one`,
    `${name} · two`,
  ]);
});

test('a front is one over all runs: a cell that another run beats is on none', () => {
  const better: RunResults = {
    ...results,
    run_id: 'two',
    cells: results.cells.map((cell) => ({
      ...cell,
      metrics: {
        ...cell.metrics,
        energy_per_query_j: { ...cell.metrics.energy_per_query_j, value: 1e-3 },
        accuracy: { ...cell.metrics.accuracy, value: 1 },
      },
    })),
  };
  const fronts = site(results, better).merged.cells.filter(({ on_front }) => on_front);
  expect(results.cells.some(({ on_front }) => on_front)).toBe(true);
  expect(fronts.every(({ cell_id }) => cell_id.startsWith('two.'))).toBe(true);
});

test('means over data sets are plain means of configurations that ran all of them; half-widths add in squares', () => {
  const [pooled] = pooledCells(results, () => 'one');
  expect(pooled?.name).toBe('mean over 2 data sets');
  expect(pooled?.cells).toHaveLength(4);
  const [first] = pooled?.cells ?? [];
  const own = results.cells.filter(
    ({ point }) => point.model === first?.point.model && point.strategy === first.point.strategy,
  );
  const [a, b] = own.map(({ metrics }) => metrics.accuracy);
  expect(own).toHaveLength(2);
  expect(first?.metrics.accuracy.value).toBeCloseTo((a!.value! + b!.value!) / 2, 12);
  expect(first!.metrics.accuracy.hi! - first!.metrics.accuracy.value!).toBeCloseTo(
    Math.hypot(a!.hi! - a!.value!, b!.hi! - b!.value!) / 2,
    12,
  );
  const without = { cells: results.cells.slice(1) };
  expect(pooledCells(without, () => 'one')[0]?.cells).toHaveLength(3);
  expect(pooledCells({ cells: own.slice(0, 1) }, () => 'one')).toEqual([]);
});
