import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import {
  type ComparisonInput,
  comparisonVerdict,
  type SensorBand,
  sensorBandOf,
} from './comparison-verdict.js';

const exact: SensorBand = { energy_j: 100, lo_j: 100, hi_j: 100, scale_error_ratio: null, sensor: 'a' };
/** ± 10 %, all of it scale. */
const scaled = (sensor: string): SensorBand => ({
  energy_j: 100,
  lo_j: 90,
  hi_j: 110,
  scale_error_ratio: 0.1,
  sensor,
});
/** ± 10 %, none of it scale. */
const vague: SensorBand = { energy_j: 100, lo_j: 90, hi_j: 110, scale_error_ratio: null, sensor: 'a' };

type Energy = NonNullable<ComparisonInput['energy']>;
const energy = (changes: Partial<Energy> = {}): Energy => ({
  a: exact,
  b: exact,
  power: 1,
  repeats: 3,
  ...changes,
});
const ratio = (lo: number, hi: number) => ({ value: (lo + hi) / 2, lo, hi });

// biome-ignore format: a table is read in columns
test.each<[why: string, estimate: ComparisonInput['estimate'], energy: ComparisonInput['energy'], verdict: string | null]>([
  ['accuracy apart',                                   ratio(1.05, 1.2),  null,                                          'different'],
  ['accuracy alike',                                   ratio(0.95, 1.2),  null,                                          'within noise'],
  ['no difference just at the edge',                   ratio(1, 1.2),     null,                                          'within noise'],
  ['nothing to judge',                                 null,              null,                                          null],
  ['not a number',                                     ratio(Number.NaN, 2), null,                                       null],
  ['energy apart, sensors exact',                      ratio(1.05, 1.2),  energy(),                                      'different'],
  ['energy alike',                                     ratio(0.9, 1.1),   energy(),                                      'within noise'],
  ['two repeats never differ',                         ratio(3, 4),       energy({ repeats: 2 }),                        'within noise'],
  ['but a declared spread stands for them',            ratio(3, 4),       energy({ repeats: 0, declared_spread: true }), 'different'],
  ['another sensor\'s scale may make it all',          ratio(1.05, 1.2),  energy({ a: scaled('a'), b: scaled('b') }),    'not resolved by the sensors'],
  ['not where it is far apart',                        ratio(1.3, 1.5),   energy({ a: scaled('a'), b: scaled('b') }),    'different'],
  ['the scale cancels on the same sensor',             ratio(1.05, 1.2),  energy({ a: scaled('a'), b: scaled('a') }),    'different'],
  ['other bounds do not',                              ratio(1.05, 1.2),  energy({ a: vague, b: vague }),                'not resolved by the sensors'],
  ['nor for what divides by energy',                   ratio(0.8, 0.9),   energy({ a: vague, b: vague, power: -1 }),     'not resolved by the sensors'],
  ['less of it, far enough',                           ratio(0.5, 0.6),   energy({ a: vague, b: vague, power: -1 }),     'different'],
  ['energy that may be 0 bounds nothing',              ratio(1.5, 1.6),   energy({ b: { ...vague, lo_j: 0 } }),          'not resolved by the sensors'],
  ['no energy on one side',                            ratio(1.5, 1.6),   energy({ b: { ...vague, energy_j: 0 } }),      null],
  ['sampling noise comes before the sensors',          ratio(0.9, 1.2),   energy({ a: scaled('a'), b: scaled('b') }),    'within noise'],
])('%s', (_, estimate, of, verdict) => {
  const result = comparisonVerdict({ scale: 'ratio', estimate, energy: of });
  expect(result.verdict).toBe(verdict);
  expect(result.reason).not.toBe('');
});

test('two repeats say why', () => {
  const { reason } = comparisonVerdict({
    scale: 'ratio',
    estimate: ratio(3, 4),
    energy: energy({ repeats: 2 }),
  });
  expect(reason).toContain('between-run spread unknown');
});

test('the interval of the verdict has the bounds of both sensors in it', () => {
  const wide = comparisonVerdict({
    scale: 'ratio',
    estimate: ratio(2, 3),
    energy: energy({ a: vague, b: vague }),
  });
  expect(wide.lo).toBeCloseTo((2 * 0.9) / 1.1, 12);
  expect(wide.hi).toBeCloseTo((3 * 1.1) / 0.9, 12);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, lo: number, hi: number, a: SensorBand, b: SensorBand, verdict: string | null]>([
  ['apart by more than both bounds',       25, 35, vague, vague, 'different'],
  ['apart by less',                         8, 15, vague, vague, 'not resolved by the sensors'],
  ['the common scale cancels',              8, 15, scaled('a'), scaled('a'), 'different'],
  ['none apart',                           -1,  1, exact, exact, 'within noise'],
])('a difference in joules: %s', (_, lo, hi, a, b, verdict) => {
  const values = [100, 110] as const;
  const result = comparisonVerdict({ scale: 'difference', estimate: ratio(lo, hi), energy: energy({ a, b, values }) });
  expect(result.verdict).toBe(verdict);
});

test("a cell's band names its host and sensors, and the scale error that is sure to cancel", () => {
  const domain = (id: string, scale_error_ratio: number | null) => testDomain({ id, scale_error_ratio });
  const cell = {
    boundary: { provenance: 'counter' as const, domains: [domain('b', 0.05), domain('a', 0.02)] },
    gross_j: 10,
    gross_lo_j: 9,
    gross_hi_j: 11,
  };
  expect(sensorBandOf(cell, 'box')).toEqual({
    energy_j: 10,
    lo_j: 9,
    hi_j: 11,
    scale_error_ratio: 0.02,
    sensor: 'box/a box/b',
  });
  expect(sensorBandOf({ ...cell, gross_j: null }, 'box')).toBeNull();
});
