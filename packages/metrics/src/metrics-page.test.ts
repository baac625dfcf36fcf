import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { figurePowers, powersOf, productNames } from './energy-figures.js';
import { evaluate, parseFormula, symbolPowers } from './formula.js';
import { metrics } from './metric-definitions.js';
import { metricsPage } from './metrics-page.js';

test('docs/metrics.md is what the definitions say; else run `npm run docs:metrics`', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  expect(page).toBe(metricsPage());
});

test('ids are unique, end in their unit, and every metric needs what its formula holds', () => {
  expect(new Set(metrics.map(({ id }) => id)).size).toBe(metrics.length);
  const endings = {
    '1': '',
    W: '_w',
    J: '_j',
    '1/W': '_per_w',
    '1/J': '_per_j',
    '1/s': '_per_s',
    ns: '_ns',
    tokens: '',
    calls: '',
  };
  for (const { id, unit, energy, needs } of metrics) {
    expect(id.endsWith(endings[unit]), id).toBe(true);
    expect(needs.includes('baseline'), id).toBe(energy === 'net' || energy === 'net_host');
    expect(needs.length, id).toBeGreaterThan(0);
  }
});

// biome-ignore format: a table is read in columns
test.each<[formula: string, value: number | null, why: string]>([
  ['A / (E / N)',  0.5 / (60 / 4), 'brackets'],
  ['E / N / A',    60 / 4 / 0.5,   'from left to right'],
  ['A · E / T',    0.5 * 60 / 8,   'a product'],
  ['E / O',        null,           'divided by 0'],
  ['E / I',        null,           'a total that is missing'],
  ['mean(e)',      null,           'a list is none of the totals'],
])('%s is %d: %s', (formula, value) => {
  expect(evaluate(parseFormula(formula), { A: 0.5, E: 60, N: 4, T: 8, O: 0 })).toBe(value);
});

test.each(['A /', 'A / (E', 'A B', 'x / E', 'max(e)', 'p5(e)', ''])('"%s" is no formula', (formula) => {
  expect(() => parseFormula(formula)).toThrow(TypeError);
});

test('powers follow from the formula, and everything twice over changes no figure', () => {
  expect([...symbolPowers(parseFormula('A / (E / T)'))]).toEqual([
    ['A', 1],
    ['E', -1],
    ['T', 1],
  ]);
  expect(powersOf('ipj_per_j')).toEqual([1, -1, 1, 0, -1, 0, 0, 0]);
  expect(powersOf('ipj_per_j', 'net')).toEqual([1, -1, 1, 0, 0, -1, 0, 0]);
  for (const name of productNames) {
    const { powers, complete } = figurePowers(name);
    expect(complete).toBe(true);
    expect(powers.reduce((sum, power) => sum + power, 0)).toBe(0);
  }
});
