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
  /** It takes jobs now; `at_ns` is when its code was loaded. */
  | { readonly kind: 'ready'; readonly at_ns: Instant }
  /** Votes were counted and code was warmed up: neither training nor evaluation. */
  | { readonly kind: 'aside'; readonly stamps: TrainStamps }
  /** The job has ended. */
  | { readonly kind: 'done' }
  | { readonly kind: 'step'; readonly record: StepRecord; readonly stamps: TrainStamps }
  | { readonly kind: 'eval'; readonly record: EvalRecord; readonly stamps: TrainStamps }
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'failed'; readonly error: CarriedError };

/** What a thread says of a job while it lasts. */
export type JobMessage = Exclude<TrainMessage, { readonly kind: 'ready' | 'done' | 'failed' }>;
