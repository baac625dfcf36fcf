import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import {
  fitRouter,
  parseRouterModel,
  type RouterModel,
  routerExamples,
  routerScore,
  splitItems,
} from './learned-router.js';
import { fitLogistic, sigmoid } from './logistic.js';
import { promptFeatureNames, promptFeatures } from './prompt-features.js';
import { simulatedOptions as options, simulateRouting } from './routing.fixture.js';
import { curveMetrics, routingCurve, savingWithin } from './routing-curve.js';
import type { RoutingItem } from './routing-items.js';

const features = ['difficulty', 'domain', 'distractor'];

/** Quality curve of scores over the simulated items of one repeat. */
const curveOf = (items: readonly RoutingItem[], score: (item: RoutingItem) => number) =>
  routingCurve(
    items.map((item) => ({
      score: score(item),
      weak_score: item.outcomes['local']!.score!,
      strong_score: item.outcomes['cloud']!.score!,
      weak_spent: 20,
      strong_spent: 120,
    })),
  );

function trained(noise: number, seed: number) {
  const train = simulateRouting(2000, { seed, noise });
  const held = simulateRouting(6000, { seed: seed + 100, noise });
  const examples = routerExamples(train.repeats[0], options, (id) => train.features.get(id) ?? null);
  const model = fitRouter(examples, { weak: 'local', strong: 'cloud', features, strong_share: 0.3, seed });
  return { model, held, examples };
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a router trained on simulated items', () => {
  const seeds = [1, 2, 3, 4];
  const runs = [0, 0.15, 0.4].map((noise) => ({
    noise,
    curves: seeds.map((seed) => {
      const { model, held } = trained(noise, seed);
      return curveOf(held.repeats[0], ({ item_id }) => routerScore(model, held.features.get(item_id) ?? []));
    }),
  }));

  // biome-ignore format: a table is read in columns
  test.each<[noise: number, apgr: number, cpt50: number, cpt80: number, saving: number]>([
    [0,    0.736, 0.237, 0.419, 0.26],
    [0.15, 0.714, 0.250, 0.460, 0.19],
    [0.4,  0.652, 0.303, 0.587, 0.09],
  ])('recovers the gap, with feature noise %d', (noise, apgr, cpt50, cpt80, saving) => {
    const curves = runs.find((run) => run.noise === noise)!.curves;
    const metrics = curves.map(curveMetrics);
    expect(Math.abs(average(metrics.map((m) => m.apgr!)) - apgr)).toBeLessThan(0.02);
    expect(Math.abs(average(metrics.map((m) => m.cpt50!)) - cpt50)).toBeLessThan(0.03);
    expect(Math.abs(average(metrics.map((m) => m.cpt80!)) - cpt80)).toBeLessThan(0.05);
    expect(Math.abs(average(curves.map((c) => savingWithin(c, 0.01)!.saving)) - saving)).toBeLessThan(0.06);
  });

  test('lies between random and oracle, and less noise is better', () => {
    const { held } = trained(0, 1);
    const random = createRng(5);
    const chance = curveMetrics(curveOf(held.repeats[0], () => random())).apgr!;
    const oracle = curveMetrics(
      curveOf(held.repeats[0], ({ outcomes }) => outcomes['cloud']!.score! - outcomes['local']!.score!),
    ).apgr!;
    const [none = 0, some = 0, much = 0] = runs.map(({ curves }) =>
      average(curves.map((c) => curveMetrics(c).apgr!)),
    );
    expect(Math.abs(chance - 0.5)).toBeLessThan(0.05);
    expect(oracle).toBeGreaterThan(none);
    expect(none).toBeGreaterThan(some);
    expect(some).toBeGreaterThan(much);
    expect(much).toBeGreaterThan(chance + 0.1);
  });

  test('sends about the share that its threshold was set for', () => {
    const { model, held } = trained(0.15, 2);
    const scores = [...held.features.values()].map((values) => routerScore(model, values));
    const share = scores.filter((score) => score >= model.threshold).length / scores.length;
    expect(Math.abs(share - 0.3)).toBeLessThan(0.05);
  });
});

describe('the stored form', () => {
  const { model, examples } = trained(0.15, 1);

  test('reads back what was written, and the same seed trains the same router', () => {
    expect(parseRouterModel(JSON.stringify(model), 'router.json')).toEqual(model);
    const again = fitRouter([...examples].reverse(), {
      weak: 'local',
      strong: 'cloud',
      features,
      strong_share: 0.3,
      seed: 1,
    });
    expect(again).toEqual(model);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, change: Partial<Record<keyof RouterModel, unknown>>, message: RegExp]>([
    ['another format',     { format: 'perwatt-router/2' }, /router\.json: format: /],
    ['too few weights',    { weights: [1] },               /weights: has 1 values for 3 features/],
    ['a scale of 0',       { scale: [1, 0, 1] },           /scale\.1: /],
    ['an unknown key',     { colour: 'red' } as never,     /colour/],
    ['no threshold',       { threshold: null },            /threshold: /],
  ])('refuses %s', (_why, change, message) => {
    expect(() => parseRouterModel(JSON.stringify({ ...model, ...change }), 'router.json')).toThrow(message);
  });

  test('refuses what is no JSON', () => {
    expect(() => parseRouterModel('{', 'router.json')).toThrow(/router file router\.json is no JSON/);
  });

  test('scores nothing on features of the wrong number', () => {
    expect(routerScore(model, [1])).toBeNaN();
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, examples: { features: number[]; needs_strong: boolean }[]]>([
  ['no examples',             []],
  ['one kind of label',       Array.from({ length: 20 }, (_, i) => ({ features: [i], needs_strong: true }))],
  ['a feature that is none',  Array.from({ length: 20 }, (_, i) => ({ features: [Number.NaN], needs_strong: i % 2 === 0 }))],
  ['too many features',       Array.from({ length: 20 }, (_, i) => ({ features: [i, i], needs_strong: i % 2 === 0 }))],
])('cannot be trained on %s', (_why, list) => {
  const examples = list.map((example, i) => ({ ...example, item_id: `i${i}` }));
  const train = () => fitRouter(examples, { weak: 'a', strong: 'b', features: ['x'], strong_share: 0.5, seed: 1 });
  expect(train).toThrow(/a router can't be trained on \d+ examples/);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, local: number | null, cloud: number | null, needs: boolean[]]>([
  ['the strong model helps',      0,    1,    [true]],
  ['neither is right',            0,    0,    [false]],
  ['both are right',              1,    1,    [false]],
  ['only the weak one is right',  1,    0,    [false]],
  ['half right is not right',     0.5,  1,    [true]],
  ['one was not scored',          null, 1,    []],
])('an example where %s', (_why, local, cloud, needs) => {
  const outcome = (score: number | null) => ({ score, energy_j: 1, flop: null, cost_usd: null });
  const items = ['known', 'strange'].map((item_id) => ({ item_id, outcomes: { local: outcome(local), cloud: outcome(cloud) } }));
  const found = routerExamples(items, options, (id) => (id === 'known' ? [1] : null));
  expect(found.map(({ needs_strong }) => needs_strong)).toEqual(needs);
});

describe('logistic regression', () => {
  test('finds the log odds of a table, unpenalised', () => {
    const rows = [...Array(30).fill([0]), ...Array(40).fill([1])];
    const labels = rows.map((_, i) => (i < 30 ? i < 10 : i < 60));
    const fit = fitLogistic(rows, labels, { l2: 0 });
    expect(fit?.intercept).toBeCloseTo(Math.log(10 / 20), 6);
    expect(fit?.weights[0]).toBeCloseTo(Math.log(30 / 10) - Math.log(10 / 20), 6);
    expect(fit?.converged).toBe(true);
  });

  test('meets the condition of its optimum: the penalty balances the residuals', () => {
    const random = createRng(3);
    const rows = Array.from({ length: 200 }, () => [random(), random() * 5]);
    const labels = rows.map(([a = 0, b = 0]) => random() < sigmoid(2 * a - b + 1));
    const fit = fitLogistic(rows, labels, { l2: 2 })!;
    const miss = rows.map(
      (row, i) =>
        (labels[i] ? 1 : 0) - sigmoid(fit.intercept + row[0]! * fit.weights[0]! + row[1]! * fit.weights[1]!),
    );
    expect(miss.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 6);
    for (const j of [0, 1])
      expect(miss.reduce((sum, m, i) => sum + m * rows[i]![j]!, 0)).toBeCloseTo(2 * fit.weights[j]!, 6);
  });

  test('stays finite on data that a line separates', () => {
    const fit = fitLogistic([[-2], [-1], [1], [2]], [false, false, true, true]);
    expect(fit?.converged).toBe(true);
    expect(fit?.weights[0]).toBeGreaterThan(0.5);
    expect(fit?.weights[0]).toBeLessThan(5);
  });

  test('ignores a feature that never changes', () => {
    expect(
      fitLogistic(
        [
          [5, 0],
          [5, 1],
          [5, 0],
          [5, 1],
        ],
        [false, true, true, true],
      )?.weights[0],
    ).toBeCloseTo(0, 1);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, rows: number[][], labels: boolean[]]>([
    ['nothing',           [],              []],
    ['unequal rows',      [[1], [1, 2]],   [true, false]],
    ['too few labels',    [[1], [2]],      [true]],
    ['one kind',          [[1], [2]],      [true, true]],
    ['no numbers',        [[1], [1 / 0]],  [true, false]],
  ])('refuses %s', (_why, rows, labels) => {
    expect(fitLogistic(rows, labels)).toBeNull();
  });
});

test('a split holds items of one id together, whatever their order', () => {
  const items = Array.from({ length: 500 }, (_, i) => ({ item_id: `i${i}` }));
  const { first, second } = splitItems(items, { seed: 4, share: 0.7 });
  expect(first.length + second.length).toBe(500);
  expect(Math.abs(first.length / 500 - 0.7)).toBeLessThan(0.06);
  const reversed = splitItems([...items].reverse(), { seed: 4, share: 0.7 });
  expect(new Set(reversed.first)).toEqual(new Set(first));
});

// biome-ignore format: a table is read in columns
test.each<[name: (typeof promptFeatureNames)[number], prompt: string, value: number]>([
  ['log_characters',     '',                                0],
  ['log_characters',     'abc',                             Math.log(4)],
  ['log_words',          'two words',                       Math.log(3)],
  ['mean_word_length',   'ab abcd',                         3],
  ['digit_share',        'a1b2',                            0.5],
  ['upper_case_share',   'aBCd',                            0.5],
  ['symbol_share',       'a+b?',                            0.5],
  ['log_lines',          'a\nb\nc',                         Math.log(3)],
  ['log_question_marks', 'what? why?',                      Math.log(3)],
  ['option_lines',       'Which?\nA) one\nB. two\n(C) three\nD none', 3],
  ['has_code',           'def f(x):',                       1],
  ['has_code',           'no code here',                    0],
])('%s of %j is %d', (name, prompt, value) => {
  const values = promptFeatures(prompt);
  expect(values).toHaveLength(promptFeatureNames.length);
  expect(values[promptFeatureNames.indexOf(name)]).toBeCloseTo(value, 12);
});
