import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Checkpoint, parseCheckpoint, restoreTrainer, saveCheckpoint } from './checkpoint.js';
import { defineRecipe, type Recipe, type Trainer } from './recipe.js';
import { recipeById, recipes } from './recipes.js';
import { trainSeed } from './train-seed.js';

/** Parameters that make a training a few steps long. */
const short: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  selfcest: { iterations: 4, eval_every: 2, eval_items: 20 },
  sat: { stages: 4, eval_every: 2, eval_items: 20, episodes: 4 },
  ovcsd: { iterations: 4, eval_every: 2, eval_items: 12 },
  grpo: { iterations: 4, eval_every: 2, eval_items: 12 },
  unverified_distill: { iterations: 4, eval_every: 2, eval_items: 12 },
  multiagent_ft: { rounds: 4, eval_every: 2, eval_items: 20, items: 24 },
  single_ft: { rounds: 4, eval_every: 2, eval_items: 20, items: 24 },
  star: { rounds: 4, eval_every: 2, eval_items: 20, items: 24 },
  dsm_verifier: { updates: 4, eval_every: 2, eval_items: 20 },
  absolute_zero: { steps: 4, tokens: 4000, eval_every: 2, eval_items: 20 },
  router_fit: { steps: 4, eval_every: 2, eval_items: 20, queries: 50 },
  tiny_transformer: {
    ...{
      sft_steps: 2,
      sft_updates: 2,
      grpo_steps: 2,
      grpo_batches: 1,
      worked: 50,
      batch: 4,
      chains: 2,
      group: 2,
    },
    ...{ width: 16, hidden: 16, eval_every: 2, eval_items: 8 },
  },
};

const eventsOf = (recipe: Recipe, seed: number, from: Checkpoint | null = null) => [
  ...trainSeed(recipe, { params: recipe.parse(short[recipe.id] ?? {}), seed, from }),
];

describe.each(recipes.map((recipe) => [recipe.id, recipe] as const))('%s', (_, recipe) => {
  it('gives the same numbers for a seed, and others for another', () => {
    expect(eventsOf(recipe, 1)).toEqual(eventsOf(recipe, 1));
    expect(eventsOf(recipe, 2)).not.toEqual(eventsOf(recipe, 1));
  });

  it('goes on from a checkpoint, through its file, bit by bit as it would have', () => {
    const events = eventsOf(recipe, 3);
    const middle = events.findIndex((event) => event.kind === 'checkpoint' && event.checkpoint.step === 2);
    const event = events[middle];
    const checkpoint = event?.kind === 'checkpoint' ? event.checkpoint : null;
    const again = parseCheckpoint(JSON.stringify(checkpoint), 'x.json');
    expect(eventsOf(recipe, 3, again)).toEqual(events.slice(middle + 1));
  });

  it('counts what each step took in whole, finite numbers', () => {
    for (const event of eventsOf(recipe, 4)) {
      if (event.kind !== 'step') continue;
      const { reward, ...counts } = event.record;
      expect(Number.isFinite(reward)).toBe(true);
      for (const value of Object.values(counts)) expect(Number.isInteger(value) && value >= 0).toBe(true);
    }
  });

  it('answers its own items and nothing else', () => {
    if (recipe.serve === undefined) return;
    const trainer = recipe.start(recipe.parse(short[recipe.id] ?? {}), 5);
    const items = recipe.serve.items(5, 12);
    expect(new Set(items.map(({ id }) => id)).size).toBe(12);
    for (const { prompt } of items) {
      const answer = recipe.serve.answer(trainer, prompt, 1);
      expect(answer?.text).toEqual(expect.any(String));
      expect(recipe.serve.answer(trainer, prompt, 1)).toEqual(answer);
    }
    expect(recipe.serve.answer(trainer, 'What is the capital of France?', 1)).toBeNull();
  });
});

describe('a checkpoint', () => {
  const recipe = recipeById('router_fit');
  const params = recipe.parse({ ...short['router_fit'] });
  const good = saveCheckpoint(recipe.start(params, 1), { recipe, params, seed: 1 });

  // biome-ignore format: a table is read in columns
  it.each([
    { change: { recipe: 'sat' },                          want: /of recipe sat, not router_fit/,         why: 'another recipe' },
    { change: { version: 99 },                            want: /version 99 of recipe router_fit, this is version 1/, why: 'another version' },
    { change: { state: {} },                              want: /does not fit: "weights" differs/,       why: 'nothing in it' },
    { change: { state: { ...good.state, weights: { type: 'f64' as const, length: 4, base64: 'AAAA' } } }, want: /"weights" should hold 4 numbers/, why: 'cut off' },
    { change: { state: { ...good.state, weights: { ...good.state['weights']!, type: 'u32' as const } } }, want: /"weights" should hold/, why: 'another type' },
  ])('is refused that is of $why', ({ change, want }) => {
    expect(() => restoreTrainer(recipe, { ...good, ...change })).toThrow(want);
  });

  it('is refused when a number in it is none', () => {
    const trainer = recipe.start(params, 1);
    trainer.state['weights']!.fill(Number.NaN);
    const broken = saveCheckpoint(trainer, { recipe, params, seed: 1 });
    expect(() => restoreTrainer(recipe, broken)).toThrow(/no number/);
  });

  it('says which file is none', () => {
    expect(() => parseCheckpoint('{', 'a.json')).toThrow('checkpoint a.json is no JSON');
    expect(() => parseCheckpoint('{}', 'a.json')).toThrow(/checkpoint a\.json: format/);
  });
});

describe('parameters', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { input: { iteration: 3 },   want: /no parameter "iteration"; did you mean "iterations"/, why: 'unknown' },
    { input: { iterations: 0 },  want: /iterations is 0/,                                   why: 'too small' },
    { input: { lr: 'fast' },     want: /lr must be a number, not "fast"/,                                           why: 'no number' },
    { input: { lr: Number.NaN }, want: /lr must be a number, not NaN/,                                          why: 'not a number' },
  ])('that are $why are refused by name', ({ input, want }) => {
    expect(() => recipeById('selfcest').parse(input)).toThrow(want);
  });

  it('have a summary each', () => {
    for (const recipe of recipes)
      for (const { summary } of recipe.parameters) expect(summary.length).toBeGreaterThan(10);
  });

  it('of an unknown recipe are not looked for', () => {
    expect(() => recipeById('ovscd')).toThrow('there is no recipe "ovscd"; did you mean "ovcsd"?');
  });
});

it('stops at a reward that is no number, saying where', () => {
  const broken = defineRecipe({
    id: 'broken',
    version: 1,
    title: '',
    summary: '',
    effort: 'tokens',
    claims: [],
    params: z.strictObject({}),
    length: () => ({ steps: 3, eval_every: 1 }),
    start: (): Trainer => ({
      state: {},
      step: 0,
      train: () => ({
        step: 1,
        tokens: 0,
        env_actions: 0,
        privileged_actions: 0,
        calls: 0,
        verification_tokens: 0,
        updates: 0,
        rejected_updates: 0,
        reward: Number.NaN,
      }),
      evaluate: () => ({ step: 0, scores: new Float64Array(1), tokens: 0, calls: 0, measures: {} }),
    }),
  });
  expect(() => [...trainSeed(broken, { params: {}, seed: 0 })]).toThrow(
    'recipe broken: the mean reward of step 1 is NaN',
  );
});
