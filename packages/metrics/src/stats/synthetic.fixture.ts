import { createRng } from '@perwatt/core';
import { normalCdf } from '../distributions.js';
import type { Contribution } from './product-figure.js';

/** Standard normal numbers from a seeded generator (Box and Muller). */
export function normals(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A system under test whose true figures are known. */
export interface World {
  readonly items: number;
  readonly repeats: number;
  /** True joules a query and seconds a query. */
  readonly joules: number;
  readonly seconds: number;
  /** Standard deviation over mean: of the items' length, of one query's energy, and from run to run. */
  readonly item_cv: number;
  readonly query_cv: number;
  readonly run_cv: number;
  /** Probit of a middling item's chance to be right, and how much longer items are harder. */
  readonly skill: number;
  readonly hardness: number;
}

export const world: World = {
  items: 100,
  repeats: 3,
  joules: 40,
  seconds: 2,
  item_cv: 0.5,
  query_cv: 0.1,
  run_cv: 0.05,
  skill: 0.8,
  hardness: 0.5,
};

/** Accuracy over the whole population of items. */
export const trueAccuracy = ({ skill, hardness }: World): number =>
  normalCdf(skill / Math.sqrt(1 + hardness ** 2));

/** σ of a lognormal with mean 1 and this standard deviation. */
const sigma = (cv: number): number => Math.sqrt(Math.log1p(cv ** 2));

/**
 * One run: items drawn from the population, the same in every repeat. Totals are score, scored, queries, seconds, gross J,
 * net J, output tokens and all tokens, as everywhere.
 */
export function drawRun(w: World, seed: number, itemSeed = seed): Contribution[] {
  const random = createRng(seed);
  const [normal, ofItem] = [normals(random), normals(createRng(itemSeed ^ 0x5f3759df))];
  const lognormal = (cv: number, z: number) => Math.exp(sigma(cv) * z - sigma(cv) ** 2 / 2);
  const items = Array.from({ length: w.items }, () => {
    const z = ofItem();
    return { length: lognormal(w.item_cv, z), chance: normalCdf(w.skill - w.hardness * z) };
  });
  return Array.from({ length: w.repeats }, (_, repeat) => {
    const [run, pace] = [lognormal(w.run_cv, normal()), lognormal(w.run_cv / 2, normal())];
    return items.map(({ length, chance }, i): Contribution => {
      const joules = w.joules * length * run * lognormal(w.query_cv, normal());
      const seconds = w.seconds * length * pace * lognormal(w.query_cv / 2, normal());
      const score = random() < chance ? 1 : 0;
      return {
        item: `i${i}`,
        repeat,
        totals: [score, 1, 1, seconds, joules, joules - 10 * seconds, 100 * length, 300 + 100 * length],
      };
    });
  }).flat();
}

/** Whether heavy simulations run at their full size. */
export const FULL = process.env['PERWATT_FULL'] === '1';

/** Share of replicates whose interval holds the truth; null intervals count as misses. */
export function coverage(
  replicates: number,
  trial: (seed: number) => { lo: number; hi: number; truth: number } | null,
): number {
  let held = 0;
  for (let seed = 1; seed <= replicates; seed++) {
    const result = trial(seed);
    if (result !== null && result.lo <= result.truth && result.truth <= result.hi) held += 1;
  }
  return held / replicates;
}
