import { expect, test } from 'vitest';
import { CALIBRATION_FORMAT, Calibration, calibratedSource } from './calibration.js';
import type { Domain, PowerSource, SampleColumns } from './power.js';
import { instant } from './units.js';

const calibration = Calibration.parse({
  format: CALIBRATION_FORMAT,
  date: '2026-11-30T12:00:00.000Z',
  host: 'here',
  perwatt_version: '1.2.3',
  source: 'rapl',
  domains: ['package-0'],
  against: { source: 'wall', domains: ['wall:0'], provenance: 'external', scale_error_ratio: 0.01 },
  lag_ns: 0,
  n: 8,
  scale: 1.2,
  scale_lo: 1.19,
  scale_hi: 1.21,
  offset_w: 20,
  offset_lo_w: 19,
  offset_hi_w: 21,
  residual_sd_w: 0.1,
  chi2_ratio: 1,
  scale_error_ratio: 0.222,
  points: [],
  sha256: 'a'.repeat(64),
});

const domain = (id: string, scale_error_ratio: number | null): Domain => ({
  id,
  source: 'rapl',
  scope: 'package',
  kind: 'counter',
  provenance: 'counter',
  in_total: true,
  update_period_ns: 1e6,
  quantum: null,
  scale_error_ratio,
  note: null,
});

const columns = { booked_energy_j: Float64Array.of(0, 7) } as unknown as SampleColumns;

const source = (name: string): PowerSource => ({
  name,
  provenance: 'counter',
  default_period_ns: 1e8,
  start: () => ({
    source: name,
    domains: [domain('package-0', 0.05), domain('core', null)],
    raw_units: ['uJ', 'uJ'],
    period_ns: 1e8,
    drain: () => columns,
    mark: () => instant(0n),
    status: () => ({ state: 'running', reason: null, reads: 1, missed_deadlines: 0, read_ns: 0 }),
    stop: () => {},
  }),
});

test('the calibrated error takes the place of the declared one, with a label, for the domains it was made of', () => {
  const { domains } = calibratedSource(source('rapl'), [calibration]).start();
  expect(domains[0]).toMatchObject({
    scale_error_ratio: 0.222,
    calibration: { sha256: 'a'.repeat(64), against: 'wall', scale: 1.2, offset_w: 20 },
  });
  expect(domains[1]).toEqual(source('rapl').start().domains[1]);
});

test('booked joules are handed on as they are', () => {
  expect(calibratedSource(source('rapl'), [calibration]).start().drain()).toBe(columns);
});

test('a source that it was not made of is left alone', () => {
  const other = source('nvml');
  expect(calibratedSource(other, [calibration])).toBe(other);
});

// biome-ignore format: a table is read in columns
test.each([
  [{ scale: 0 },                'a scale that is none'],
  [{ sha256: 'x' },             'a digest that is none'],
  [{ surprise: 1 },             'a key that nobody knows'],
  [{ format: 'perwatt-calibration/2' }, 'another format'],
])('%j is no calibration: %s', (change, _why) => {
  expect(Calibration.safeParse({ ...calibration, ...change }).success).toBe(false);
});
