import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelRow } from '@perwatt/core';
import { type KernelStep, openKernelSession, type RunFolder } from '@perwatt/records';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunResults } from '../results-types.js';
import type { SiteRun } from '../site/site-model.js';
import { explainedSteps } from './explained-steps.js';
import { jouleRatio } from './joules-figure.js';
import { kernelSets } from './kernel-sets.js';
import { kernelsPage } from './kernels-page.js';
import { predictSteps } from './predict-step.js';
import { blankRow, sweepOf } from './sweep.fixture.js';

const row = (change: Partial<KernelRow>): KernelRow => ({
  ...blankRow({}),
  device: 'cpu:0',
  device_name: 'A <processor>',
  backend: 'cpu',
  kernel: 'gemv',
  dtype: 'f32',
  implementation: 'cpu/own',
  flop: 2000,
  bytes: 4000,
  time_mean_ns: 1000,
  time_lo_ns: 900,
  time_hi_ns: 1100,
  status: 'ok',
  energy_reason: 'no counter',
  ...change,
});

const wide = { m: 8, k: 4, batch: 1 };
const gemv = row(wide);
const attention = row({
  kernel: 'decode',
  dtype: 'f16',
  batch: 1,
  heads: 2,
  kv_heads: 1,
  head_dim: 4,
  length: 16,
});

const step: KernelStep = {
  model: 'a-model-it',
  names: ['a-model'],
  phase: 'decode',
  batch: 1,
  context: 16,
  weights: 'f32',
  activations: 'f16',
  kernels: [
    { kernel: 'gemv', dtype: 'f32', sizes: wide, options: null, launches: 3, parts: ['q', 'o'] },
    {
      kernel: 'decode',
      dtype: 'f16',
      sizes: { batch: 1, heads: 2, kv_heads: 1, head_dim: 4, length: 16 },
      options: null,
      launches: 2,
      parts: ['attention'],
    },
  ],
};

describe('a prediction', () => {
  test('sums launches times the mean time of the fastest implementation that was right', () => {
    const rows = [
      gemv,
      row({ ...wide, implementation: 'cpu/fast', time_mean_ns: 500, time_lo_ns: 450, time_hi_ns: 550 }),
      row({ ...wide, implementation: 'cpu/broken', time_mean_ns: 1, status: 'wrong' }),
      row({ ...wide, batch: 8, time_mean_ns: 2 }),
      attention,
    ];
    const [prediction] = predictSteps([step], rows, 0);
    expect(prediction).toMatchObject({
      time_ns: 3 * 500 + 2 * 1000,
      lo_ns: 3 * 450 + 2 * 900,
      hi_ns: 3 * 550 + 2 * 1100,
      tokens_per_s: 1e9 / 3500,
      energy_j: null,
      energy_per_token_j: null,
      kernels: [{ implementation: 'cpu/fast', share: 1500 / 3500 }, { share: 2000 / 3500 }],
    });
  });

  test('of which one kernel was not timed is unknown', () => {
    const [prediction] = predictSteps([step], [gemv], 0);
    expect(prediction).toMatchObject({
      time_ns: null,
      tokens_per_s: null,
      kernels: [{ time_ns: 3000 }, { time_ns: null }],
    });
  });

  test('has joules where every kernel has', () => {
    const metered = (of: KernelRow) => ({
      ...of,
      energy_gross_j: 0.5,
      energy_provenance: 'counter',
      energy_scope: 'package',
    });
    const [prediction] = predictSteps([{ ...step, batch: 2 }], [metered(gemv), metered(attention)], 0);
    expect(prediction).toMatchObject({
      energy_j: 2.5,
      energy_per_token_j: 1.25,
      energy_provenance: 'counter',
    });
  });

  test('is made for each device, of rows of its session alone', () => {
    const rows = [
      gemv,
      attention,
      { ...gemv, device: 'gpu:0' },
      { ...attention, device: 'gpu:0', session: 1 },
    ];
    const found = predictSteps([step], rows, 0);
    expect(found.map(({ device, time_ns }) => [device, time_ns])).toEqual([
      ['cpu:0', 5000],
      ['gpu:0', null],
    ]);
  });

  test('of a prefill gives no tokens', () => {
    const [prediction] = predictSteps([{ ...step, phase: 'prefill' }], [gemv, attention], 0);
    expect(prediction).toMatchObject({ time_ns: 5000, tokens_per_s: null });
  });
});

const metered = {
  energy_gross_j: 2e-9,
  energy_lo_j: 1e-9,
  energy_hi_j: 3e-9,
  energy_scope: 'package',
  energy_provenance: 'counter',
};

// biome-ignore format: a table is read in columns
test.each([
  ['gemv',    'flop', metered, 1,    'a ratio'],
  ['gemv',    'byte', metered, 0.5,  'both mean something'],
  ['gemm',    'byte', metered, null, 'bytes of a product say nothing'],
  ['prefill', 'byte', metered, null, 'nor do those of a prefill'],
  ['triad',   'flop', metered, null, 'FLOP of a triad say nothing'],
  ['triad',   'byte', metered, 0.5,  'its bytes do'],
  ['gemv',    'flop', {},      null, 'not measured'],
  ['gemv',    'flop', { ...metered, status: 'wrong' }, null, 'wrong'],
] as const)('joules of %s per %s of %o: %o pJ', (kernel, per, change, value, _why) => {
  expect(jouleRatio(row({ kernel, ...change }), per)?.value_pj ?? null).toEqual(value === null ? null : expect.closeTo(value, 9));
});

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kernels-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const value = (of: number | null) => ({ value: of, provenance: 'estimated' });
const cell = (model: string, concurrency: number) => ({
  cell_id: `${model}-${concurrency}`,
  concurrency,
  point: { model, dataset: 'sums', strategy: 'single' },
  metrics: { tpot_p50_ns: value(10_000), energy_per_output_token_j: value(0.25) },
});

const siteRun = (cells: readonly object[]): SiteRun => ({
  results: { host: { hostname: 'here' }, cells } as unknown as RunResults,
  run: { path: folder } as RunFolder,
});

function keep(rows: readonly KernelRow[], steps: readonly KernelStep[] = [step]): void {
  const writer = openKernelSession(folder, {
    phase: 'alone',
    perwatt_version: '0',
    wall_time: '2026-11-30T00:00:00Z',
    host: null,
    devices: [],
    absent: [{ backend: 'cuda', reason: 'no <driver>' }],
    steps,
  });
  writer.append(rows);
  writer.close('done');
}

test('a prediction stands beside the cells that ran the model with as many calls in flight', () => {
  keep([gemv, attention]);
  const sets = kernelSets([siteRun([cell('a-model', 1), cell('a-model', 8), cell('another', 1)])]);
  expect(explainedSteps(sets)).toMatchObject([
    {
      cell: { cell_id: 'a-model-1' },
      measured_ns: 10_000,
      explained_ratio: 0.5,
      measured_tokens_per_s: 1e5,
      measured_energy_per_token_j: 0.25,
      measured_provenance: 'estimated',
    },
  ]);
  expect(explainedSteps(kernelSets([siteRun([])]))).toMatchObject([{ cell: null, explained_ratio: null }]);
});

describe('the page', () => {
  const capped = {
    peak_flop_per_s: 1e11,
    bandwidth_bytes_per_s: 1e10,
    peak_implementation: 'onednn',
    roofline_ratio: 0.4,
  };

  test('has a roofline for each device, what was not measured, and names made harmless', () => {
    keep([
      { ...gemv, ...capped },
      attention,
      row({ kernel: 'softmax', status: 'crashed', reason: 'signal SIGABRT', time_mean_ns: null }),
    ]);
    const page = kernelsPage([siteRun([cell('a-model', 1)])]);
    expect(page?.figures.map(({ id }) => id)).toEqual(['roofline-0']);
    const markup = page?.body.markup ?? '';
    expect(markup).toContain('id="roofline-0"');
    expect(markup).toContain('Energy that was not measured');
    expect(markup).toContain('no counter');
    expect(markup).toContain('crashed: signal SIGABRT');
    expect(markup).toContain('cuda: no &lt;driver&gt;');
    expect(markup).toContain('50 %');
    expect(markup).not.toContain('<processor>');
    expect(JSON.stringify(page?.figures)).not.toContain('<processor>');
  });

  test('has joules by boundary, so that boards and packages stand apart', () => {
    const board = { device: 'cuda:0', device_name: 'A board', ...metered, energy_scope: 'gpu' };
    keep([row({ ...wide, ...metered }), row({ ...wide, ...board }), row({ kernel: 'gemm', ...board })]);
    const page = kernelsPage([siteRun([])]);
    const ids = page?.figures.map(({ id }) => id) ?? [];
    expect(ids.filter((id) => id.startsWith('joules'))).toEqual([
      'joules-flop-0',
      'joules-byte-0',
      'joules-flop-1',
      'joules-byte-1',
    ]);
    const [, , flop, byte] = page?.figures.filter(({ id }) => id.startsWith('joules')) ?? [];
    expect(flop?.data[0]).toMatchObject({
      y: [expect.stringContaining('gemv'), expect.stringContaining('gemm')],
    });
    expect(byte?.data[0]).toMatchObject({ y: [expect.stringContaining('gemv')] });
    expect(page?.body.markup).not.toContain('Energy that was not measured');
  });

  test('has the fit of a sweep, named a fit, with its residuals, and why there is none of another', () => {
    keep([...sweepOf(), ...sweepOf({ dtype: 'f16', energy_gross_j: null, energy_reason: 'no <counter>' })]);
    const page = kernelsPage([siteRun([])]);
    const markup = page?.body.markup ?? '';
    expect(markup).toContain('Energy by intensity: a fit');
    expect(markup).toContain('A fit, no constants of the hardware');
    expect(markup).toMatch(/10\.0<small>± /);
    expect(markup).toContain('no fit: no energy: no &lt;counter&gt;');
    const figure = page?.figures.find(({ id }) => id === 'fit-0');
    expect(figure?.data).toHaveLength(2);
    const [measured, fitted] = (figure?.data ?? []) as { x: number[]; y: number[]; name: string }[];
    expect(fitted?.name).toMatch(/: fit$/);
    expect(measured?.x).toEqual(fitted?.x);
    expect(measured?.y.map((value, i) => (fitted?.y[i] ?? 0) / value)).toEqual(
      measured?.y.map(() => expect.closeTo(1, 6)),
    );
    expect(page?.figures.some(({ id }) => id.startsWith('joules'))).toBe(false);
    expect(JSON.stringify(page?.figures)).not.toContain('<processor>');
  });

  test('has datasheets beside the ceilings, cold launches, and why there are none', () => {
    const board = {
      device: 'cuda:0',
      device_name: 'NVIDIA H200',
      dtype: 'bf16',
      cold_mean_ns: 7000,
      cold_lo_ns: 6000,
      cold_hi_ns: 8000,
    };
    keep([
      row({ ...wide, ...capped, ...board, peak_flop_per_s: 494.7e12 }),
      row({ ...wide, ...capped, cold_reason: 'no caches' }),
    ]);
    const markup = kernelsPage([siteRun([])])?.body.markup ?? '';
    expect(markup).toContain('nvidia-h200-sxm of the catalogue');
    expect(markup).toContain('50 %');
    expect(markup).toContain('the catalogue does not know it');
    expect(markup).toContain('7.00 µs<small>6.00 µs … 8.00 µs</small>');
    expect(markup).toContain('<small>no caches</small>');
  });

  test('is not there where no kernels were run', () => {
    expect(kernelsPage([siteRun([])])).toBeNull();
    expect(kernelsPage([{ ...siteRun([]), run: null }])).toBeNull();
  });
});
