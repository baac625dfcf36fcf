import { type KernelRow, kernels } from '@perwatt/core';
import { kernelDevice as device } from '@perwatt/test-kit';
import { describe, expect, test } from 'vitest';
import { ceilingSpecs, ceilingsOf, type RanKernel } from './ceilings.js';
import { type KernelOutcome, outcomeOf } from './kernel-outcome.js';
import { kernelRow } from './kernel-row.js';
import type { KernelSpec } from './kernel-spec.js';
import { KernelEvent, type NativeRow } from './protocol.js';

const batch = (device_ns: number | null, host_ns: number, launches = 10) => ({
  launches,
  device_ns,
  host_ns,
});

/** As the native runner tells it, in JSON. */
const native = (change: Partial<NativeRow> = {}): NativeRow => ({
  spec: { kind: 'gemm' },
  implementation_id: 'cuda/cublaslt{algo=3}',
  backend: 'cuda',
  status: 'ok',
  error_code: null,
  error_message: null,
  convention: 'flop/1',
  flop: 2000,
  bytes: 500,
  check_before: { relative_error: 1e-7, limit: 1e-5 },
  check_after: { relative_error: 3e-7, limit: 1e-5 },
  timing: {
    launch_ns: 100,
    deviation_ratio: 0.1,
    rotated_sets: 3,
    clock: 'event',
    host_difference_ratio: 0.02,
    stopped: 'settled',
    batches: [batch(900, 920), batch(1000, 1020), batch(1100, 1120)],
    health_before: { clock_hz: 1.98e9, throttle_reasons: [] },
    health_after: { clock_hz: 1.7e9, throttle_reasons: ['sw_power_cap'] },
  },
  cold: { mean_ns: 300, interval: { low: 280, high: 320 }, median_ns: 290, launches: 30 },
  cold_reason: null,
  energy: null,
  energy_reason: 'it was not asked for',
  flags: ['clocks-differ'],
  ...change,
});

const told = (row: NativeRow, provenance: string | null = null): KernelOutcome =>
  outcomeOf({ row, start_ns: '5', end_ns: '9', provenance });

const window = (energy_j: number, change: object = {}) => ({
  start_ns: 0,
  end_ns: 5e9,
  launches: 500_000,
  energy_j,
  duty_ratio: 0.99,
  invalid: null,
  ...change,
});

const energy: NonNullable<NativeRow['energy']> = {
  counter: { source: 'nvml', domain: 'nvml:GPU-1:energy', scope: 'gpu', systematic_ratio: 0.05 },
  windows: [window(3500), window(9999, { invalid: 'too short' }), window(3500, { duty_ratio: 0.98 })],
  idle: { power_w: 80 },
  idle_reason: null,
  energy_j: { mean: 0.007, low: 0.0069, high: 0.0071 },
  net_energy_j: { mean: 0.006, low: 0.0059, high: 0.0061 },
  reason: null,
};

describe('times of a native row', () => {
  test('are of one launch by the clock of the device, with an interval over batches', () => {
    expect(told(native()).time).toEqual({
      mean_ns: 100,
      lo_ns: expect.closeTo(100 - (4.303 * 10) / Math.sqrt(3), 6),
      hi_ns: expect.closeTo(100 + (4.303 * 10) / Math.sqrt(3), 6),
      median_ns: 100,
      deviation_ratio: 0.1,
      batches: 3,
      launches: 30,
      stop_reason: 'settled',
      source: 'device',
      host_difference_ratio: 0.02,
      clock_lo_hz: 1.7e9,
      clock_hi_hz: 1.98e9,
      throttled: ['sw_power_cap'],
    });
  });

  test('are those of the host where the device has no clock, and one batch has no interval', () => {
    const timing = { ...native().timing!, clock: 'host' as const, batches: [batch(null, 1200)] };
    const { time } = told(native({ timing: { ...timing, health_before: null, health_after: null } }));
    expect(time).toMatchObject({ mean_ns: 120, lo_ns: null, hi_ns: null, source: 'host', throttled: null });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [2,   4.303,  'in the table'],
    [9,   2.262,  'its end'],
    [10,  2.2281, 'beyond it'],
    [30,  2.0423, 'far beyond'],
    [999, 1.9623, 'nearly normal'],
  ])('the interval of %i degrees of freedom takes a t of %f', (n, t, _why) => {
    const batches = Array.from({ length: n + 1 }, (_, i) => batch(1000 + 100 * (i % 2 === 0 ? 1 : -1), 1000));
    const { time } = told(native({ timing: { ...native().timing!, batches } }));
    const values = batches.map(({ device_ns }) => (device_ns ?? 0) / 10);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n);
    const half = (time?.hi_ns ?? 0) - (time?.mean_ns ?? 0);
    expect(half / (sd / Math.sqrt(n + 1)) / t).toBeCloseTo(1, 2);
  });
});

describe('energy of a native row', () => {
  test('is that of the windows that count, with its boundary', () => {
    expect(told(native({ energy }), 'counter').energy).toEqual({
      gross_j: 0.007,
      lo_j: 0.0069,
      hi_j: 0.0071,
      net_j: 0.006,
      power_w: 700,
      idle_w: 80,
      windows: 2,
      window_ns: 5e9,
      launches: 1e6,
      systematic_ratio: 0.05,
      duty_ratio: 0.98,
      domain: 'nvml:GPU-1:energy',
      scope: 'gpu',
      provenance: 'counter',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [{ energy_reason: 'it was not asked for' },                                  'it was not asked for',    'nobody asked'],
    [{ energy: { ...energy, energy_j: null, reason: '1 of 3 windows are valid' } }, '1 of 3 windows are valid', 'too few windows'],
    [{ energy_reason: null },                                                    'no energy was measured',  'nobody says'],
  ])('%o is none: %s', (change, reason, _why) => {
    expect(told(native(change), 'counter')).toMatchObject({ energy: null, energy_reason: reason });
  });
});

test('net energy that is missing has its reason beside the gross one', () => {
  const { energy: found, energy_reason } = told(
    native({
      energy: { ...energy, idle: null, net_energy_j: null, idle_reason: 'the counter moved only once' },
    }),
    'counter',
  );
  expect([found?.gross_j, found?.net_j, energy_reason]).toEqual([
    0.007,
    null,
    'no net energy: the counter moved only once',
  ]);
});

test('cold launches that were not timed say why', () => {
  const outcome = told(native({ cold: null, cold_reason: "the backend can't empty the device's caches" }));
  expect(
    kernelRow(gemm, outcome, {
      run_id: 'r',
      session: 0,
      phase: 'alone',
      device,
      ceilings: ceilingsOf([], 'f32'),
    }),
  ).toMatchObject({
    cold_mean_ns: null,
    cold_launches: null,
    cold_reason: "the backend can't empty the device's caches",
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [{},                                                                false, 'a library of the vendor'],
  [{ implementation_id: 'cuda/own-tile-128{stages=2}' },              true,  'a kernel of our own'],
  [{ implementation_id: 'wgpu/tile', backend: 'wgpu' },               true,  'a shader'],
  [{ implementation_id: 'cpu/own-rows', spec: { kind: 'gemv' } },     false, 'only of products is the peak spoken'],
  [{ implementation_id: null },                                       null,  'nothing ran'],
])('%o is a portable implementation: %o', (change, portable, _why) => {
  expect(told(native(change)).portable).toBe(portable);
});

// biome-ignore format: a table is read in columns
test.each([
  [{},                                                               3e-7, 'the greater of both'],
  [{ check_after: null },                                            1e-7, 'before alone'],
  [{ check_after: { relative_error: null, limit: 1e-5 } },           null, 'no number'],
  [{ check_before: null, check_after: null },                        null, 'not compared'],
])('the error of %o is %o', (change, error, _why) => {
  expect(told(native(change)).error_ratio).toBe(error);
});

const gemm: KernelSpec = { kind: 'gemm', dtype: 'bf16', m: 10, n: 10, k: 10 };
const triad: KernelSpec = { kind: 'triad', dtype: 'f32', n: 100 };
const timed = (mean_ns: number, change: Partial<KernelOutcome> = {}): KernelOutcome => {
  const outcome = told(native());
  return { ...outcome, time: { ...outcome.time!, mean_ns }, ...change };
};

describe('ceilings', () => {
  const ran: readonly RanKernel[] = [
    { spec: triad, outcome: timed(100, { bytes: 1200 }) },
    { spec: { kind: 'copy', dtype: 'f32', n: 100 }, outcome: timed(50, { bytes: 800 }) },
    { spec: gemm, outcome: timed(20, { flop: 2000, implementation: 'slow' }) },
    { spec: gemm, outcome: timed(10, { flop: 2000, implementation: 'fast' }) },
    { spec: gemm, outcome: timed(5, { flop: 2000, implementation: 'tile', portable: true }) },
    { spec: gemm, outcome: timed(1, { flop: 2000, implementation: 'broken', status: 'wrong' }) },
  ];

  // biome-ignore format: a table is read in columns
  test.each([
    [ran,                                     'bf16', { bandwidth_bytes_per_s: 16e9, peak_flop_per_s: 200e9, peak_implementation: 'fast' }, 'a portable GEMM is no peak'],
    [ran,                                     'f16',  { bandwidth_bytes_per_s: 16e9, peak_flop_per_s: null, peak_implementation: null },    'another type'],
    [ran.filter(({ outcome }) => outcome.portable), 'bf16', { bandwidth_bytes_per_s: null, peak_flop_per_s: 400e9, peak_implementation: 'tile' }, 'where there is no other, it is named'],
    [[],                                      'bf16', { bandwidth_bytes_per_s: null, peak_flop_per_s: null, peak_implementation: null },    'nothing was run'],
  ] as const)('%#', (some, dtype, expected, _why) => {
    expect(ceilingsOf(some, dtype)).toEqual(expected);
  });

  test('are measured beyond the caches and within the memory, with a GEMM of each type', () => {
    const [copy, , ...gemms] = ceilingSpecs(device, ['f32', 'int8']);
    expect(copy).toEqual({ kind: 'copy', dtype: 'f32', n: 2 ** 24 });
    expect(gemms.map(({ dtype }) => dtype)).toEqual(['f32', 'int8']);
    const [small] = ceilingSpecs({ ...device, max_buffer_bytes: 2 ** 20 }, []);
    expect(small).toMatchObject({ n: 2 ** 18 });
  });
});

describe('a row', () => {
  const place = {
    run_id: 'r',
    session: 2,
    phase: 'alone' as const,
    device,
    ceilings: { bandwidth_bytes_per_s: 10e9, peak_flop_per_s: 100e9, peak_implementation: 'fast' },
  };

  test('has every column of the table and no other', () => {
    const row: KernelRow = kernelRow(gemm, told(native({ energy }), 'counter'), place);
    expect(Object.keys(row).toSorted()).toEqual(Object.keys(kernels).toSorted());
    expect(row).toMatchObject({
      kernel: 'gemm',
      dtype: 'bf16',
      m: 10,
      batch: null,
      flags: 'clocks-differ',
      start_ns: 5n,
    });
    expect(row).toMatchObject({ cold_mean_ns: 300, cold_lo_ns: 280, cold_median_ns: 290, cold_launches: 30 });
    expect(row).toMatchObject({ energy_launches: 1e6, energy_systematic_ratio: 0.05, energy_reason: null });
    expect(row).toMatchObject({
      bound: 'memory',
      roofline_ns: 50,
      roofline_ratio: 0.5,
      energy_gross_j: 0.007,
    });
  });

  test('of a failure has no figures', () => {
    const row = kernelRow(
      gemm,
      told(native({ status: 'failed', timing: null, error_code: 'KERNEL_CALL' })),
      place,
    );
    expect(row).toMatchObject({ time_mean_ns: null, batches: 0, roofline_ratio: null, energy_windows: 0 });
    expect(row).toMatchObject({
      status: 'failed',
      error_code: 'KERNEL_CALL',
      energy_reason: 'it was not asked for',
    });
  });
});

test('what the runner tells beside what is used here does no harm', () => {
  const event = {
    event: 'result',
    index: 0,
    start_ns: '1',
    end_ns: '2',
    provenance: null,
    row: { ...native(), label: 'x' },
  };
  expect(KernelEvent.parse(event)).toMatchObject({ event: 'result', row: { flop: 2000 } });
});
