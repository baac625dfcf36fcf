import { type Checkpoint, restoreTrainer, saveCheckpoint } from './checkpoint.js';
import type { EvalRecord, Recipe, RecipeParams, RecipePhase, StepRecord, Trainer } from './recipe.js';
import { votedAccuracy } from './voted-accuracy.js';

/** What happens while one seed is trained, in order. */
export type TrainEvent =
  /** Votes were counted, and code was warmed up, for the evaluation that follows: time that belongs to neither. */
  | { readonly kind: 'aside' }
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

/** Steps that an evaluation follows: every few, the last one of a phase, and the last of all. */
function isDue(recipe: Recipe, params: RecipeParams): (step: number) => boolean {
  const { steps, eval_every } = recipe.length(params);
  const ends = phaseEnds(recipe.phases?.(params) ?? []);
  return (step) => step === steps || step % eval_every === 0 || ends.includes(step);
}

/** The last step of each phase. */
export function phaseEnds(phases: readonly RecipePhase[]): number[] {
  let end = 0;
  return phases.map(({ steps }) => {
    end += steps;
    return end;
  });
}

/** Votes that are counted before training, for what an untrained policy can do with more attempts, and after it. */
const votesBefore = [3, 5, 9, 17, 33];
const votesAfter = [3, 5];

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
  const due = isDue(recipe, params);
  const trainer: Trainer = from === null ? recipe.start(params, seed) : restoreTrainer(recipe, from);
  const look = function* (): Generator<TrainEvent> {
    const votes = trainer.step === 0 ? votesBefore : trainer.step === length.steps ? votesAfter : [];
    const voted = votedAccuracy(recipe, trainer, { seed, votes });
    if (trainer.step === 0) trainer.evaluate();
    if (votes.length > 0) yield { kind: 'aside' };
    const record = trainer.evaluate();
    yield { kind: 'eval', record: { ...record, measures: { ...record.measures, ...voted } } };
    yield { kind: 'checkpoint', checkpoint: saveCheckpoint(trainer, { recipe, params, seed }) };
  };
  if (from === null) yield* look();
  while (trainer.step < length.steps) {
    yield { kind: 'step', record: trainer.train() };
    if (due(trainer.step)) yield* look();
  }
}
