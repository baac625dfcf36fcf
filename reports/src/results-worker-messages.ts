import type { PowerFileSeries } from '@perwatt/records';

/** What a thread that computes cells is started with. */
export interface WorkerJob {
  /** Folder of the run. */
  readonly path: string;
  /** Its samples, in memory that all threads share. */
  readonly power: readonly PowerFileSeries[];
}

/** An error on its way between threads; `code` is null when it is none of ours. */
export interface CarriedError {
  readonly code: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** A cell computed (`ComputedCell` as JSON), or why it could not be. */
export type CellAnswer =
  | { readonly cell_id: string; readonly text: string }
  | { readonly cell_id: string; readonly error: CarriedError };
