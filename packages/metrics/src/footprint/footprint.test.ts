import { fc, test as propertyTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import {
  factorsOfRegion,
  parsePriceFile,
  type RegionFactors,
  shippedFactors,
  shippedPrices,
  withOwnFactors,
} from './factor-files.js';
import { carbonOf, costOf, type PaidTokens, tokenCostOf, waterOf } from './footprint.js';

const exact = (value: number) => ({ lo: value, hi: value });
const factors: RegionFactors = {
  region: 'here',
  name: 'here',
  pue: { lo: 1, hi: 1.5 },
  carbon_g_per_kwh: { lo: 100, hi: 400 },
  wue_l_per_kwh: { lo: 0, hi: 2 },
  water_l_per_kwh: { lo: 1, hi: 4 },
  tariff_per_kwh: { lo: 0.1, hi: 0.3, currency: 'EUR' },
  versions: [],
  sources: [],
};
const kwh = 3.6e6;

test('one kilowatt hour by hand', () => {
  expect(carbonOf(exact(kwh), factors)).toEqual({ lo: 100, hi: 600 });
  expect(waterOf(exact(kwh), factors)).toEqual({ lo: 1, hi: 8 });
  const cost = costOf(exact(kwh), factors);
  expect(cost).toMatchObject({ lo: 0.1, currency: 'EUR' });
  expect(cost?.hi).toBeCloseTo(0.45, 12);
  expect(costOf(exact(kwh), { ...factors, tariff_per_kwh: null })).toBe(null);
});

// biome-ignore format: a table is read in columns
test.each([
  [-1, 1,                        'negative energy is no amount'],
  [2, 1,                         'ends the wrong way round'],
  [0, Number.POSITIVE_INFINITY,  'without end'],
  [Number.NaN, 1,                'no number'],
])('from %d to %d J is refused', (lo, hi) => {
  for (const of of [carbonOf, waterOf, costOf]) expect(() => of({ lo, hi }, factors)).toThrowError(RangeError);
});

propertyTest.prop([
  fc.double({ min: 0, max: 1e12, noNaN: true }),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
])('twice the energy is twice everything, more is never less, and lo stays below hi', (a, b) => {
  const energy = { lo: Math.min(a, b), hi: Math.max(a, b) };
  const twice = { lo: 2 * energy.lo, hi: 2 * energy.hi };
  for (const of of [carbonOf, waterOf, costOf]) {
    const once = of(energy, factors);
    const double = of(twice, factors);
    expect(once?.lo).toBeLessThanOrEqual(once?.hi ?? NaN);
    expect(double?.lo).toBeCloseTo(2 * (once?.lo ?? NaN), 6);
    expect(double?.hi).toBeCloseTo(2 * (once?.hi ?? NaN), 6);
  }
});

describe('the shipped factors', () => {
  const shipped = shippedFactors();

  test('name a source for every figure, those from memory marked', () => {
    for (const region of Object.keys(shipped.regions)) {
      const { sources, versions } = factorsOfRegion(shipped, region);
      expect(sources.length).toBeGreaterThanOrEqual(4);
      expect(sources.join()).toMatch(/memory/);
      expect(versions).toEqual([`perwatt-factors ${shipped.date}`]);
    }
  });

  test('lie where grids lie: France below the world, the world below India', () => {
    const carbon = (region: string) => carbonOf(exact(kwh), factorsOfRegion(shipped, region));
    expect(carbon('france').hi).toBeLessThan(carbon('world').lo);
    expect(carbon('world').lo).toBeLessThan(carbon('india').lo);
  });

  test('an unknown region is answered with the nearest', () => {
    expect(() => factorsOfRegion(shipped, 'germny')).toThrowError(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('did you mean "germany"?') }),
    );
  });
});

describe("a user's own factors", () => {
  const own = (text: string) => withOwnFactors(shippedFactors(), { text, file: 'mine.yaml' });
  const head = 'factors_version: 1\nid: mine\ndate: 2026-11\n';

  test('replace what they have and leave the rest', () => {
    const mine = own(`${head}pue: { lo: 1.1, hi: 1.1, source: own }
sources: { own: { citation: our meter, year: 2026, trust: own } }
regions:
  lab: { name: the lab, carbon_g_per_kwh: { lo: 0, hi: 5, source: own } }
`);
    const lab = factorsOfRegion(mine, 'lab');
    expect(lab).toMatchObject({ pue: { lo: 1.1, hi: 1.1 }, tariff_per_kwh: null });
    expect(lab.versions).toEqual([expect.stringContaining('perwatt-factors'), 'mine 2026-11']);
    expect(lab.sources).toContain('own: our meter (2026, own)');
    expect(factorsOfRegion(mine, 'world').carbon_g_per_kwh.lo).toBe(440);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['id: x',                                               /factors_version.*date/,                 'no version, no date'],
    [`${head}pue: { lo: 0.9, hi: 1, source: pue }`,         /pue\.lo is 0\.9, but must be at least 1/,                  'less power than its computers'],
    [`${head}pue: { lo: 1.5, hi: 1.2, source: pue }`,       /pue: lo is above hi/,                   'ends the wrong way round'],
    [`${head}pue: { lo: 1, hi: 1.2, source: nobody }`,      /source "nobody" is not listed/,         'a source nobody knows'],
    [`${head}pew: 1`,                                       /pew/,                                   'a name misspelt'],
    [`${head}regions: { a: [`,                              /^mine\.yaml: /,                         'no YAML'],
  ])('%# is refused', (text, message) => {
    expect(() => own(text)).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) }),
    );
    expect(() => own(text)).toThrowError(/^mine\.yaml: /);
  });
});

describe('token prices', () => {
  const prices = parsePriceFile({
    file: 'prices.yaml',
    text: `prices_version: 1
id: ours
date: 2026-11-30
currency: EUR
models:
  - { model: a, provider: x, input_per_million: 1, output_per_million: 10, cached_input_per_million: 0.1, date: 2026-11, source: x }
  - { model: a, provider: y, input_per_million: 2, output_per_million: 8, date: 2026-11, source: y }
`,
  });

  // biome-ignore format: a table is read in columns
  test.each<[PaidTokens, number, number, string]>([
    [{ prompt_tokens: 1e6, completion_tokens: 0 },                       1,   2,   'input only'],
    [{ prompt_tokens: 0, completion_tokens: 1e6 },                       8,   10,  'output only: the other is cheaper'],
    [{ prompt_tokens: 1e6, completion_tokens: 0, cached_tokens: 1e6 },   0.1, 2,   'a cache that only one is cheaper for'],
    [{ prompt_tokens: 0, completion_tokens: 0 },                         0,   0,   'nothing'],
  ])('%j costs %d to %d', (tokens, lo, hi) => {
    expect(tokenCostOf(prices, 'a', tokens)).toEqual({ lo, hi });
  });

  test('a model without a price has none, and no price is made up for counts that cannot be', () => {
    expect(tokenCostOf(prices, 'b', { prompt_tokens: 1, completion_tokens: 1 })).toBe(null);
    expect(() =>
      tokenCostOf(prices, 'a', { prompt_tokens: 1, completion_tokens: 0, cached_tokens: 2 }),
    ).toThrowError(RangeError);
    expect(() => parsePriceFile({ file: 'p', text: 'models: []' })).toThrowError(
      expect.objectContaining({
        code: 'INPUT_INVALID',
        message: expect.stringMatching(/^p: prices_version/),
      }),
    );
  });

  test('the shipped ones have a date and a listed source each', () => {
    const shipped = shippedPrices();
    for (const { source, date } of shipped.models) {
      expect(Object.keys(shipped.sources)).toContain(source);
      expect(date).toMatch(/^20\d\d-\d\d$/);
    }
  });
});
