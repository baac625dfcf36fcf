import { type AdamW, type AdamWStep, adamwStep } from './adamw.js';
import { backward, targetGradient } from './backward.js';
import type { Batch } from './batch.js';
import { forward, toProbabilities } from './forward.js';
import { type Model, parameterCount, type Weights, weightsOf } from './model.js';
import { createReals } from './reals.js';
import { type Workspace, workspaces } from './workspace.js';

/** A model with all that it takes to train it. */
export interface Learner {
  readonly model: Model;
  readonly gradient: Weights;
  readonly adam: AdamW;
  readonly space: (rows: number) => Workspace;
}

/** Makes a learner of a model. */
export function createLearner({ size, precision, weights }: Model): Learner {
  const zeros = () => createReals(parameterCount(size), precision);
  return {
    model: { size, precision, weights },
    gradient: weightsOf(zeros(), size),
    adam: { first: zeros(), second: zeros(), steps: new Float64Array(1) },
    space: workspaces(size, precision),
  };
}

/** Forgets what AdamW knows. */
export function resetAdam({ adam }: Learner): void {
  adam.first.fill(0);
  adam.second.fill(0);
  adam.steps.fill(0);
}

/** Log-probabilities that a model gives to a batch's targets; 0 in rows without one. */
export function targetLogProbs(model: Model, space: Workspace, batch: Batch): Float64Array {
  const logProbs = new Float64Array(batch.rows);
  forward(model, space, batch);
  toProbabilities(model, space, batch, logProbs);
  return logProbs;
}

/**
 * One update: `weigh` gets the log-probabilities of the targets and says how much each is to rise, a row each, or null for
 * no update. Returns the length of the gradient; null where there was none.
 */
export function update(
  { model, gradient, adam, space: roomFor }: Learner,
  batch: Batch,
  {
    weigh,
    step,
  }: { readonly weigh: (logProbs: Float64Array) => Float64Array | null; readonly step: AdamWStep },
): number | null {
  const space = roomFor(batch.rows);
  const weights = weigh(targetLogProbs(model, space, batch));
  if (weights === null) return null;
  gradient.flat.fill(0);
  targetGradient(model, space, batch, weights);
  backward(model, space, batch, gradient);
  return adamwStep(model.weights.flat, gradient.flat, { adam, step });
}
