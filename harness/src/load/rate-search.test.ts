import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { expect, test } from 'vitest';
import { type RateSearch, type RateTrial, type SearchStep, searchStep } from './rate-search.js';

const search: RateSearch = {
  lo_per_s: 5,
  hi_per_s: 80,
  tolerance_ratio: 0.05,
  repeats: 1,
  max_trials: 50,
};

type End = Extract<SearchStep, { readonly kind: 'end' }>;

/** Plays a search whose trials pass where `meets` says so. */
function play(
  own: RateSearch,
  meets: (rate: number, repeat: number) => boolean,
  made: RateTrial[] = [],
): End {
  for (;;) {
    const step = searchStep(made, own);
    if (step.kind === 'end') return step;
    if (made.length >= own.max_trials) throw new Error('more trials than allowed');
    made.push({ rate_per_s: step.rate_per_s, passed: meets(step.rate_per_s, step.repeat) });
  }
}

// biome-ignore format: a table is read in columns
test.each<[capacity: number, verdict: End['verdict'], trials: number, why: string]>([
  [3,   'lowest_fails',   1, 'below the bracket'],
  [5,   'found',          8, 'the lowest meets them just so'],
  [23,  'found',          8, 'in the middle: 16 times apart halves to 5 % in six steps'],
  [100, 'highest_passes', 2, 'above the bracket'],
])('a capacity of %d/s ends as %s after %d trials: %s', (capacity, verdict, trials) => {
  const made: RateTrial[] = [];
  expect(play(search, (rate) => rate <= capacity, made).verdict).toBe(verdict);
  expect(made).toHaveLength(trials);
});

test('the lowest rate is tried first, then the highest, then between', () => {
  const made: RateTrial[] = [];
  play(search, (rate) => rate <= 30, made);
  expect(made.slice(0, 3).map(({ rate_per_s }) => rate_per_s)).toEqual([5, 80, 20]);
});

test('most of the trials of a rate decide, no more are made than that takes, and a split is no pass', () => {
  const made: RateTrial[] = [];
  const thrice = { ...search, repeats: 3 };
  play(thrice, (rate, repeat) => (rate === 5 ? repeat !== 1 : rate <= 5), made);
  const at = (rate: number) => made.filter((own) => own.rate_per_s === rate).map(({ passed }) => passed);
  expect(at(5)).toEqual([true, false, true]);
  expect(at(80)).toEqual([false, false]);
  const twice = play({ ...search, repeats: 2 }, (_, repeat) => repeat === 0);
  expect(twice).toMatchObject({ verdict: 'lowest_fails', rate_per_s: null, fails_per_s: 5 });
});

test('a search that runs out of trials tells its bracket', () => {
  const end = play({ ...search, max_trials: 4 }, (rate) => rate <= 30);
  expect(end).toEqual({ kind: 'end', verdict: 'trials_spent', rate_per_s: 20, fails_per_s: 40 });
});

const searches = fc.record({
  lo_per_s: fc.double({ min: 0.01, max: 100, noNaN: true }),
  times: fc.double({ min: 1.001, max: 1e4, noNaN: true }),
  capacity: fc.double({ min: 0.5, max: 1.5, noNaN: true }),
  tolerance_ratio: fc.constantFrom(0, 1e-12, 0.01, 0.05, 0.5),
  repeats: fc.integer({ min: 1, max: 5 }),
});

property.prop([searches])(
  'every search ends, and what it finds is within the tolerance below the capacity',
  (own) => {
    const { lo_per_s, times, capacity, tolerance_ratio, repeats } = own;
    const rates = { lo_per_s, hi_per_s: lo_per_s * times };
    const truth = lo_per_s * times ** capacity;
    const end = play({ ...rates, tolerance_ratio, repeats, max_trials: 2000 }, (rate) => rate <= truth);
    if (truth < lo_per_s) expect(end.verdict).toBe('lowest_fails');
    else if (truth >= rates.hi_per_s) expect(end.verdict).toBe('highest_passes');
    else {
      expect(end.verdict).toBe('found');
      expect(end.rate_per_s).toBeLessThanOrEqual(truth);
      expect(end.fails_per_s).toBeGreaterThan(truth);
      const apart = (end.fails_per_s ?? 0) / (end.rate_per_s ?? 1);
      expect(apart).toBeLessThanOrEqual(1 + Math.max(tolerance_ratio, 1e-9));
    }
  },
);

property.prop([searches, fc.integer({ min: 0, max: 1000 })])(
  'a search over trials of pure luck ends, and one that is cut off goes on as if it had not been',
  (own, seed) => {
    const rng = createRng(seed);
    const { lo_per_s, times, tolerance_ratio, repeats } = own;
    const all = { lo_per_s, hi_per_s: lo_per_s * times, tolerance_ratio, repeats, max_trials: 500 };
    const made: RateTrial[] = [];
    const end = play(all, () => rng() < 0.5, made);
    expect(searchStep(made, all)).toEqual(end);
    const half = made.slice(0, Math.floor(made.length / 2));
    let next = half.length;
    expect(play(all, () => made[next++]?.passed ?? false, half)).toEqual(end);
  },
);
