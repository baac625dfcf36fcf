import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricId } from '@perwatt/metrics';
import type { RunFolder } from '@perwatt/records';
import { expect, onTestFinished, test } from 'vitest';
import { buildResults } from './build-results.js';
import { loadFigure } from './load-figure.js';
import { loadTable } from './load-table.js';
import { reportPage } from './page.js';
import { loadSection } from './page-load.js';
import { resultsCsv } from './results-csv.js';
import { resultsTable } from './results-table.js';
import type { CellResult, RunResults } from './results-types.js';
import { type SyntheticOptions, syntheticRun } from './synthetic-run.fixture.js';

const evil = '<img src=x onerror=1>';

/** A run of one model under two loads on each of two data sets: what were accelerators are loads. */
function loadedRun(options: Partial<SyntheticOptions> = {}): RunFolder {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-load-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = syntheticRun({
    root,
    items: 8,
    models: ['m'],
    strategies: ['single'],
    accelerators: ['c1', 'c4'],
    ...options,
  });
  for (const cell of run.cells())
    run.writeCell({
      ...cell,
      point: { ...cell.point, load: cell.point.accelerator, accelerator: 'host-cpu' },
      sittings: cell.sittings.map((sitting) => ({
        ...sitting,
        loop: {
          kind: 'open',
          schedule_sha256: 'aa',
          offered_per_s: 2,
          due: 8,
          waited: 3,
          most_in_flight: 4,
        },
        server_load: {
          names: 'vllm',
          readings: 12,
          failed: 1,
          running: { mean: 2.5, max: 4 },
          waiting: { mean: 0, max: 1 },
          kv_cache_ratio: { mean: 0.25, max: 0.5 },
          prompt_tokens: 320,
          generation_tokens: 72,
        },
      })),
      provenance: cell.provenance && {
        ...cell.provenance,
        endpoint: {
          ...cell.provenance.endpoint,
          server: {
            id: 'engine',
            kind: 'vllm',
            version: '9.8.7',
            argv: ['vllm', 'serve', '--max-num-seqs', '4', evil],
            model: 'org/m',
            request_model: 'm',
            image: null,
            image_digest: null,
            agent: null,
            ready_ms: 2500,
            log: 'engine-0.log',
          },
        },
      },
    });
  return run;
}

/** The cells of a result with some of their metrics set. */
const withMetrics = (
  results: RunResults,
  values: (cell: CellResult) => Partial<Record<MetricId, number>>,
): RunResults => ({
  ...results,
  cells: results.cells.map((cell) => ({
    ...cell,
    metrics: {
      ...cell.metrics,
      ...Object.fromEntries(
        Object.entries(values(cell)).map(([id, value]) => [
          id,
          { ...cell.metrics[id as MetricId], value, reason: null },
        ]),
      ),
    },
  })),
});

test('the curve has one line for each data set, its loads in order of throughput, joules with their bounds', () => {
  const figure = loadFigure(buildResults(loadedRun()));
  const lines = figure?.data as { readonly x: number[]; readonly text: string[]; readonly name: string }[];
  expect(lines.map(({ name }) => name)).toEqual([
    'm · host-cpu · arithmetic · single',
    'm · host-cpu · choice · single',
  ]);
  for (const { x, text } of lines) {
    expect(text.toSorted()).toEqual(['c1', 'c4']);
    expect(x).toEqual(x.toSorted((a, b) => a - b));
  }
  expect(JSON.stringify(figure?.layout)).toContain('Energy per output token (J)');
});

test('estimated joules are named on the curve, drawn open and dotted', () => {
  const figure = loadFigure(buildResults(loadedRun({ power: 'estimated' })));
  expect(figure?.data[0]).toMatchObject({ line: { dash: 'dot' }, marker: { symbol: 'circle-open' } });
  expect(JSON.stringify(figure?.layout)).toContain('Energy per output token (J, estimated)');
});

test('figures of steady windows make the curve where cells have them', () => {
  const results = withMetrics(buildResults(loadedRun()), ({ point }) => ({
    steady_tokens_per_s: point.load === 'c1' ? 10 : 30,
    steady_energy_per_output_token_j: point.load === 'c1' ? 4 : 2,
  }));
  const figure = loadFigure(results);
  expect(figure?.data[0]).toMatchObject({ x: [10, 30], y: [4, 2], text: ['c1', 'c4'] });
  expect(JSON.stringify(figure?.layout)).toContain('in the steady window');
});

test('one load has no curve and no table, and no power no curve', () => {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-load-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const plain = buildResults(syntheticRun({ root, items: 4 }));
  expect(loadFigure(plain)).toBeNull();
  expect(loadTable(plain, 200)).toEqual([]);
  expect(loadSection(plain).markup).toBe('');
  expect(loadFigure(buildResults(loadedRun({ power: 'none' })))).toBeNull();
});

test('rates, goodput and lag stand in the terminal, in columns that some cell has', () => {
  const results = withMetrics(buildResults(loadedRun({ power: 'none' })), () => ({
    offered_per_s: 2,
    goodput_per_s: 1.5,
    good_fraction: 0.75,
    lag_p50_ns: 1e6,
    lag_p99_ns: 4e6,
    e2e_from_schedule_p99_ns: 2e9,
  }));
  const [, head, first] = loadTable(results, 200);
  expect(head?.split(/ {2,}/)).toEqual([
    'model',
    'dataset',
    'load',
    'offered/s',
    'sent/s',
    'goodput/s',
    'good',
    'lag p50',
    'lag p99',
    'since due p99',
  ]);
  expect(first).toMatch(/^m +arithmetic +c\d +2\.00 +\S+ +1\.50 +75 % +1\.00 ms +4\.00 ms +2\.00 s$/);
  expect(resultsTable(results, 200)).toContain(head);
  expect(loadTable(results, 60).at(-1)).toMatch(/^not shown for want of room: lag p50/);
});

test('the page tells how calls were sent, what servers said and what was started, every text escaped', () => {
  const results = withMetrics(buildResults(loadedRun()), () => ({ offered_per_s: 2, goodput_per_s: 1.5 }));
  const page = reportPage(results, '');
  const section = page.slice(page.indexOf('<section id="load">'), page.indexOf('<section id="ledger">'));
  for (const said of [
    'Offered',
    'Goodput',
    'Idle share',
    '>3<',
    '2.50 (4.00)',
    '25 % (50 %)',
    '>320<',
    '>72<',
  ])
    expect(section).toContain(said);
  expect(section).toContain('12 readings, 1 failed');
  expect(section).toContain('vllm<small>llama.cpp 9.8.7</small>');
  expect(section).toContain('vllm serve --max-num-seqs 4 &lt;img');
  expect(page).not.toContain(evil);
  expect(page).toContain('id="load-curve"');
  expect(section.match(/Engines that were started/g)).toHaveLength(1);
});

test('the table file has how calls were sent and what servers said', () => {
  const [head = '', first = ''] = resultsCsv(buildResults(loadedRun())).split('\n');
  const row = Object.fromEntries(head.split(',').map((name, i) => [name, first.split(',')[i]]));
  expect(row).toMatchObject({
    loop: 'open',
    loop_waited: '3',
    loop_most_in_flight: '4',
    server_running_mean: '2.5',
    server_kv_cache_max_ratio: '0.5',
    server_generation_tokens: '72',
    goodput_per_s: '',
    goodput_per_s__reason: 'no_slo',
  });
});
