import type { EvalRecord, Recipe, StepRecord } from './recipe.js';
import { recipeById } from './recipes.js';
import { trainSeed } from './train-seed.js';

/** One seed's whole training. */
export interface Trained {
  readonly evals: readonly EvalRecord[];
  readonly steps: readonly StepRecord[];
}

const known = new Map<string, Trained>();

/** Time that a test of whole trainings may take on a machine that is busy with others. */
export const PATIENCE = { timeout: 240_000 };

/** Recipes whose votes a test reads; of the others none are counted, which costs more than their training. */
const VOTED = ['selfcest'];

/** Trains one seed of a recipe; a training that a test file asks for again is not repeated. */
export function trained(id: string, set: Readonly<Record<string, unknown>>, seed: number): Trained {
  const key = JSON.stringify([id, set, seed]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const { serve, ...plain } = recipeById(id);
  const recipe: Recipe = VOTED.includes(id) && serve !== undefined ? { ...plain, serve } : plain;
  const evals: EvalRecord[] = [];
  const steps: StepRecord[] = [];
  for (const event of trainSeed(recipe, { params: recipe.parse(set), seed })) {
    if (event.kind === 'eval') evals.push(event.record);
    if (event.kind === 'step') steps.push(event.record);
  }
  const done = { evals, steps };
  known.set(key, done);
  return done;
}

/** Mean and n − 1 standard deviation of a figure over seeds 0 to n − 1. */
export function overSeeds(n: number, of: (seed: number) => number) {
  const values = Array.from({ length: n }, (_, seed) => of(seed));
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  return { values, mean, sd };
}

/** Mean score of an evaluation. */
export const accuracyOf = ({ scores }: Pick<EvalRecord, 'scores'>): number =>
  scores.reduce((sum, value) => sum + value, 0) / scores.length;

/** A measure of the last evaluation. */
export const lastMeasure = ({ evals }: Trained, name: string): number =>
  evals.at(-1)?.measures[name] ?? Number.NaN;

/** Accuracy of the last evaluation. */
export const lastAccuracy = ({ evals }: Trained): number => accuracyOf(evals.at(-1)!);

/** How many standard deviations a lies above b, by the greater of their spreads. */
export const margin = (
  a: { readonly mean: number; readonly sd: number },
  b: { readonly mean: number; readonly sd: number },
): number => (a.mean - b.mean) / Math.max(a.sd, b.sd);
