import { fc, test as propTest } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { expect, test } from 'vitest';
import { byYear, type DatedCell, releaseYear } from './by-year.js';
import {
  type Factor,
  type LongitudinalCell,
  type LongitudinalPair,
  longitudinalSplit,
} from './longitudinal-split.js';
import { publishedFigures } from './published-figures.js';

const pair: LongitudinalPair = { model: ['m23', 'm25'], accelerator: ['a23', 'a25'] };

const cell = (
  model: string,
  accelerator: string,
  value: number | null,
  context = 'gpu, counter',
): LongitudinalCell => ({
  model,
  accelerator,
  value,
  context,
});

/** Four cells of a base, a model and a hardware factor, and an interaction that only new on new has. */
const world = (
  base: number,
  { model, hardware, interaction }: { model: number; hardware: number; interaction: number },
) => [
  cell('m23', 'a23', base),
  cell('m25', 'a23', base * model),
  cell('m23', 'a25', base * hardware),
  cell('m25', 'a25', base * model * hardware * interaction),
];

const near = (factor: Factor, expected: number) =>
  expect(Math.abs((factor.value ?? Number.NaN) / expected - 1)).toBeLessThan(1e-12);

const positive = fc.double({ min: 0.05, max: 50, noNaN: true });

propTest.prop([positive, fc.record({ model: positive, hardware: positive, interaction: positive })], {
  examples: [[0.004, { model: 3.1, hardware: 1.7, interaction: 1 }]],
})('drawn factors and interactions come back in both orders', (base, truth) => {
  const split = longitudinalSplit(world(base, truth), pair);
  const { model, hardware, interaction } = truth;
  near(split.gain, model * hardware * interaction);
  near(split.model_first.model, model);
  near(split.model_first.hardware, hardware * interaction);
  near(split.hardware_first.hardware, hardware);
  near(split.hardware_first.model, model * interaction);
  near(split.mean.model, model * Math.sqrt(interaction));
  near(split.mean.hardware, hardware * Math.sqrt(interaction));
  near(split.interaction, interaction);
  for (const part of [split.model_first, split.hardware_first, split.mean])
    near(split.gain, (part.model.value ?? 0) * (part.hardware.value ?? 0));
});

test('5.3 is 3.1 × 1.7 when nothing interacts', () => {
  const split = longitudinalSplit(world(1, { model: 3.1, hardware: 1.7, interaction: 1 }), pair);
  expect(split.gain.value?.toFixed(1)).toBe('5.3');
  expect(split.mean.model.value).toBeCloseTo(3.1, 12);
  expect(split.mean.hardware.value).toBeCloseTo(1.7, 12);
});

/** IPW of synthetic runs: answers right at the accuracy, each query's energy with noise of 10 %, over fixed seconds. */
function syntheticRun(truth: { readonly accuracy: number; readonly power_w: number }, seed: number) {
  const random = createRng(seed);
  const rows = Array.from({ length: 400 }, () => ({
    right: random() < truth.accuracy ? 1 : 0,
    energy_j: truth.power_w * 2 * (0.9 + 0.2 * random()),
  }));
  const ipw = (picked: readonly (typeof rows)[number][]) => {
    const sum = (key: 'right' | 'energy_j') => picked.reduce((total, row) => total + row[key], 0);
    return sum('right') / picked.length / (sum('energy_j') / (2 * picked.length));
  };
  const pick = () => rows[Math.floor(random() * rows.length)]!;
  return { value: ipw(rows), resamples: Array.from({ length: 300 }, () => ipw(rows.map(pick))) };
}

test('intervals over synthetic runs hold the true factors about as often as they say', () => {
  const truth = { model: 3.1, hardware: 1.7, interaction: 0.9 };
  const runs = 40;
  const held = { model: 0, hardware: 0, interaction: 0 };
  for (let run = 0; run < runs; run++) {
    const accuracy = { m23: 0.232, m25: 0.232 * 3.1 };
    const power = (m: 'm23' | 'm25', a: 'a23' | 'a25') =>
      200 / (a === 'a25' ? 1.7 * (m === 'm25' ? 0.9 : 1) : 1);
    const cells = (['m23', 'm25'] as const).flatMap((m, i) =>
      (['a23', 'a25'] as const).map((a, j) => ({
        ...cell(m, a, null),
        ...syntheticRun({ accuracy: accuracy[m], power_w: power(m, a) }, 1000 + 4 * run + 2 * i + j),
      })),
    );
    const split = longitudinalSplit(cells, pair);
    const holds = ({ lo, hi }: Factor, value: number) =>
      lo !== null && hi !== null && lo <= value && value <= hi ? 1 : 0;
    held.model += holds(split.model_first.model, truth.model);
    held.hardware += holds(split.hardware_first.hardware, truth.hardware);
    held.interaction += holds(split.interaction, truth.interaction);
  }
  for (const count of Object.values(held)) expect(count / runs).toBeGreaterThanOrEqual(0.85);
});

const four = world(1, { model: 3, hardware: 2, interaction: 1 });
const without = (...gone: string[]) =>
  four.filter(({ model, accelerator }) => !gone.includes(`${model} ${accelerator}`));

// biome-ignore format: a table is read in columns
test.each<[why: string, cells: LongitudinalCell[], known: string, reason: RegExp]>([
  ['the old model never ran on new hardware',  without('m23 a25'),                       'gain model_first',      /no cell of m23 on a25/],
  ['the new model never ran on old hardware',  without('m25 a23'),                       'gain hardware_first',   /no cell of m25 on a23/],
  ['neither crossing cell',                    without('m23 a25', 'm25 a23'),            'gain',                  /no cell of m25 on a23/],
  ['no cell at all',                           [],                                       '',                      /no cell of m23 on a23/],
  ['a cell without a value',                   [...without('m23 a25'), cell('m23', 'a25', null)], 'gain model_first', /no value above 0 of m23 on a25/],
  ['a value of 0',                             [...without('m23 a25'), cell('m23', 'a25', 0)],    'gain model_first', /no value above 0/],
  ['another boundary',                         [...without('m23 a25'), cell('m23', 'a25', 2, 'wall')], 'gain model_first', /cells differ in gpu, counter and wall/],
  ['a cell twice',                             [...four, cell('m23', 'a25', 2)],         'gain model_first',      /2 cells of m23 on a25/],
])('%s: what can be told is told, the rest is null with a reason', (_why, cells, known, reason) => {
  const split = longitudinalSplit(cells, pair);
  const parts = {
    gain: [split.gain],
    model_first: [split.model_first.model, split.model_first.hardware],
    hardware_first: [split.hardware_first.hardware, split.hardware_first.model],
    mean: [split.mean.model, split.mean.hardware, split.interaction],
  };
  const told = Object.entries(parts).filter(([, factors]) => factors.every(({ value }) => value !== null));
  expect(told.map(([name]) => name).join(' ')).toBe(known);
  expect(split.interaction.reason).toMatch(reason);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, resamples: (number[] | undefined)[], reason: string]>([
  ['no draws',                [undefined, undefined, undefined, undefined],  'no draws to make an interval of'],
  ['draws of three cells',    [[1], [1], [1], undefined],                    'no draws to make an interval of'],
  ['unequal numbers',         [[1, 2], [1, 2], [1, 2], [1]],                 'cells with different numbers of draws'],
  ['draws of nothing',        [[0, 0], [1, 1], [1, 1], [1, 1]],              'too many draws without a ratio'],
])('keeps the factor and gives no interval for %s', (_why, resamples, reason) => {
  const cells = four.map((c, i) => (resamples[i] === undefined ? c : { ...c, resamples: resamples[i] }));
  const { interaction } = longitudinalSplit(cells, pair);
  expect(interaction).toEqual({ value: 1, lo: null, hi: null, reason });
});

const dated = (model: string, model_year: number | null, value: number | null, context = 'c'): DatedCell => ({
  ...cell(model, 'a', value, context),
  model_year,
  accelerator_year: 2024,
});

test('a table of years keeps contexts apart and says what has no place in it', () => {
  const found = byYear([
    dated('b', 2025, 4),
    dated('a', 2025, 1),
    dated('old', 2023, 1),
    dated('w', 2025, 9, 'wall'),
    dated('x', null, 1),
    dated('y', 2025, null),
  ]);
  expect(
    found.entries.map(({ context, model_year, cells, best, mean }) => [
      context,
      model_year,
      cells,
      best.model,
      mean,
    ]),
  ).toEqual([
    ['c', 2023, 1, 'old', 1],
    ['c', 2025, 2, 'b', 2],
    ['wall', 2025, 1, 'w', expect.closeTo(9, 12)],
  ]);
  expect(found.left_out.map(({ reason }) => reason)).toEqual([
    'release year of the model unknown',
    'no value above 0',
  ]);
});

// biome-ignore format: a table is read in columns
test.each<[date: string | null, year: number | null]>([
  ['2025-04-29', 2025],
  ['2025-04',    2025],
  ['2025',       null],
  ['soon',       null],
  [null,         null],
])('the year of %j is %j', (date, year) => {
  expect(releaseYear(date)).toBe(year);
});

test('published figures stay a table of their own, with trust', () => {
  const { figures, provenance } = publishedFigures();
  expect(provenance).toBe('published');
  expect(new Set(figures.map(({ id }) => id)).size).toBe(figures.length);
  const value = (id: string) => figures.find((figure) => figure.id === id)?.value as number;
  expect(value('ipw-gain-model') * value('ipw-gain-hardware')).toBeCloseTo(value('ipw-gain'), 1);
  expect(value('single-best-2025') / value('single-best-2023')).toBeCloseTo(value('ipw-gain-model'), 1);
  for (const resource of ['energy', 'compute', 'cost'])
    expect(value(`router-80-${resource}`)).toBeCloseTo(0.8 * value(`oracle-${resource}`), 1);
  expect(figures.find(({ id }) => id === 'domain-engineering')?.trust).toBe('conflicting');
});
