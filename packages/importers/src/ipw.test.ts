import type { PublishedRow } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { fileOf, ofMetric, rowsOf } from './foreign-files.fixture.js';
import { ipw } from './ipw.js';
import { type ProfiledQuery, profiledFile, summaryFile, tracesFile } from './ipw-run.fixture.js';

const profile = (queries: readonly ProfiledQuery[]) => rowsOf(ipw, [profiledFile('qwen3:4b', queries)]);
const total = (rows: readonly PublishedRow[], metric: string) =>
  rows.find((row) => row.metric === metric && row.source_row === 0)!;

const two: readonly ProfiledQuery[] = [
  { energy_j: 100, latency_s: 2, power_w: 50, correct: true, output: 30 },
  { energy_j: 300, latency_s: 10, power_w: 30, correct: false, output: 70 },
];

describe('a profiled run', () => {
  test('gives every query its own rows, and energy only where it was measured', async () => {
    const rows = await profile([...two, { energy_j: null, latency_s: 1 }]);
    const energy = ofMetric(rows, 'ipw:query_energy_j');
    expect(energy.map(({ item_id, value, reason }) => [item_id, value, reason])).toEqual([
      ['1', 100, null],
      ['2', 300, null],
      ['3', null, 'not_measured'],
    ]);
    expect(energy[0]).toMatchObject({ model: 'qwen3:4b', scope: 'gpu', basis: 'measured', concurrency: 1 });
    expect(ofMetric(rows, 'ipw:query_latency_ns').map(({ value }) => value)).toEqual([2e9, 10e9, 1e9]);
  });

  test('has our figures as ratios of sums, and both of theirs that are called IPJ', async () => {
    const rows = await profile(two);
    // biome-ignore format: a table is read in columns
    const expected = [
      ['energy_per_query_j',            200],
      ['power_w',                       400 / 12],
      ['energy_per_output_token_j',     4],
      ['tokens_per_s',                  100 / 12],
      ['ipw:accuracy',                  0.5],
      ['ipw:ipj_of_mean_energy_per_j',  0.5 / 200],
      ['ipw:ipj_of_total_energy_per_j', 0.5 / 400],
      ['ipw:ipw_of_mean_ratio_per_w',   0.5 / 40],
      ['ipw:ipw_of_totals_per_w',       0.5 / (400 / 12)],
    ] as const;
    for (const [metric, value] of expected) expect(total(rows, metric).value, metric).toBeCloseTo(value, 12);
    expect(total(rows, 'ipw:ipj_of_total_energy_per_j')).toMatchObject({
      flags: 'shrinks_with_n',
      rankable: false,
    });
    expect(total(rows, 'ipw:ipw_of_mean_ratio_per_w')).toMatchObject({
      flags: 'mean_of_ratios',
      rankable: false,
    });
  });

  test('the same queries twice change only the IPJ over total energy, to a half', async () => {
    const once = await profile(two);
    const twice = await profile([...two, ...two]);
    for (const row of once.filter(({ source_row }) => source_row === 0)) {
      const again = total(twice, row.metric).value ?? NaN;
      const expected = row.metric === 'ipw:ipj_of_total_energy_per_j' ? 0.5 : 1;
      expect(again / (row.value ?? NaN), row.metric).toBeCloseTo(expected, 12);
    }
  });

  test('energy of some queries makes ours null and marks theirs', async () => {
    const rows = await profile([...two, { energy_j: null, latency_s: 1, correct: true }]);
    expect(total(rows, 'energy_per_query_j')).toMatchObject({
      value: null,
      reason: 'energy of 2 of 3 queries only',
    });
    expect(total(rows, 'ipw:ipj_of_mean_energy_per_j').flags).toContain('energy_of_some_queries');
    expect(total(rows, 'ipw:ipj_of_mean_energy_per_j')).toMatchObject({ n: 2 });
  });

  // biome-ignore format: a table is read in columns
  test.each<[ProfiledQuery, number | null, string | null, string | null, string]>([
    [{ energy_j: 0,   latency_s: 2, power_w: 50 }, null, 'zero_without_reading', null,           'one sample in the window'],
    [{ energy_j: -1,  latency_s: 2, power_w: 50 }, null, 'marked_unavailable',   null,           'a mark, no joules'],
    [{ energy_j: 150, latency_s: 60, power_w: 5 }, 150,  null,                   'energy_short', 'samples of the last 30 s only'],
    [{ energy_j: 295, latency_s: 60, power_w: 5 }, 295,  null,                   null,           'within a tenth of power by time'],
    [{ energy_j: 10,  latency_s: 0.3 },            10,   null,                   'edge_loss',    'a sixth lost at the ends'],
  ])('%# a query: %s', async (query, value, reason, flags) => {
    const [row] = ofMetric(await profile([query]), 'ipw:query_energy_j');
    expect(row).toMatchObject({ value, reason, flags });
  });

  test('a wrong answer and one that nobody graded are told apart', async () => {
    const rows = await profile([
      { energy_j: 1, latency_s: 2, correct: false },
      { energy_j: 1, latency_s: 2, correct: null },
    ]);
    expect(ofMetric(rows, 'ipw:query_correct').map(({ value, reason }) => [value, reason])).toEqual([
      [0, null],
      [null, 'not_graded'],
    ]);
    expect(total(rows, 'ipw:accuracy')).toMatchObject({ value: 0, n: 1 });
  });

  test('queries that overlapped had shares of the device, which are no measurement', async () => {
    const rows = await profile([
      { energy_j: 10, latency_s: 4, start_s: 0 },
      { energy_j: 10, latency_s: 4, start_s: 3 },
    ]);
    expect(ofMetric(rows, 'ipw:query_energy_j')[0]).toMatchObject({
      basis: 'allocated',
      flags: 'equal_share',
    });
    expect(total(rows, 'power_w')).toMatchObject({
      value: null,
      reason: expect.stringContaining('overlapped'),
    });
    const apart = await profile([
      { energy_j: 10, latency_s: 4, start_s: 0 },
      { energy_j: 10, latency_s: 4, start_s: 4 },
    ]);
    expect(total(apart, 'power_w')).toMatchObject({ value: 2.5, flags: null });
  });

  test('a chip is its own scope, and chip and board never make one total', async () => {
    const chip = await profile([{ energy_j: 5, soc_j: 9, latency_s: 2 }]);
    expect(ofMetric(chip, 'ipw:query_energy_j')[0]).toMatchObject({ value: 9, scope: 'soc' });
    const mixed = await profile([...two, { energy_j: 5, soc_j: 9, latency_s: 2 }]);
    expect(total(mixed, 'energy_per_query_j')).toMatchObject({
      value: null,
      reason: 'queries of different scopes',
    });
  });
});

describe('an agentic run', () => {
  const traces = [
    { total_gpu_energy_joules: 53.64, total_wall_clock_s: 3, is_resolved: true },
    { total_gpu_energy_joules: 17.64, total_wall_clock_s: 2, is_resolved: false },
    { total_gpu_energy_joules: 0, total_wall_clock_s: 2 },
  ];

  test('a failed tracker never ranks first', async () => {
    const rows = await rowsOf(ipw, [tracesFile(traces)]);
    const energy = ofMetric(rows, 'ipw:query_energy_j');
    expect(energy.map(({ value }) => value)).toEqual([53.64, 17.64, null]);
    const ranked = energy.filter(({ rankable }) => rankable).map(({ value }) => value ?? NaN);
    expect(ranked.sort((a, b) => a - b)).toEqual([17.64, 53.64]);
  });

  test('queries that overlapped make no total of ours', async () => {
    const summary = summaryFile({ config: { model: 'glm', concurrency: 4, dataset: 'gaia' } });
    const rows = await rowsOf(ipw, [tracesFile(traces.slice(0, 2)), summary]);
    expect(rows[0]).toMatchObject({ model: 'glm', concurrency: 4, dataset: 'gaia', flags: 'whole_device' });
    expect(total(rows, 'power_w')).toMatchObject({
      value: null,
      reason: expect.stringContaining('overlapped'),
    });
    const alone = summaryFile({ config: { model: 'glm', concurrency: 1 } });
    const single = await rowsOf(ipw, [tracesFile(traces.slice(0, 2)), alone]);
    expect(total(single, 'power_w').value).toBeCloseTo((53.64 + 17.64) / 5, 12);
  });

  test('a printed energy that mean power and time contradict is named with the arithmetic', async () => {
    const printed = {
      config: { model: 'm' },
      totals: { queries: 165, wall_clock_s: 8656, gpu_energy_joules: 969_264.69, accuracy: 0.2 },
      efficiency: { accuracy: 0.2, ipj: 2.19e-7, ipw: 9e-5 },
      statistics: { gpu_power_watts: { avg: 2128 }, gpu_energy_joules: { avg: 37_279.41 } },
    };
    const rows = await rowsOf(ipw, [summaryFile(printed)]);
    const energy = rows.find(({ metric }) => metric === 'ipw:summary_gpu_energy_j')!;
    expect(energy).toMatchObject({ value: 969_264.69, n: 26, flags: 'energy_short', rankable: false });
    expect(energy.note).toContain('26 of 165 queries; mean power × time is 18419968 J');
  });
});

// biome-ignore format: a table is read in columns
test.each([
  ['run/data.arrow',    'no arrow',              /^run\/data.arrow: not a whole Arrow file: /,              'another format'],
  ['run/traces.jsonl',  '{"query_id":"a"}',      /^run\/traces.jsonl:1: not a trace: expected an object/,  'a line without is_resolved'],
  ['run/traces.jsonl',  '{"query_id":"a","is_resolved":true}\n{', /^run\/traces.jsonl:2: not JSON$/,       'a line cut off'],
  ['run/traces.jsonl',  '\n',                    /^run\/traces.jsonl: the file has no traces$/,            'nothing'],
  ['run/summary.json',  '[]',                    /^run\/summary.json: not an object$/,                    'a list'],
  ['run/results.csv',   'a,b',                   /^run\/results.csv: not a file of such a run/,            'another file'],
])('%s is refused: %s', async (path, content, message) => {
  await expect(rowsOf(ipw, [fileOf(path, content)])).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringMatching(message),
  });
});

test('an Arrow file cut off is refused, not imported by halves in silence', async () => {
  const file = profiledFile('m', two);
  const parts: Uint8Array[] = [];
  for await (const chunk of file.chunks()) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const cut = fileOf(file.path, bytes.subarray(0, bytes.length - 200));
  await expect(rowsOf(ipw, [cut])).rejects.toMatchObject({ code: 'INPUT_INVALID' });
});
