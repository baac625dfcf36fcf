import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { below, createRandom, normal } from '../numeric/random.js';
import { adamwStep, lengthOf, warmCosine } from './adamw.js';
import { backward, targetGradient } from './backward.js';
import { batchOf, type Sequence } from './batch.js';
import { complete, createDecoder } from './decode.js';
import { forward, toProbabilities } from './forward.js';
import { createModel, drawWeights, type ModelSize, parameterCount, weightsOf } from './model.js';
import { workspaces } from './workspace.js';

const size: ModelSize = {
  vocabulary: 8,
  positions: 24,
  answer_at: 12,
  width: 8,
  heads: 2,
  hidden: 12,
  layers: 2,
};
const seeds = fc.integer({ min: 0, max: 1_000_000 });

function drawn(seed: number, precision: 'f32' | 'f64' = 'f64') {
  const model = createModel(size, precision);
  const random = createRandom(seed, 'model');
  drawWeights(model, random);
  for (const part of [model.weights.norm, ...model.weights.layers.flatMap((l) => [l.norm1, l.norm2, l.bias])])
    for (let i = 0; i < part.length; i++) part[i] = 0.3 * normal(random);
  const sequences = Array.from({ length: 4 }, (): Sequence => {
    const tokens = Array.from({ length: 2 + below(random, 8) }, () => below(random, size.vocabulary));
    return { tokens, given: 1 + below(random, tokens.length - 1) };
  });
  return { model, random, sequences, space: workspaces(size, precision) };
}

describe('a model', () => {
  test.prop([seeds])('has the gradient that finite differences have, in every part', (seed) => {
    const { model, random, sequences, space: roomFor } = drawn(seed);
    const batch = batchOf(sequences, size);
    const space = roomFor(batch.rows);
    const weights = Float64Array.from({ length: batch.rows }, () => normal(random));
    const logProbs = new Float64Array(batch.rows);
    const loss = () => {
      forward(model, space, batch);
      toProbabilities(model, space, batch, logProbs);
      return -logProbs.reduce((sum, own, i) => sum + own * weights[i]!, 0);
    };
    loss();
    const gradient = weightsOf(new Float64Array(parameterCount(size)), size);
    targetGradient(model, space, batch, weights);
    backward(model, space, batch, gradient);
    const { flat, layers, ...parts } = model.weights;
    const own = [parts, ...layers].flatMap((part) => Object.values(part));
    const { flat: _, layers: d_layers, ...d_parts } = gradient;
    const theirs = [d_parts, ...d_layers].flatMap((part) => Object.values(part));
    expect(own.reduce((sum, part) => sum + part.length, 0)).toBe(flat.length);
    for (const [i, part] of own.entries()) {
      const along = Float64Array.from(part, () => normal(random));
      const at = part.slice();
      const moved = (h: number) => {
        for (let j = 0; j < part.length; j++) part[j] = at[j]! + h * along[j]!;
        return loss();
      };
      const slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      part.set(at);
      const want = along.reduce((sum, own, j) => sum + own * theirs[i]![j]!, 0);
      expect(Math.abs(slope - want)).toBeLessThan(1e-4 * (1 + Math.abs(want)));
    }
  });

  test.prop([seeds])('gives the same bits with keys and values kept as over the whole sequence', (seed) => {
    const { model, sequences, space: roomFor } = drawn(seed, 'f32');
    const batch = batchOf(sequences, size);
    const space = roomFor(batch.rows);
    forward(model, space, batch);
    const decoder = createDecoder(model, sequences.length);
    for (let position = 0; position < size.positions; position++) {
      const open = sequences.flatMap(({ tokens }, s) => (position + 1 < tokens.length ? [s] : []));
      if (open.length === 0) return;
      const logits = decoder.step(
        open.map((slot) => ({
          token: sequences[slot]!.tokens[position]!,
          slot,
          given: sequences[slot]!.given,
        })),
        position,
      );
      for (const [row, s] of open.entries()) {
        const at = (batch.starts[s]! + position) * size.vocabulary;
        expect(logits.slice(row * size.vocabulary, (row + 1) * size.vocabulary)).toEqual(
          space.logits.slice(at, at + size.vocabulary),
        );
      }
    }
  });

  test.prop([seeds, fc.integer({ min: 0, max: 3 })])(
    'writes up to an end or the most tokens, each by the probability that it is drawn with',
    (seed, most) => {
      const { model, random, sequences, space: roomFor } = drawn(seed, 'f32');
      const prompts = sequences.map(({ tokens }) => tokens.slice(0, 8));
      const written = complete(model, prompts, { most, end: 0, draw: random.next });
      const wholes = written.map(({ tokens }, s) => ({
        tokens: [...prompts[s]!, ...tokens],
        given: prompts[s]!.length,
      }));
      const batch = batchOf(wholes, size);
      const space = roomFor(batch.rows);
      const logProbs = new Float64Array(batch.rows);
      forward(model, space, batch);
      toProbabilities(model, space, batch, logProbs);
      for (const [s, { tokens, log_probs }] of written.entries()) {
        const first = batch.starts[s]! + prompts[s]!.length - 1;
        expect([...logProbs.subarray(first, first + tokens.length)]).toEqual(log_probs);
        expect(tokens.slice(0, -1)).not.toContain(0);
        expect(tokens.length === Math.max(1, most) || tokens.at(-1) === 0).toBe(true);
      }
    },
  );

  it('writes the likeliest tokens the same way every time', () => {
    const { model, sequences } = drawn(3, 'f32');
    const write = () =>
      complete(
        model,
        sequences.map(({ tokens }) => tokens),
        { most: 3, end: 0, draw: null },
      );
    expect(write()).toEqual(write());
  });
});

describe('a batch', () => {
  it('learns what follows what is given, and nothing else', () => {
    const batch = batchOf(
      [
        { tokens: [1, 2, 3, 4], given: 2 },
        { tokens: [5], given: 1 },
        { tokens: [6, 7], given: 1 },
      ],
      { answer_at: 9 },
    );
    expect([...batch.starts]).toEqual([0, 3, 3, 4]);
    expect([...batch.tokens]).toEqual([1, 2, 3, 6]);
    expect([...batch.positions]).toEqual([0, 1, 9, 0]);
    expect([...batch.targets]).toEqual([-1, 3, 4, 7]);
    expect(batch.learnt).toBe(3);
  });
});

describe('AdamW', () => {
  const adam = (n: number) => ({
    first: new Float64Array(n),
    second: new Float64Array(n),
    steps: new Float64Array(1),
  });

  it('moves by the step length at first whatever the gradient, and decays apart from it', () => {
    const parameters = Float64Array.of(1, 1, 1);
    const step = { lr: 0.1, decay: 0.5, clip: 1e9 };
    expect(adamwStep(parameters, Float64Array.of(300, -0.4, 0), { adam: adam(3), step })).toBeCloseTo(300, 3);
    expect(parameters[0]).toBeCloseTo(0.85, 6);
    expect(parameters[1]).toBeCloseTo(1.05, 6);
    expect(parameters[2]).toBeCloseTo(0.95, 12);
  });

  it('cuts a gradient to a length, and keeps its direction', () => {
    const state = adam(2);
    adamwStep(Float64Array.of(0, 0), Float64Array.of(30, 40), {
      adam: state,
      step: { lr: 1, decay: 0, clip: 5 },
    });
    expect(state.first[0]).toBeCloseTo(0.3, 12);
    expect(state.first[1]).toBeCloseTo(0.4, 12);
    expect(lengthOf(Float64Array.of(3, 4))).toBe(5);
  });

  it('leaves everything alone at a gradient that is no number', () => {
    const [parameters, state] = [Float64Array.of(1), adam(1)];
    adamwStep(parameters, Float64Array.of(Number.NaN), { adam: state, step: { lr: 1, decay: 1, clip: 1 } });
    expect([...parameters, ...state.first, ...state.steps]).toEqual([1, 0, 0]);
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { step: 0,   want: 0.1,  why: 'a tenth of ten steps' },
    { step: 9,   want: 1,    why: 'warm' },
    { step: 10,  want: 1,    why: 'at the top' },
    { step: 60,  want: 0.55, why: 'half-way down' },
    { step: 110, want: 0.1,  why: 'at the end' },
    { step: 999, want: 0.1,  why: 'after it' },
  ])('has a share of $want at step $step: $why', ({ step, want }) => {
    expect(warmCosine(step, { warmup: 10, total: 110 })).toBeCloseTo(want, 12);
  });
});
