import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import { createTable } from '../numeric/softmax.js';
import { plurality } from '../numeric/votes.js';
import { recipeById } from '../recipes.js';
import {
  accuracyOf,
  lastAccuracy,
  lastMeasure,
  margin,
  overSeeds,
  PATIENCE,
  trained,
} from '../training.fixture.js';
import { ADOPT, createCritic, debate } from './debate.js';
import { collect, star } from './multiagent-ft.js';
import { hinted } from './training.js';
import { createGenerator, createWorld, MEMBERS, WAYS } from './world.js';

describe('a debate', () => {
  test.prop([fc.integer({ min: 0, max: 500 })])(
    'has one part a member, and a consensus that somebody said',
    (seed) => {
      const generator = createGenerator(seed);
      const critic = createCritic();
      const team = { generators: Array(MEMBERS).fill(generator), critics: Array(MEMBERS).fill(critic) };
      const world = createWorld(seed, 'easy');
      const own = debate(team, seed % 24, {
        world,
        systematic_share: 0.6,
        random: createRandom(seed, 'debate'),
      });
      expect(own.parts).toHaveLength(MEMBERS);
      expect(own.parts.map(({ last }) => last)).toContain(own.consensus);
      expect(own.parts.map(({ first }) => first.answer)).toContain(own.majority);
    },
  );

  it("shows each member the others' plurality, its own answer left out", () => {
    const ways = [0, 0, 1, 1, 2];
    const generators = ways.map((way) => {
      const table = createTable(24, WAYS);
      table.logits[way] = 60;
      return table;
    });
    const adopting = createTable(6, 3);
    for (let row = 0; row < 6; row++) adopting.logits[3 * row + ADOPT] = 60;
    const team = { generators, critics: ways.map(() => adopting) };
    // Way 0 is always right, ways 1 and 2 always say 1 and 2.
    const accuracy = Float64Array.from({ length: 24 * WAYS }, (_, i) => (i % WAYS === 0 ? 1 : 0));
    const systematic = Uint8Array.from({ length: 24 * WAYS }, (_, i) => i % WAYS);
    for (let seed = 0; seed < 20; seed++) {
      const random = createRandom(seed, 'others');
      const { parts } = debate(team, 0, { world: { accuracy, systematic }, systematic_share: 1, random });
      expect(parts.map(({ first }) => first.answer)).toEqual(ways);
      expect(parts.slice(0, 4).map(({ last }) => last)).toEqual([1, 1, 0, 0]);
    }
  });

  it('goes to the plurality, and draws ties by the generator', () => {
    const random = createRandom(1, 'votes');
    expect(plurality([2, 1, 2], random)).toEqual({ answer: 2, votes: 2 });
    expect(plurality([], random)).toBeNull();
    const drawn = new Set(Array.from({ length: 50 }, () => plurality([1, 2], random)?.answer));
    expect(drawn).toEqual(new Set([1, 2]));
  });
});

describe('fine-tuning of a team', PATIENCE, () => {
  const n = 10;
  const set = { eval_every: 25 };
  const hard = { eval_every: 5, eval_items: 2000, regime: 'hard', rounds: 5 };
  const entropy = (id: string) =>
    overSeeds(n, (seed) => lastMeasure(trained(id, set, seed), 'mixture_entropy'));

  it('keeps at least twice the entropy of single-member fine-tuning after as many rounds', () => {
    const [multi, single] = [entropy('multiagent_ft'), entropy('single_ft')];
    expect(multi.mean / single.mean).toBeGreaterThan(2);
    expect(margin(multi, single)).toBeGreaterThan(2);
  });

  it('lets members diverge by more than 1 nat, where a single member can not differ from itself', () => {
    const kl = overSeeds(n, (seed) => lastMeasure(trained('multiagent_ft', set, seed), 'cross_kl'));
    expect(kl.mean - 1).toBeGreaterThan(2 * kl.sd);
    expect(lastMeasure(trained('single_ft', set, 0), 'cross_kl')).toBe(0);
  });

  it('loses accuracy later than the single member where the plurality is often wrong', () => {
    const lead = overSeeds(
      24,
      (seed) =>
        lastAccuracy(trained('multiagent_ft', hard, seed)) - lastAccuracy(trained('single_ft', hard, seed)),
    );
    expect(lead.mean).toBeGreaterThan((2 * lead.sd) / Math.sqrt(24));
  });

  it.each(['multiagent_ft', 'single_ft', 'star'])('%s gains more than 10 points on easy items', (id) => {
    const gain = overSeeds(n, (seed) => {
      const done = trained(id, set, seed);
      return lastAccuracy(done) - accuracyOf(done.evals[0]!);
    });
    expect(gain.mean - 0.1).toBeGreaterThan(2 * gain.sd);
  });
});

describe('the self-taught reasoner', () => {
  const solving = { world: createWorld(3, 'easy'), systematic_share: 0.6, random: createRandom(3, 'star') };

  it('keeps right answers only, and more of them with a hint at hand', () => {
    const generator = createGenerator(3);
    const without = collect(generator, { solving, items: 400, rationalise: 'off' });
    const with_ = collect(generator, { solving, items: 400, rationalise: 'on' });
    expect(without.lessons.length).toBe(without.right);
    expect(with_.lessons.length).toBeGreaterThan(with_.right);
    expect(with_.lessons.every(({ way }) => way < WAYS)).toBe(true);
  });

  it('prefers ways that are often right when told the answer', () => {
    const p = hinted(Float64Array.of(0.5, 0.5, 0, 0, 0), Float64Array.of(0.9, 0.1, 1, 1, 1));
    expect([...p]).toEqual([0.9, 0.1, 0, 0, 0].map((value) => expect.closeTo(value, 12)));
  });

  it('starts every round from the first weights', () => {
    const params = recipeById('star').parse({ items: 1, epochs: 1, rounds: 50 });
    const trainer = star.start(params, 1);
    const first = [...trainer.state['table_0']!];
    const moved = Array.from({ length: 30 }, () => {
      trainer.train();
      return [...trainer.state['table_0']!].filter((value, i) => value !== first[i]).length;
    });
    expect(Math.max(...moved)).toBeLessThanOrEqual(WAYS);
  });
});
