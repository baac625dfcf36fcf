import type { Instant } from '@perwatt/core';
import type { Checkpoint, EvalRecord, RecipeParams, StepRecord } from '@perwatt/recipes';
import type { CarriedError } from './power-thread-messages.js';

/** One seed for a thread to train. */
export interface TrainJob {
  readonly recipe: string;
  readonly params: RecipeParams;
  readonly seed: number;
  /** Where to go on from; null for the start. */
  readonly from: Checkpoint | null;
}

/** When a piece of work was done, and its CPU time; null where the system does not tell. */
export interface TrainStamps {
  readonly start_ns: Instant;
  readonly end_ns: Instant;
  readonly cpu_ns: number | null;
}

/** What a training thread says. */
export type TrainMessage =
  | { readonly kind: 'step'; readonly record: StepRecord; readonly stamps: TrainStamps }
  | { readonly kind: 'eval'; readonly record: EvalRecord; readonly stamps: TrainStamps }
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'failed'; readonly error: CarriedError };
