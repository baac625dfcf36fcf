import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedCatalogue } from '@perwatt/metrics';
import type { CellFile, RunFolder } from '@perwatt/records';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { html } from '../html.js';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { cellDetail } from './cell-detail.js';
import { cellPages } from './cell-pages.js';
import { siteOf } from './site-model.js';
import { sitePageHtml } from './site-shell.js';

let root = '';
let run: RunFolder;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-cell-detail-'));
  run = syntheticRun({ root, items: 60, repeats: 2, method: 'isolated', failing: 0.2, text: 'hint' });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const detailOf = (cell: CellFile) =>
  cellDetail(cell, { run, power: run.powerSeries(), clocks: run.manifest.clocks });

test('power stands on seconds since the measured window began, with the baselines around it', () => {
  const [cell] = run.cells();
  const { power } = detailOf(cell!);
  const window = power!.phases.find(({ kind }) => kind === 'measured window');
  const sitting = cell!.sittings[0]!;
  expect(window).toEqual({
    kind: 'measured window',
    start_s: 0,
    end_s: Number(BigInt(sitting.end_ns!) - BigInt(sitting.start_ns)) / 1e9,
  });
  expect(power!.phases.map(({ kind, start_s, end_s }) => [kind, Math.round(end_s - start_s)])).toEqual([
    ['idle, loaded', 3],
    ['idle, loaded', 3],
    ['measured window', Math.round(window!.end_s)],
  ]);
  const [trace] = power!.traces;
  const mean = (from: number, to: number) => {
    const own = trace!.power_w.filter(
      (value, i) => value !== null && trace!.t_s[i]! >= from && trace!.t_s[i]! < to,
    );
    return own.reduce<number>((sum, value) => sum + (value ?? 0), 0) / own.length;
  };
  expect(mean(-3, -0.2)).toBeCloseTo(9.5, 0);
  expect(mean(1, window!.end_s - 1)).toBeGreaterThan(20);
  expect(trace!.t_s.length).toBeLessThanOrEqual(1_500);
});

test('a steady window lies within the measured one, by the rule of the load', () => {
  const [cell] = run.cells();
  expect(detailOf(cell!).steady).toEqual({ phases: [], reason: 'no_steady_rule' });
  const steady = { rule: 'trim', start: { fraction: 0.25 }, end: { fraction: 0.25 } } as const;
  const { phases } = detailOf({ ...cell!, steady }).steady;
  const end_s = detailOf(cell!).power!.phases.at(-1)!.end_s;
  expect(phases).toHaveLength(1);
  expect(phases[0]!.start_s).toBeGreaterThan(0.2 * end_s);
  expect(phases[0]!.end_s).toBeLessThan(0.8 * end_s);
});

test('a hundred queries are spread over all, each with its texts, grade, span and measured energy', () => {
  const { queries, marks } = detailOf(run.cells()[0]!);
  expect(marks.start_s).toHaveLength(120);
  expect(queries).toHaveLength(100);
  expect(new Set(queries.map(({ repeat }) => repeat))).toEqual(new Set([0, 1]));
  expect(queries[0]).toMatchObject({
    prompt: 'What is 5 + 7? hint',
    answer: '5 + 7 = 12 hint',
    rule: 'numeric.last',
    energy_method: 'isolated',
    start_s: 0,
    calls: 1,
  });
  const starts = queries.map(({ start_s }) => start_s ?? Number.NaN);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
});

test('failed queries say what went wrong, withheld ones say nothing', () => {
  const cell = run.cells().at(-1)!;
  const failed = detailOf(cell).queries.filter(({ verdict }) => verdict === 'error');
  expect(failed.length).toBeGreaterThan(0);
  for (const { error } of failed) expect(error).toBe('idle_timeout: nothing came for 60 s');
  const provenance = {
    ...cell.provenance!,
    dataset: { ...cell.provenance!.dataset, withhold: true as const },
  };
  const { queries, withheld } = detailOf({ ...cell, provenance });
  expect(withheld).toBe(true);
  for (const { prompt, answer, extracted } of queries)
    expect([prompt, answer, extracted]).toEqual([null, null, null]);
});

test('every call that ended well is in the distributions', () => {
  const { distributions } = detailOf(run.cells()[0]!);
  expect(distributions.map(({ name, n }) => [name, n])).toEqual([
    ['First token', 120],
    ['Time per output token', 120],
    ['Call, to its last token', 120],
  ]);
  for (const { values } of distributions) expect(values).toEqual(values.toSorted((a, b) => a - b));
});

test('the page of a cell with many long and hostile texts stays below 300 kB', () => {
  const many = syntheticRun({
    root: join(root, 'many'),
    items: 1_200,
    models: ['m'],
    strategies: ['single'],
    completion: '<&"\u0000'.repeat(800),
    failing: 0.3,
  });
  const results = buildResults(many);
  const site = siteOf([{ run: many, results }], shippedCatalogue());
  const sizes = [...cellPages(site)].map((page) =>
    Buffer.byteLength(sitePageHtml(page, { name: 'many', pages: [], footer: html`` })),
  );
  expect(sizes).toHaveLength(2);
  for (const size of sizes) expect(size).toBeLessThan(300_000);
});
