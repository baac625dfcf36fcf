import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedCatalogue, shippedPrices } from '@perwatt/metrics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { type SyntheticOptions, syntheticRun } from '../synthetic-run.fixture.js';
import { partFigures, phaseFigures } from './cell-parts.js';
import type { ComparableCell } from './comparable.js';
import { comparableRun } from './comparable-run.js';
import { compareCells } from './compare-cells.js';
import { compareFronts } from './compare-fronts.js';
import { comparisonGrid, comparisonMarkdown, comparisonNotes } from './comparison-text.js';
import { figureLines, figuresGrid } from './figures-text.js';
import { routeGroups } from './route-data.js';
import { type RouteQuestion, routerKinds, routeTable } from './route-table.js';
import { routeBlock } from './route-text.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-compare-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const catalogue = shippedCatalogue();

async function runOf(options: Omit<SyntheticOptions, 'root'>) {
  const run = syntheticRun({ root, strategies: ['single'], method: 'isolated', ...options });
  const results = await buildResults(run);
  return { run, results, cells: comparableRun({ run, results, contributions: 'read' }, catalogue) };
}

type Made = Awaited<ReturnType<typeof runOf>>;

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) });

describe('one model on two accelerators, one of 1.6 times the power, three repeats', () => {
  let made: Made;
  beforeAll(async () => {
    made = await runOf({ run_id: 'three', models: ['a'], accelerators: ['small', 'big'], repeats: 3 });
  });

  test('energy differs, paired on items and repeats, and the ratio is found', () => {
    const { rows, comparisons } = compareCells(made.cells, { by: 'accelerator' });
    const energy = rows.filter(({ metric }) => metric === 'energy_per_query_j');
    expect(energy.map(({ where }) => where)).toEqual([{ dataset: 'arithmetic' }, { dataset: 'choice' }]);
    for (const { verdict, estimate, baseline_value, other_value } of energy) {
      expect([baseline_value, other_value, verdict]).toEqual(['small', 'big', 'different']);
      expect(estimate).toMatchObject({
        pairing: 'paired',
        items: 30,
        repeats: 3,
        dropped_items: 0,
        scale: 'ratio',
      });
      expect(estimate?.value).toBeGreaterThan(1.5);
      expect(estimate?.value).toBeLessThan(1.7);
      expect(estimate?.lo).toBeLessThan(1.6);
      expect(estimate?.hi).toBeGreaterThan(1.6);
    }
    expect(comparisons).toBe(rows.filter(({ verdict }) => verdict !== null).length);
  });

  test('what one cell says and what the pair says are the same figures', () => {
    const [row] = compareCells(made.cells, { by: 'accelerator', metrics: ['energy_per_query_j'] }).rows;
    const ratio = (row?.other.value ?? 0) / (row?.baseline.value ?? 0);
    expect((row?.estimate?.value ?? 0) / ratio).toBeCloseTo(1, 1);
  });

  test('the other way round is one over it', () => {
    const value = (baseline: string) =>
      compareCells(made.cells, { by: 'accelerator', baseline, metrics: ['ipj_per_j'] }).rows[0]?.estimate
        ?.value ?? 0;
    expect(value('small') * value('big')).toBeCloseTo(1, 9);
  });

  test('p is larger by Holm, and needed items and repeats are told', () => {
    const [row] = compareCells(made.cells, { by: 'accelerator' }).rows;
    expect(row?.p_adjusted).toBeGreaterThanOrEqual(row?.estimate?.p ?? 1);
    const raw = compareCells(made.cells, { by: 'accelerator', correction: 'none' }).rows[0];
    expect(raw?.p_adjusted).toBe(raw?.estimate?.p);
    const energy = compareCells(made.cells, { by: 'accelerator', metrics: ['energy_per_query_j'] });
    expect(energy.rows[0]?.items_needed).toBeGreaterThan(0);
    expect(energy.rows[0]?.repeats_needed).toBeGreaterThanOrEqual(3);
    expect(comparisonNotes(energy).join('\n')).toMatch(
      /energy_per_query_j: \d+ items?, and \d+ repeats of each to see 5 %/,
    );
  });

  test('a front has its uncertainty, and its hypervolume the reference', () => {
    const fronts = compareFronts(made.cells, { metrics: ['accuracy', 'energy_per_query_j'] });
    expect(fronts.map(({ points }) => points.length)).toEqual([2, 2]);
    for (const { points, hypervolume, reference, context } of fronts) {
      expect(points.every(({ share }) => share !== null && share >= 0 && share <= 1)).toBe(true);
      expect(points.some(({ on_front }) => on_front === true)).toBe(true);
      const small = points.find(({ cell }) => cell === 'small');
      expect(small?.on_front).toBe(true);
      expect(small?.share).toBe(1);
      expect(reference['accuracy']).toBe(0);
      expect(hypervolume).toBeGreaterThan(0);
      expect(context).toMatch(/counter, package$/);
    }
    const one = compareFronts(made.cells, {
      metrics: ['accuracy', 'energy_per_query_j'],
      reference: [0, 1000],
    });
    expect(one[0]?.hypervolume).toBeGreaterThan((fronts[0]?.hypervolume ?? 0) + 100);
  });

  test('by repeat there is a figure for each, and their mean is the cell', () => {
    const parts = partFigures(made.run, made.cells, 'repeat').filter(
      ({ cell }) => cell.record === made.cells[0]?.record,
    );
    expect(parts.map(({ part }) => part)).toEqual(['0', '1', '2']);
    const values = parts.map(({ figures }) => figures['accuracy']?.value ?? Number.NaN);
    const whole = made.cells[0]?.figures['accuracy']?.value ?? 0;
    expect(values.reduce((sum, value) => sum + value, 0) / 3).toBeCloseTo(whole, 12);
  });

  test('phases of a cell add up to its energy', () => {
    const [cell] = made.cells;
    const parts = phaseFigures(made.results, [cell!]);
    const sum = parts.reduce((total, { figures }) => total + (figures['energy_j']?.value ?? Number.NaN), 0);
    expect(sum / (cell?.energy?.gross_j ?? 0)).toBeCloseTo(1, 6);
    expect(parts.map(({ part }) => part)).toEqual(expect.arrayContaining(['prefill', 'decode']));
  });

  test('lines can be picked and sorted, best first', () => {
    const entries = made.cells.map((cell) => ({ cell, part: null, figures: cell.figures }));
    const lines = figureLines(entries, {
      metrics: ['energy_per_query_j'],
      where: ['dataset=choice'],
      sort: 'energy_per_query_j',
    });
    expect(lines.map(({ entry }) => entry.cell.axes['accelerator'])).toEqual(['small', 'big']);
    const grid = figuresGrid(lines, 'cell');
    expect(grid.columns.map(({ name }) => name)).toEqual([
      'accelerator',
      'figure',
      'value',
      'interval',
      'sensors',
      'spread',
      'n',
      'power',
    ]);
    expect(grid.rows[0]?.at(-1)).toBe('counter package');
    expect(() =>
      figureLines(entries, { metrics: ['accuracy'], where: ['dataset=none'], sort: null }),
    ).toThrowError(refusal(/no cell with dataset=none; dataset has arithmetic, choice/));
  });
});

describe('two models and two strategies, one repeat', () => {
  let made: Made;
  beforeAll(async () => {
    made = await runOf({ run_id: 'one', strategies: ['single', 'self_consistency'], items: 40 });
  });

  test('no energy reads different, however far apart, and it says what to do', () => {
    const { rows, notes } = compareCells(made.cells, { by: 'model' });
    const energy = rows.filter(({ baseline }) => baseline.provenance !== null);
    expect(energy.length).toBeGreaterThan(0);
    expect(energy.every(({ verdict }) => verdict !== 'different')).toBe(true);
    expect(
      energy.some(({ reason }) => reason === 'between-run spread unknown: fewer than 3 shared repeats'),
    ).toBe(true);
    expect(notes.join('\n')).toMatch(/between-run spread unknown: .*`repeats: 3`/);
  });

  test('right-or-wrong answers are held to McNemar', () => {
    const { rows } = compareCells(made.cells, { by: 'model', metrics: ['accuracy'] });
    for (const { estimate } of rows) {
      expect(estimate).toMatchObject({ test: 'mcnemar', scale: 'difference', pairing: 'paired', items: 40 });
      expect(estimate?.discordant).toBeGreaterThan(0);
    }
    expect(rows[0]?.items_needed).toBeGreaterThan(40);
  });

  test('strategies are not ranked by IPW', () => {
    const asked = compareCells(made.cells, { by: 'strategy' });
    expect(asked.metrics).not.toContain('ipw_per_w');
    const { rows } = compareCells(made.cells, { by: 'strategy', metrics: ['ipw_per_w', 'ipj_per_j'] });
    const ipw = rows.filter(({ metric }) => metric === 'ipw_per_w');
    expect(ipw.every(({ verdict, reason }) => verdict === null && /ranked by IPJ/.test(reason))).toBe(true);
    expect(rows.some(({ metric, verdict }) => metric === 'ipj_per_j' && verdict !== null)).toBe(true);
  });

  test('by data set the workload is marked, not refused', () => {
    const { rows } = compareCells(made.cells, { by: 'dataset', metrics: ['accuracy'] });
    expect(
      rows.every(({ mixed }) => mixed.some((text) => text === 'dataset "arithmetic" and "choice"')),
    ).toBe(true);
  });

  test('latencies are paired by drawing the shared items again', () => {
    const { rows } = compareCells(made.cells, { by: 'model', metrics: ['ttft_any_p50_ns'] });
    const [row] = rows;
    expect(row?.estimate).toMatchObject({ pairing: 'paired', items: 40, scale: 'ratio', dropped_items: 0 });
    expect(row?.estimate?.value).toBeCloseTo((row?.other.value ?? 0) / (row?.baseline.value ?? 1), 9);
    const { lo = 1, hi = 1 } = row?.estimate ?? {};
    expect((lo - 1) * (hi - 1)).toBeGreaterThan(0);
    expect(row?.verdict).toBe('different');
  });

  test('a latency of few items is compared by its own interval, with the reason', async () => {
    const { cells } = await runOf({ run_id: 'few', items: 8 });
    const [row] = compareCells(cells, { by: 'model', metrics: ['ttft_any_p50_ns'] }).rows;
    expect(row?.estimate?.pairing).toBe('unpaired');
    expect(row?.estimate?.unpaired_reason).toMatch(/too few or too many/);
  });

  test.each([
    [{ by: 'colour' }, /no axis "colour", only model, accelerator/],
    [{ by: 'model', baseline: 'z' }, /no model "z", only/],
    [{ by: 'model', metrics: ['ipj'] }, /no figure "ipj"/],
    [{ by: 'accelerator' }, /no two cells differ in accelerator alone: all cells have the same accelerator/],
  ])('%j is refused', (options, message) => {
    expect(() => compareCells(made.cells, options)).toThrowError(refusal(message));
  });

  const question: RouteQuestion = {
    resource: 'energy_j',
    routers: routerKinds,
    accuracy: 0.8,
    strong_share: 0.5,
    seed: 1,
  };

  test('routing on one repeat says that it flatters, and its oracle is never beaten', () => {
    const groups = routeGroups(made.run, { catalogue, prices: shippedPrices() });
    expect(groups.map(({ strategy, repeats }) => [strategy, repeats])).toEqual([
      ['single', [0]],
      ['self_consistency', [0]],
    ]);
    const table = routeTable(groups[0]!, question);
    expect(table).toMatchObject({ strong: 'gemma3-270m', weak: 'smollm2-135m', scored_repeat: null });
    expect(table.notes.join('\n')).toMatch(/optimistic/);
    const of = (name: RegExp) => table.rows.filter(({ router }) => name.test(router));
    const [oracle] = of(/^oracle/);
    const [linear] = of(/80 % router, misroutes to strong/);
    expect(linear!.saving! / oracle!.saving!).toBeCloseTo(0.8, 9);
    expect(linear!.accuracy).toBeLessThanOrEqual(oracle!.accuracy! + 1e-12);
    expect(of(/misroutes/).every(({ accuracy }) => accuracy! <= oracle!.accuracy! + 1e-12)).toBe(true);
    expect(of(/^all to gemma3/)[0]).toMatchObject({ saving: 0, strong_share: 1 });
    expect(table.coverage.value).toBeGreaterThanOrEqual(table.coverage.best_single!.accuracy);
    expect(table.coverage.floor).toBeGreaterThan(0);
    const { head, grid } = routeBlock(table);
    expect(head.join('\n')).toMatch(
      /chosen and scored on repeat 0 \(\*\)\ncoverage .* guessing alone would cover/,
    );
    expect(grid.rows.every((row) => row.length === 6)).toBe(true);
  });

  test('what the catalogue and the prices lack is named', () => {
    const [group] = routeGroups(made.run, { catalogue, prices: shippedPrices() });
    expect(() => routeTable(group!, { ...question, resource: 'cost_usd' })).toThrowError(
      refusal(/no item has cost_usd.*cost of smollm2-135m: the price file has no such model/),
    );
    expect(() => routeTable(group!, { ...question, strong: 'x' })).toThrowError(refusal(/no model "x"/));
  });
});

test('two repeats: routes are chosen by one and scored on the other', async () => {
  const { run } = await runOf({ run_id: 'two', repeats: 2, items: 24 });
  const [group] = routeGroups(run, {
    catalogue,
    prices: shippedPrices(),
    models: ['gemma3-270m', 'smollm2-135m'],
  });
  const table = routeTable(group!, {
    resource: 'energy_j',
    routers: ['oracle', 'threshold'],
    accuracy: 0.8,
    strong_share: 0.3,
    seed: 0,
  });
  expect(table).toMatchObject({ chosen_repeat: 0, scored_repeat: 1 });
  const oracle = table.rows.find(({ router }) => router === 'oracle');
  expect(oracle).toMatchObject({ in_sample: false, items: 48 });
  expect(routeGroups(run, { catalogue, prices: shippedPrices(), models: ['gemma3-270m'] })).toEqual([]);
});

describe('a measured and an estimated run of one point', () => {
  let cells: readonly ComparableCell[] = [];
  beforeAll(async () => {
    const measured = await runOf({ run_id: 'measured', models: ['a'], repeats: 3 });
    const estimated = await runOf({ run_id: 'estimated', models: ['a'], repeats: 3, power: 'estimated' });
    cells = [...measured.cells, ...estimated.cells];
  });

  test('are refused with both named', () => {
    expect(() => compareCells(cells, { by: 'run' })).toThrowError(
      refusal(/differ in provenance "counter" and "estimated"/),
    );
  });

  test('are marked wherever they stand when asked for', () => {
    const comparison = compareCells(cells, { by: 'run', allow_mixed: true });
    const energy = comparison.rows.filter(({ baseline }) => baseline.provenance !== null);
    expect(energy.every(({ mixed }) => mixed.includes('provenance "counter" and "estimated"'))).toBe(true);
    expect(comparisonGrid(comparison).columns.map(({ name }) => name)).toContain('!');
    expect(comparisonNotes(comparison).join('\n')).toMatch(
      /! mixed:\n.*provenance "counter" and "estimated"/,
    );
    expect(comparisonMarkdown(comparison).join('\n')).toMatch(/\| ! \|/);
    expect(energy[0]?.other.provenance).toBe('estimated');
  });

  test('accuracy alone is no mix, and equal runs lie within noise', () => {
    const { rows } = compareCells(cells, { by: 'run', metrics: ['accuracy'] });
    expect(rows.map(({ verdict, mixed }) => [verdict, mixed])).toEqual([
      ['within noise', []],
      ['within noise', []],
    ]);
  });
});
