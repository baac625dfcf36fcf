import type { CallInput, Sampling } from '@perwatt/core';

/** What the engine's process is started with. */
export interface EngineOptions {
  readonly modelPath: string;
  readonly threads: number;
  readonly gpu: boolean;
  /** Tokens a sequence may hold; null takes what the model was trained for, 4,096 at most. */
  readonly contextTokens: number | null;
  readonly sequences: number;
  /** Name the engine's library is imported by. */
  readonly engineModule: string;
}

/** What the engine says of itself once the model is loaded. */
export interface EngineFacts {
  readonly engine_version: string;
  readonly quantisation: string | null;
  readonly chat_template_sha256: string;
  readonly context_tokens: number;
  readonly threads: number;
}

/** From the parent to the engine's process. */
export type ToEngine =
  | { readonly kind: 'open'; readonly options: EngineOptions }
  | { readonly kind: 'clock' }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly input: CallInput;
      readonly sampling: Sampling;
      /** Whether each piece of text is sent as it comes, beside the answer at the end. */
      readonly deltas: boolean;
    }
  | { readonly kind: 'cancel'; readonly id: number };

/** How one call ended inside the engine. Stamps are on the process's own monotonic clock, ns. */
export interface EngineAnswer {
  readonly content: string;
  readonly finish_reason: 'stop' | 'length' | null;
  readonly prompt_tokens: number;
  /** Tokens sampled, an end token included. */
  readonly completion_tokens: number;
  /** Mean natural logarithm of the tokens' probabilities; null where they were not asked for. */
  readonly mean_logprob: number | null;
  readonly first_event_ns: bigint | null;
  /** When each non-empty piece of text was there. */
  readonly content_ns: BigInt64Array;
  readonly cancelled: boolean;
  readonly error: { readonly kind: string; readonly message: string } | null;
}

/** From the engine's process to the parent. */
export type FromEngine =
  | { readonly kind: 'opened'; readonly facts: EngineFacts }
  | {
      readonly kind: 'failed';
      readonly code: 'ENGINE_MISSING' | 'ENGINE_FAILED';
      readonly message: string;
    }
  | { readonly kind: 'clock'; readonly at_ns: bigint }
  | { readonly kind: 'delta'; readonly id: number; readonly text: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: EngineAnswer };
