import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { adamStep, createAdam } from './adam.js';
import { clippedWeight, groupAdvantages } from './advantage.js';
import { below, createRandom, normal, permutation } from './random.js';
import {
  actionAt,
  addTable,
  ascend,
  clampRow,
  createTable,
  entropy,
  klDivergence,
  normalise,
  probabilities,
} from './softmax.js';

const finite = fc.double({ min: -20, max: 20, noNaN: true });
const logits = fc.array(finite, { minLength: 2, maxLength: 12 });

describe('the generator', () => {
  it('goes on from a copied state as it would have', () => {
    const random = createRandom(7, 'test');
    for (let i = 0; i < 100; i++) random.next();
    const copy = createRandom(0, 'other');
    copy.state.set(random.state);
    expect(Array.from({ length: 20 }, copy.next)).toEqual(Array.from({ length: 20 }, random.next));
  });

  it('gives the same numbers for a seed and purpose, others for another purpose', () => {
    const first = Array.from({ length: 5 }, createRandom(3, 'a').next);
    expect(Array.from({ length: 5 }, createRandom(3, 'a').next)).toEqual(first);
    expect(Array.from({ length: 5 }, createRandom(3, 'b').next)).not.toEqual(first);
  });

  it('draws a normal distribution of mean 0 and standard deviation 1', () => {
    const random = createRandom(1, 'normal');
    const values = Array.from({ length: 20_000 }, () => normal(random));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const square = values.reduce((sum, value) => sum + value * value, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(square - 1)).toBeLessThan(0.05);
  });

  test.prop([fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 1, max: 40 })])(
    'permutes and draws within bounds',
    (seed, n) => {
      const random = createRandom(seed, 'permutation');
      expect(permutation(random, n).sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
      expect(below(random, n)).toBeLessThan(n);
    },
  );
});

describe('softmax', () => {
  test.prop([logits])('sums to 1 and keeps the order of the logits', (values) => {
    const p = Float64Array.from(values);
    normalise(p);
    expect(p.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
    const best = values.indexOf(Math.max(...values));
    expect(p[best]).toBe(Math.max(...p));
  });

  test.prop([logits, logits])('diverges by at least 0, and by 0 from itself', (a, b) => {
    const n = Math.min(a.length, b.length);
    const [p, q] = [a, b].map((values) => Float64Array.from(values.slice(0, n)));
    normalise(p!);
    normalise(q!);
    expect(klDivergence(p!, q!)).toBeGreaterThanOrEqual(-1e-12);
    expect(klDivergence(p!, p!)).toBe(0);
    expect(entropy(p!)).toBeLessThanOrEqual(Math.log(n) + 1e-12);
  });

  test.prop([logits, fc.nat(), finite])(
    'climbs along the gradient of the log-probability',
    (values, pick, weight) => {
      const table = createTable(1, values.length);
      table.logits.set(values);
      const p = new Float64Array(values.length);
      probabilities(table, 0, p);
      const action = pick % values.length;
      ascend(table, { row: 0, action, p }, weight);
      const moved = table.logits.map((value, a) => value - values[a]!);
      expect(moved.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 8);
      expect(moved[action]).toBeCloseTo(weight * (1 - p[action]!), 9);
    },
  );

  it('draws the action that a number falls on, and the last for what rounding leaves over', () => {
    const p = Float64Array.of(0.2, 0.3, 0.5);
    expect([0, 0.19, 0.2, 0.49, 0.5, 0.999_999].map((u) => actionAt(p, u))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(actionAt(Float64Array.of(0.1, 0.1), 0.9)).toBe(1);
  });

  it('keeps logits within their limit', () => {
    const table = createTable(2, 2);
    const gradient = createTable(2, 2);
    gradient.logits.set([1, -1, 3, 0.5]);
    addTable(table, gradient, { scale: 2, limit: 4 });
    expect([...table.logits]).toEqual([2, -2, 4, 1]);
    clampRow(table, 1, 3);
    expect([...table.logits]).toEqual([2, -2, 3, 1]);
  });
});

describe('group advantages', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { rewards: [1, 0],       want: [Math.SQRT1_2, -Math.SQRT1_2], why: 'deviations over the n − 1 standard deviation' },
    { rewards: [1, 1, 1],    want: [0, 0, 0],                     why: 'a flat group says nothing' },
    { rewards: [0, 1e-10],   want: [0, 0],                        why: 'so does one that is flat but for rounding' },
    { rewards: [5],          want: [0],                           why: 'one alone has nobody to be compared with' },
    { rewards: [],           want: [],                            why: 'none' },
  ])('of $rewards: $why', ({ rewards, want }) => {
    const got = groupAdvantages(rewards);
    expect(got).toHaveLength(want.length);
    for (const [i, value] of want.entries()) expect(got[i]).toBeCloseTo(value, 5);
  });

  test.prop([fc.array(finite, { minLength: 2, maxLength: 16 })])('sum to 0', (rewards) => {
    expect(groupAdvantages(rewards).reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
  });
});

describe('the clipped objective', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { ratio: 1,   advantage:  2, want:  2,    why: 'inside' },
    { ratio: 1.3, advantage:  2, want:  0,    why: 'already raised enough' },
    { ratio: 1.3, advantage: -2, want: -2.6,  why: 'raised though it should fall' },
    { ratio: 0.7, advantage: -2, want:  0,    why: 'already lowered enough' },
    { ratio: 0.7, advantage:  2, want:  1.4,  why: 'lowered though it should rise' },
  ])('keeps $want of ratio $ratio and advantage $advantage: $why', ({ ratio, advantage, want }) => {
    expect(clippedWeight(ratio, advantage, 0.2)).toBeCloseTo(want, 12);
  });
});

describe('Adam', () => {
  it('moves by the step length in the first step, whatever the size of the gradient', () => {
    const parameters = Float64Array.of(0, 0);
    adamStep(parameters, Float64Array.of(1000, -0.001), { adam: createAdam(2), lr: 0.1 });
    expect(parameters[0]).toBeCloseTo(0.1, 6);
    expect(parameters[1]).toBeCloseTo(-0.1, 4);
  });

  it('climbs a parabola to its top', () => {
    const parameters = Float64Array.of(4);
    const adam = createAdam(1);
    for (let i = 0; i < 2000; i++)
      adamStep(parameters, Float64Array.of(1 - parameters[0]!), { adam, lr: 0.02 });
    expect(parameters[0]).toBeCloseTo(1, 3);
  });
});
