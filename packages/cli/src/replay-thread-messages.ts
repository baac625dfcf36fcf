import type { ErrorCode, Instant, LoadColumns } from '@perwatt/core';
import type { LoadWork, TurnFact, WorkerHealth } from '@perwatt/harness';

/** Where a load goes, and within which limits. */
export interface LoadTarget {
  readonly url: string;
  readonly api: 'chat' | 'completion';
  readonly api_key: string | null;
  readonly headers_timeout_ms: number;
  readonly idle_timeout_ms: number;
}

/** What a load thread is started with. */
export interface LoadThreadJob {
  readonly work: LoadWork;
  readonly target: LoadTarget;
}

/** What it is told. */
export type LoadThreadRequest = { readonly kind: 'run'; readonly zero: Instant } | { readonly kind: 'stop' };

/** What it says. */
export type LoadThreadMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'calls';
      readonly columns: LoadColumns;
      readonly facts: readonly TurnFact[] | null;
    }
  | { readonly kind: 'done'; readonly health: WorkerHealth }
  | { readonly kind: 'failed'; readonly code: ErrorCode | null; readonly message: string };
