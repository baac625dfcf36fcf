import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PublishedRow } from '@perwatt/core';
import { shippedCatalogue } from '@perwatt/metrics';
import type { PublishedRun } from '@perwatt/records';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { writeSite } from '../site/write-site.js';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { readPlotlySource } from '../write-report.js';
import { importedResults } from './imported-results.js';
import { importedSite } from './imported-site.js';
import { importedTrades } from './imported-trades.js';
import { writeImportedSite } from './write-imported-site.js';

const evil = `"><script>window.broken=1</script>\u202e=cmd()`;

const row = (source_row: number, own: Partial<PublishedRow> = {}): PublishedRow => ({
  run_id: 'board',
  source: 'a-board',
  source_version: 'abc1234',
  source_file: 'board.csv',
  source_row,
  item_id: null,
  model: 'qwen3-4b',
  weight_format: 'int4',
  total_params: null,
  active_params: null,
  accelerator: 'T4',
  devices: 1,
  engine: null,
  dataset: 'chat',
  concurrency: 8,
  setting: '{}',
  phase: 'all',
  metric: 'energy_per_output_token_j',
  unit: 'J',
  value: 0.5,
  lo: null,
  hi: null,
  spread: null,
  spread_kind: null,
  n: null,
  statistic: 'mean',
  basis: 'measured',
  bound: 'none',
  scope: 'gpu',
  boundary: 'one board',
  window: 'steady',
  rankable: true,
  flags: null,
  reason: null,
  provenance: 'published',
  licence: 'CC-BY-4.0',
  citation: 'Doe, A board',
  date: '2026-01-01',
  note: null,
  ...own,
});

const speed = (source_row: number, value: number, own: Partial<PublishedRow> = {}) =>
  row(source_row, { metric: 'tokens_per_s', unit: '1/s', value, scope: null, boundary: null, ...own });

/** Three records of which one has a peak for its watts, one of a whole file, one of a single query. */
const rows: readonly PublishedRow[] = [
  row(1, { value: 0.5, lo: 0.45, hi: 0.55, n: 3 }),
  speed(1, 100),
  row(2, { model: evil, value: 0.4, concurrency: 32, flags: 'repeated_key' }),
  speed(2, 90, { model: evil, concurrency: 32 }),
  row(3, { value: 0.1, concurrency: 64, statistic: 'peak', bound: 'upper', rankable: false }),
  speed(3, 120, { concurrency: 64 }),
  row(4, { value: null, reason: 'sensor_failed', concurrency: 128 }),
  row(0, { metric: 'accuracy', unit: '1', value: 0.7, scope: null, concurrency: null }),
  row(5, { item_id: 'q1', value: 9 }),
];

const run: PublishedRun = {
  manifest: {
    schema_version: 1,
    kind: 'published',
    run_id: 'board',
    perwatt_version: '0.1.0',
    importer: { kind: 'a-board', version: 2 },
    imported: '2026-02-01T00:00:00.000Z',
    files: [
      { file: 'in/board.csv', bytes: 2000, sha256: 'ab'.repeat(32), source_version: 'abc1234', records: 5 },
    ],
    segment: {
      file: 'published-0.arrows',
      table: 'published',
      sitting: 0,
      rows: 9,
      batches: 1,
      bytes: 1,
      sha256: '',
    },
  },
  rows,
  torn: [],
};
const site = importedSite([run], shippedCatalogue());

describe('imported figures as data', () => {
  const data = importedResults(site);
  const at = (id: string) => data.columns.findIndex((column) => column.id === id);
  const figure = (record: number, id: string) => data.rows[record]?.figures[at(id)];

  test('have a row a record, whole files among them and single queries not, with the place each stands in', () => {
    expect(data.rows.map(({ axes }) => axes.at(-1))).toEqual([
      'board.csv:1',
      'board.csv:2',
      'board.csv:3',
      'board.csv:4',
      'board.csv:0',
    ]);
    expect(data.axes.map(({ name }) => name)).toEqual(['model', 'load', 'record']);
    expect(data.noun).toBe('record');
  });

  test('tell range, n and a statistic that is no mean, and why a value is missing', () => {
    expect(figure(0, 'energy_per_output_token_j')).toMatchObject({ v: 0.5, below: '[0.45, 0.55] · n = 3' });
    expect(figure(2, 'energy_per_output_token_j')).toMatchObject({ text: '≤ 0.100', below: 'peak' });
    expect(data.reasons[figure(3, 'energy_per_output_token_j') as number]).toBe('sensor failed');
    expect(data.reasons[figure(0, 'accuracy') as number]).toBe('its source does not tell it');
  });

  test('are marked as published where there is power in them, and flagged with a sentence', () => {
    expect(data.rows.map(({ tiers }) => tiers.map(([word]) => word))).toEqual([
      ['published'],
      ['published'],
      ['published'],
      ['published'],
      [],
    ]);
    expect(data.rows[1]?.reasons).toEqual([['repeated key', expect.stringContaining('same configuration')]]);
  });

  test('stand on no front where they are peaks or bounds, and with their own kind alone', () => {
    const trades = importedTrades(site);
    const energy = trades?.columns.findIndex(({ id }) => id === 'energy_per_output_token_j') ?? -1;
    const point = (place: string) => trades?.points.find(({ id }) => id === `board/board.csv:${place}`);
    expect(point('1')?.group).toBe(point('2')?.group);
    expect(point('3')?.group).not.toBe(point('1')?.group);
    expect(point('3')?.figures[energy]?.[4]).toBe('unranked');
    expect(point('1')?.figures[energy]?.[4]).toBeUndefined();
    expect(trades?.points.every(({ tier }) => tier === 'published')).toBe(true);
  });
});

const CHROMIUM = '/usr/bin/chromium';
const here = existsSync(CHROMIUM);
if (!here)
  process.stderr.write(`skipped: pages of imported runs in a browser, because ${CHROMIUM} is missing\n`);

describe('a site of imported runs', () => {
  let root = '';
  let browser: Browser | null = null;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'perwatt-imported-'));
    const plotlySource = await readPlotlySource();
    await writeImportedSite([run], join(root, 'alone'), { plotlySource });
    const measured = syntheticRun({ root, items: 4, models: ['qwen3-4b'], strategies: ['single'] });
    const results = buildResults(measured);
    await writeSite([{ run: measured, results }], join(root, 'beside'), { plotlySource, imports: [run] });
    if (here)
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(root, { recursive: true, force: true });
  });
  const page = (path: string) => readFileSync(join(root, path), 'utf8');
  const pagesOf = (folder: string) =>
    readdirSync(join(root, folder)).filter((name) => name.endsWith('.html'));

  test('says which tool read which file, by its sha256, and what cannot be there', () => {
    expect(pagesOf('alone').sort()).toEqual(['index.html', 'method.html', 'pareto.html', 'results.html']);
    const text = page('alone/index.html');
    for (const part of [
      'a-board</code> version 2',
      'in/board.csv',
      'ab'.repeat(32),
      'abc1234',
      'CC-BY-4.0',
      'sensor failed',
      'gpu: one board',
      '1 are upper bounds',
      'What is not here, and why',
    ])
      expect(text, part).toContain(part);
    expect(page('alone/published.csv').trimEnd().split('\n')).toHaveLength(1 + rows.length);
  });

  test('stands apart from measured runs: pages of its own, and none of its records among the cells', () => {
    expect(pagesOf('beside')).toEqual(
      expect.arrayContaining([
        'published.html',
        'published-results.html',
        'published-pareto.html',
        'index.html',
      ]),
    );
    expect(page('beside/results.html')).not.toContain('board.csv');
    expect(page('beside/pareto.html')).not.toContain('board.csv');
    expect(page('beside/published-results.html')).toContain('board.csv:1');
    expect(page('beside/results.json')).not.toContain('board');
    expect(existsSync(join(root, 'beside/published.json'))).toBe(true);
  });

  test.skipIf(!here)(
    'opens without errors or requests, sorts, filters, draws, and hostile names are inert',
    { timeout: 120_000 },
    async () => {
      for (const path of [
        ...pagesOf('alone').map((name) => `alone/${name}`),
        'beside/published.html',
        'beside/published-results.html',
        'beside/published-pareto.html',
      ]) {
        const tab = await browser!.newPage({ viewport: { width: 390, height: 800 } });
        const trouble: string[] = [];
        tab.on('console', (message) => trouble.push(message.text()));
        tab.on('pageerror', (error) => trouble.push(error.message));
        tab.on('request', (request) => {
          if (!/^(file|data|blob):/.test(request.url())) trouble.push(request.url());
        });
        await tab.goto(`file://${root}/${path}`);
        await tab.waitForSelector('html[data-ready]');
        expect(
          await tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
          path,
        ).toBe(0);
        expect(await tab.evaluate('typeof window.broken'), path).toBe('undefined');
        if (path.endsWith('results.html')) {
          expect(await tab.locator('#results-status').textContent()).toBe('5 records');
          await tab.locator('#results-search').fill('board.csv:2');
          expect(await tab.locator('#results-status').textContent()).toBe('1 of 5 records');
          expect(await tab.locator('#results-table tbody a').count()).toBe(0);
        }
        if (path.endsWith('pareto.html'))
          expect(await tab.locator('#pareto-status').textContent()).toBe('2 of 3 records on a front');
        expect(trouble, path).toEqual([]);
        await tab.close();
      }
    },
  );
});
