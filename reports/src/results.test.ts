import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSegment, SegmentWriter } from '@perwatt/records';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from './build-results.js';
import { paretoFigure } from './pareto-figure.js';
import { powerFigure } from './power-figure.js';
import { resultsCsv } from './results-csv.js';
import { resultsJson } from './results-json.js';
import { resultsTable } from './results-table.js';
import type { RunResults } from './results-types.js';
import { type SyntheticOptions, syntheticRun } from './synthetic-run.fixture.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-results-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const made = new Map<string, RunResults>();
let folders = 0;
const resultsOf = (options: Omit<SyntheticOptions, 'root'> = {}): RunResults => {
  const key = JSON.stringify(options);
  folders += 1;
  const results =
    made.get(key) ?? buildResults(syntheticRun({ root: join(root, String(folders)), items: 6, ...options }));
  made.set(key, results);
  return results;
};
const codes = ({ not_measured }: RunResults) => not_measured.map(({ code }) => code);

/** Numbers to nine digits: the last ones of a double differ between builds of a mathematics library. */
const rounded = (text: string): string =>
  text.replace(/-?\d+\.\d{6,}(e[+-]?\d+)?/g, (number) => String(Number(Number(number).toPrecision(9))));

describe('a small run', () => {
  const small = { models: ['tiny'], strategies: ['single'], items: 6, protocol: 'quick' as const };

  test.each([
    ['table', (results: RunResults) => `${resultsTable(results, 140)}\n`],
    ['csv', resultsCsv],
    ['json', resultsJson],
  ])('gives the recorded %s', async (name, make) => {
    await expect(rounded(make(resultsOf(small)))).toMatchFileSnapshot(`./golden/small-run.${name}.txt`);
  });

  test('has cells by data set, best IPJ first, each with its place on the front', () => {
    const { cells } = resultsOf();
    expect(cells.map(({ point }) => point.dataset)).toEqual([
      ...Array(4).fill('arithmetic'),
      ...Array(4).fill('choice'),
    ]);
    for (const group of [cells.slice(0, 4), cells.slice(4)]) {
      const ipj = group.map(({ metrics }) => metrics.ipj_per_j.value!);
      expect(ipj).toEqual(ipj.toSorted((a, b) => b - a));
      expect(group.some(({ on_front }) => on_front)).toBe(true);
      const cheapest = group.toSorted(
        (a, b) => a.metrics.energy_per_query_j.value! - b.metrics.energy_per_query_j.value!,
      );
      expect(cheapest[0]!.on_front).toBe(true);
    }
  });

  test('the energy of a cell is watts times seconds of its calls', () => {
    const cell = resultsOf(small).cells[0]!;
    expect(cell.energy.gross_j! / (cell.energy.busy_ns / 1e9) / 22).toBeCloseTo(1, 1);
    expect(cell.metrics.power_w).toMatchObject({ provenance: 'counter', note: 'between-run spread unknown' });
    expect(cell.counts).toMatchObject({ attempted: 6, calls: 6, unsettled: 0 });
  });
});

describe('what was not measured', () => {
  test('names missing scopes, missing repeats and what was left out', () => {
    expect(codes(resultsOf())).toEqual([
      'scope_wall',
      'scope_gpu',
      'scope_dram',
      'left_out',
      'spread_unknown',
    ]);
  });

  test('three repeats tell the spread', () => {
    expect(codes(resultsOf({ repeats: 3 }))).not.toContain('spread_unknown');
  });

  test('quick and estimated runs say so', () => {
    const found = codes(resultsOf({ power: 'estimated', protocol: 'quick' }));
    expect(found).toEqual(expect.arrayContaining(['estimated', 'quick', 'net_not_resolved']));
  });

  test('measured and estimated energy on one record are never one figure', () => {
    const run = syntheticRun({ root: join(root, 'mixed'), items: 4 });
    const alone = buildResults(run);
    const [measured] = run.manifest.power;
    const { rows } = readSegment(join(run.powerFolder, measured!.file), 'samples');
    const writer = SegmentWriter.create({
      folder: run.powerFolder,
      file: 'guess-0.arrows',
      table: 'samples',
      sitting: 0,
      metadata: {},
    });
    writer.append(rows.map((row) => ({ ...row, domain: 'guess:cpu' })));
    const guess = {
      ...measured!.domains[0]!,
      id: 'guess:cpu',
      source: 'guess',
      provenance: 'estimated' as const,
    };
    const added = { ...measured!, file: 'guess-0.arrows', source: 'guess', provenance: 'estimated' as const };
    run.updateManifest({ power: [measured!, { ...added, domains: [guess], segment: writer.close() }] });
    const results = buildResults(run);
    for (const [i, { energy, metrics }] of results.cells.entries()) {
      expect(energy.boundary?.provenance).toBe('counter');
      expect(energy.boundary?.domains.map(({ id }) => id)).not.toContain('guess:cpu');
      expect(energy.gross_j).toBe(alone.cells[i]?.energy.gross_j);
      expect(metrics.ipj_per_j.provenance).toBe('counter');
    }
    const note = results.not_measured.find(({ code }) => code === 'outside_boundary');
    expect(note?.text).toContain('guess:cpu (estimated)');
  });

  test('every baseline has its age and drift, and net of the idle host is null without one', () => {
    const { cells } = resultsOf();
    for (const { baselines, energy_detail: detail } of cells) {
      expect(baselines.map(({ kind, when }) => `${kind} ${when}`)).toEqual([
        'loaded_idle before',
        'loaded_idle after',
      ]);
      for (const { age_ns, length_ns, power_w } of baselines) {
        expect(age_ns).toBeGreaterThan(length_ns / 2);
        expect(power_w).toBeGreaterThan(0);
      }
      expect(baselines[0]?.drift_ratio).toBeCloseTo(baselines[1]!.power_w! / baselines[0]!.power_w! - 1, 12);
      expect(detail).toMatchObject({ net_host_j: null, net_host_reason: 'no_baseline' });
      expect(detail.phases.reason).toBeNull();
    }
  });

  test('an endpoint on another host has no energy of this one', () => {
    const results = resultsOf({ endpoint: 'http://gpu-host:8000/v1' });
    const note = results.not_measured.find(({ code }) => code === 'endpoint_elsewhere');
    expect(note?.text).toContain('http://gpu-host:8000/v1: on another host');
    expect(results.cells[0]!.energy).toMatchObject({ gross_j: null, reason: 'no_power' });
    expect(results.cells[0]!.metrics.accuracy.value).not.toBeNull();
    expect(codes(resultsOf({ endpoint: 'http://localhost:8000/v1' }))).not.toContain('endpoint_elsewhere');
  });

  test('cells that were skipped are counted with the reason, and so are repeats that the data ended', () => {
    const run = syntheticRun({ root: join(root, 'skipped'), items: 6 });
    const [first, second] = run.cells();
    const reason = '5 cells of m failed in a row';
    const note = 'when to stop was decided by the data';
    run.writeCell({ ...first!, skipped: reason });
    run.writeCell({
      ...second!,
      repeats: 50,
      stopping: {
        metric: 'power_w',
        half_width_wanted: 0.02,
        half_width: 0.01,
        values: [1],
        stopped: 'narrow',
        repeats: 1,
        note,
      },
    });
    const results = buildResults(run);
    const text = (code: string) => results.not_measured.find((own) => own.code === code)?.text;
    expect(text('skipped')).toBe(`Skipped: 1 cell: ${reason}`);
    expect(text('stopped_by_data')).toBe(`Repeats of 1 cell: ${note}.`);
    const cell = results.cells.find(({ cell_id }) => cell_id === second!.cell_id);
    expect(cell).toMatchObject({ repeats: 1, stopping: { stopped: 'narrow' } });
  });

  test('a run without power has no energy, and no scopes either', () => {
    const results = resultsOf({ power: 'none' });
    expect(codes(results)).toEqual(['no_power', 'left_out']);
    expect(results.cells[0]!.metrics.ipj_per_j).toMatchObject({ value: null, reason: 'no_power' });
    expect([paretoFigure(results), powerFigure(results)]).toEqual([null, null]);
  });
});

test('too many failures make a cell invalid, keep it in the table and off the front', () => {
  const results = resultsOf({ items: 20, failing: 0.5 });
  const invalid = results.cells.filter(({ verdict }) => verdict.state === 'invalid');
  expect(invalid).toHaveLength(1);
  expect(invalid[0]).toMatchObject({ on_front: false, verdict: { reasons: [{ code: 'failed_queries' }] } });
  expect(resultsTable(results, 200)).toContain('invalid');
});

describe('the timeline', () => {
  test('is thinned to 5,000 points and keeps the energy under it', () => {
    const results = resultsOf({ items: 60, repeats: 2 });
    const { traces, spans } = results.timeline;
    const points = traces.reduce((sum, { t_s }) => sum + t_s.length, 0);
    expect(points).toBeLessThanOrEqual(5000);
    expect(points).toBeGreaterThan(4000);
    expect(spans).toHaveLength(8);
    const [{ t_s, power_w }] = traces as [(typeof traces)[0]];
    const area = power_w.reduce<number>((sum, w, i) => sum + (w ?? 0) * ((t_s[i + 1] ?? 0) - t_s[i]!), 0);
    const busy = results.cells.reduce((sum, { energy }) => sum + energy.gross_j!, 0);
    const window = results.cells.reduce((sum, { ledgers }) => sum + ledgers[0]!.meter_j!, 0);
    expect(area).toBeGreaterThan(busy);
    expect(area).toBeLessThan(window * 1.2);
  });

  test('puts every cell inside the recording', () => {
    const { traces, spans } = resultsOf().timeline;
    const last = traces[0]!.t_s.at(-1)!;
    for (const { start_s, end_s } of spans) {
      expect(start_s).toBeGreaterThan(0);
      expect(end_s).toBeGreaterThan(start_s);
      expect(end_s).toBeLessThan(last);
    }
  });
});

describe('the terminal table', () => {
  const results = () => resultsOf({ power: 'estimated' });

  test.each([200, 120, 100, 80, 60])('fits %d columns', (width) => {
    const lines = resultsTable(results(), width).split('\n');
    const table = lines.slice(0, lines.indexOf(''));
    expect(table).toHaveLength(9);
    for (const line of table) expect([...line].length).toBeLessThanOrEqual(width);
  });

  test('marks estimated values and explains the mark', () => {
    const text = resultsTable(results(), 200);
    expect(text.match(/~\d/g)!.length).toBe(8 * 4);
    expect(text).toContain('~ estimated');
  });

  test('names the columns it left out', () => {
    expect(resultsTable(results(), 80)).toMatch(/not shown for want of room: .*TTFT/);
    expect(resultsTable(results(), 200)).not.toContain('not shown');
  });

  test('a name cannot move the cursor', () => {
    expect(resultsTable(resultsOf({ models: ['a\u001b[2Jb', 'c'] }), 200)).not.toContain('\u001b');
  });
});
