import type { MetricValue } from '@perwatt/metrics';
import { expect, test } from 'vitest';
import {
  formatJoules,
  formatMetric,
  formatNanos,
  formatNumber,
  formatPercent,
  formatShare,
  formatWithUnit,
  meaningfulDigits,
} from './format.js';

// biome-ignore format: a table is read in columns
test.each<[value: number, digits: number, text: string, why: string]>([
  [0,           3, '0',       'nothing is not 0.00'],
  [12.345,      3, '12.3',    'digits that count'],
  [12.996,      3, '13.0',    'rounding keeps the last digit'],
  [9.999,       3, '10.0',    'rounding up to one more place'],
  [0.00123,     2, '0.0012',  'small, still without exponent'],
  [0.0000123,   3, '1.23e-5', 'tiny'],
  [123456,      3, '123000',  'no digits that mean nothing'],
  [12345678,    3, '1.23e7',  'huge'],
  [-4.567,      2, '-4.6',    'below 0'],
  [Number.NaN,  3, '–',       'no number'],
])('%d to %d digits is %s: %s', (value, digits, text) => {
  expect(formatNumber(value, digits)).toBe(text);
});

// biome-ignore format: a table is read in columns
test.each<[value: number | null, lo: number | null, hi: number | null, digits: number, why: string]>([
  [62.4, 61.9, 62.9, 3, 'half a joule: tenths count'],
  [62.4, 59,   65,   2, 'three joules: whole ones count'],
  [62.4, 20,   110,  2, 'never fewer than two'],
  [62.4, 62.4, 62.4, 3, 'no spread, still three'],
  [62.4, null, null, 3, 'no interval'],
  [62.4, 62.39, 62.41, 3, 'never more than three'],
  [0,    -1,   1,    3, 'nothing to compare with'],
  [null, null, null, 3, 'missing'],
])('%s in [%s, %s] has %d digits: %s', (value, lo, hi, digits) => {
  expect(meaningfulDigits({ value, lo, hi })).toBe(digits);
});

// biome-ignore format: a table is read in columns
test.each<[ratio: number, text: string]>([
  [0, '0 %'], [1, '100 %'], [0.999, '>99 %'], [0.753, '75 %'], [0.0123, '1.2 %'], [0.0001, '<0.1 %'],
])('the share %d is %s', (ratio, text) => {
  expect(formatPercent(ratio)).toBe(text);
});

// biome-ignore format: a table is read in columns
test.each<[ns: number, text: string]>([
  [12, '12.0 ns'], [1500, '1.50 µs'], [29.5e6, '29.5 ms'], [1.2e9, '1.20 s'], [0, '0 ns'], [Number.NaN, '–'],
])('%d ns is %s', (ns, text) => {
  expect(formatNanos(ns)).toBe(text);
});

test.each([
  [5, '5.00 J'],
  [9999, '10000 J'],
  [19_900, '19.9 kJ'],
  [3.2e6, '3.20 MJ'],
  [-20, '-20.0 J'],
])('%d J is %s', (joules, text) => {
  expect(formatJoules(joules)).toBe(text);
});

test('a share has its interval in per cent, and a missing one a dash', () => {
  expect(formatShare({ value: 0.75, lo: 0.652, hi: 0.828 })).toBe('75 % [65, 83]');
  expect(formatShare({ value: 0.75, lo: null, hi: null })).toBe('75 %');
  expect(formatShare({ value: null, lo: null, hi: null })).toBe('–');
});

const metric = (changes: Partial<MetricValue>): MetricValue => ({
  value: 62.44,
  lo: 61.9,
  hi: 62.9,
  interval: 'sensor_bounds',
  sampling_lo: null,
  sampling_hi: null,
  sensor_lo: 61.9,
  sensor_hi: 62.9,
  spread: null,
  n: 10,
  unit: 'J',
  provenance: 'counter',
  reason: null,
  note: null,
  ...changes,
});

// biome-ignore format: a table is read in columns
test.each<[changes: Partial<MetricValue>, text: string, withUnit: string, why: string]>([
  [{},                                            '62.4',          '62.4 J',        'measured'],
  [{ provenance: 'estimated', lo: 30, hi: 90 },   '~62',           '~62 J',         'estimated joules are marked'],
  [{ value: null, reason: 'no_power' },           '–',             '–',             'missing is never 0'],
  [{ unit: '1', value: 0.5, lo: 0.4, hi: 0.6 },   '50 % [40, 60]', '50 % [40, 60]', 'shares are per cent'],
  [{ unit: 'ns', value: 2e6, lo: null, hi: null }, '2.00 ms',      '2.00 ms',       'times bring their unit'],
])('%j is shown as %s, with its unit %s: %s', (changes, text, withUnit) => {
  expect(formatMetric(metric(changes))).toBe(text);
  expect(formatWithUnit(metric(changes))).toBe(withUnit);
});
