import { expect, test } from 'vitest';
import { ecocompute } from './ecocompute.js';
import { figureRows } from './figure-rows.js';
import { fileOf, rowsOf } from './foreign-files.fixture.js';
import type { PublishedRecord } from './importer.js';
import { mlEnergy } from './ml-energy.js';

const read = async (name: string, lines: readonly string[]) =>
  (await rowsOf(ecocompute, [fileOf(name, lines.join('\n'))])).map(
    ({ source_row, metric, unit, value, spread, spread_kind, flags }) =>
      [source_row, metric, unit, value, spread, spread_kind, flags] as const,
  );

test('thousands of tokens, percents and deviations come in the unit of the value', async () => {
  const summary = await read('s.csv', [
    'model,config,gpu,energy_j_1k,throughput,power_w,cv_percent,ppl',
    'A,fp16,A800,4000,50,200,1.5,4.5',
    'A,nf4,A800,4000,50,600,1.5,4.6',
  ]);
  // biome-ignore format: a table is read in columns
  expect(summary).toEqual([
    [1, 'energy_per_output_token_j',       'J',   4,   0.015, 'cv', null],
    [1, 'power_w',                         'W',   200, null,  null, null],
    [1, 'tokens_per_s',                    '1/s', 50,  null,  null, null],
    [1, 'ecocompute:perplexity_wikitext2', '1',   4.5, null,  null, null],
    [2, 'energy_per_output_token_j',       'J',   4,   0.015, 'cv', 'over_power_limit inconsistent'],
    [2, 'power_w',                         'W',   600, null,  null, 'over_power_limit'],
    [2, 'tokens_per_s',                    '1/s', 50,  null,  null, 'over_power_limit'],
    [2, 'ecocompute:perplexity_wikitext2', '1',   4.6, null,  null, 'over_power_limit'],
  ]);
  const formats = await read('t4.csv', [
    'model,config,precision,throughput_mean,throughput_std,power_mean,power_std,energy_per_1k_tokens_mean,energy_per_1k_tokens_std,delta_energy_pct,n_runs',
    'A-1B,FP16,16,10,0.2,50,1,5000,40,0,10',
  ]);
  // biome-ignore format: a table is read in columns
  expect(formats).toEqual([
    [1, 'energy_per_output_token_j', 'J',   5,  0.04, 'sd', null],
    [1, 'power_w',                   'W',   50, 1,    'sd', null],
    [1, 'tokens_per_s',              '1/s', 10, 0.2,  'sd', null],
  ]);
});

test('joules of a run that are not its watts by its seconds, or not its requests, are flagged', async () => {
  const head =
    'batch_size,total_time_s,throughput_tok_s,avg_power_w,total_energy_j,energy_per_request_j,energy_per_1k_tokens_j,avg_gpu_util_pct,avg_memory_util_pct,peak_memory_gb,tokens_generated';
  const rows = await read('raw.csv', [
    head,
    '2,10,51.2,100,1000,500,1953.125,45,8,8,512',
    '2,10,51.2,100,1001,500.5,1953.125,45,8,8,512',
    '2,10,51.2,100,1000,400,1953.125,45,8,8,512',
  ]);
  const flagsOf = (row: number) => new Set(rows.filter(([n]) => n === row).map((cells) => cells[6]));
  expect([1, 2, 3].map(flagsOf)).toEqual([
    new Set([null]),
    new Set(['inconsistent']),
    new Set(['inconsistent']),
  ]);
});

test('milliseconds become nanoseconds, billions of parameters parameters', async () => {
  const configuration = {
    model_id: 'a/b',
    nickname: 'B',
    architecture: 'Dense',
    gpu_model: 'H100',
    weight_precision: 'bfloat16',
    num_gpus: 2,
    tensor_parallel: 2,
    expert_parallel: 1,
    data_parallel: 1,
    max_num_seqs: 8,
    total_params_billions: 8.03,
    activated_params_billions: 3,
    avg_batch_size: 7,
    avg_output_len: 100,
    avg_power_watts: 400,
    energy_per_token_joules: 2,
    energy_per_request_joules: 200,
    output_throughput_tokens_per_sec: 200,
    median_itl_ms: 10,
    p90_itl_ms: 11,
    p95_itl_ms: 12,
    p99_itl_ms: 13,
  };
  const text = JSON.stringify({ task: 't', task_display_name: 'T', configurations: [configuration] });
  const rows = await rowsOf(mlEnergy, [fileOf('f', text)]);
  const latencies = rows.filter(({ metric }) => metric === 'ml-energy:itl_ns');
  expect(latencies.map(({ statistic, value, unit }) => [statistic, value, unit])).toEqual([
    ['median', 10e6, 'ns'],
    ['p90', 11e6, 'ns'],
    ['p95', 12e6, 'ns'],
    ['p99', 13e6, 'ns'],
  ]);
  expect(rows[0]).toMatchObject({ total_params: 8.03e9, active_params: 3e9, devices: 2, concurrency: 8 });
});

test('a scope stands beside energy only, and a figure may say otherwise than its record', () => {
  const record: PublishedRecord = {
    source: { id: 's', licence: 'MIT', citation: 'S', version: null, date: null },
    path: 'folder/file.csv',
    source_row: 3,
    scope: 'wall',
    boundary: 'the wall',
    n: 2,
    setting: { b: 1, a: null },
    flags: ['x'],
    figures: [
      { metric: 'power_w', unit: 'W', value: 1, statistic: 'mean', basis: 'measured', flags: ['x', 'y'] },
      { metric: 'tokens_per_s', unit: '1/s', value: 2, statistic: 'mean', basis: 'measured', n: 5 },
      {
        metric: 's:ipj',
        unit: '1/J',
        value: null,
        reason: 'no',
        statistic: 'mean',
        basis: 'derived',
        scope: 'gpu',
      },
    ],
  };
  const rows = figureRows(record, 'run');
  expect(
    rows.map(({ scope, boundary, n, flags, rankable }) => [scope, boundary, n, flags, rankable]),
  ).toEqual([
    ['wall', 'the wall', 2, 'x y', true],
    [null, null, 5, 'x', true],
    ['gpu', 'the wall', 2, 'x', false],
  ]);
  expect(rows[0]).toMatchObject({ source_file: 'file.csv', setting: '{"a":null,"b":1}', run_id: 'run' });
});
