import { type Checkpoint, restoreTrainer, saveCheckpoint } from './checkpoint.js';
import type { EvalRecord, Recipe, RecipeParams, StepRecord, Trainer } from './recipe.js';

/** What happens while one seed is trained, in order. */
export type TrainEvent =
  | { readonly kind: 'eval'; readonly record: EvalRecord }
  | { readonly kind: 'step'; readonly record: StepRecord }
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint };

/** One seed's training. */
export interface SeedTraining {
  readonly params: RecipeParams;
  readonly seed: number;
  /** Where to go on from; from the start unless given. */
  readonly from?: Checkpoint | null;
}

/** Whether a step is followed by an evaluation. */
const isDue = (
  step: number,
  { steps, eval_every }: { readonly steps: number; readonly eval_every: number },
) => step === steps || step % eval_every === 0;

/**
 * Trains one seed step by step: an evaluation before the first step, every few steps and after the last, each followed by
 * a checkpoint. Going on from a checkpoint gives what would have followed it, bit by bit. Nothing here depends on time,
 * other seeds or threads.
 */
export function* trainSeed(
  recipe: Recipe,
  { params, seed, from = null }: SeedTraining,
): Generator<TrainEvent> {
  const length = recipe.length(params);
  const trainer: Trainer = from === null ? recipe.start(params, seed) : restoreTrainer(recipe, from);
  const of = { recipe, params, seed };
  if (from === null) {
    yield { kind: 'eval', record: trainer.evaluate() };
    yield { kind: 'checkpoint', checkpoint: saveCheckpoint(trainer, of) };
  }
  while (trainer.step < length.steps) {
    yield { kind: 'step', record: trainer.train() };
    if (!isDue(trainer.step, length)) continue;
    yield { kind: 'eval', record: trainer.evaluate() };
    yield { kind: 'checkpoint', checkpoint: saveCheckpoint(trainer, of) };
  }
}
