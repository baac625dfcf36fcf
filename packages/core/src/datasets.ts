import type { Item } from './grading.js';

/** A loaded dataset: its items in a fixed order, and what a reader must know of it. */
export interface Dataset {
  readonly id: string;
  readonly version: number;
  readonly kind: 'generated' | 'file';
  /** Id of the grader its answers are judged with. */
  readonly grader: string;
  /** Accuracy that guessing reaches, 0…1: 1/options for choices, 0 for free numbers. */
  readonly guess_rate: number;
  /** Longest answer that makes sense, in tokens; the default of `max_tokens`. */
  readonly answer_tokens: number;
  readonly licence: string;
  /** sha256 (hex) over the items; two loads with one digest hold the same questions. */
  readonly digest: string;
  readonly items: readonly Item[];
}

/** How one dataset of a matrix is described, before it is loaded. */
export interface DatasetSpec {
  /** Name of a built-in dataset, or of a file loader (`jsonl`, `csv`). */
  readonly kind: string;
  readonly limit?: number;
  readonly seed?: number;
  /** Everything else the loader takes: `level`, `path`, `fields`, `grader` … */
  readonly options: Readonly<Record<string, unknown>>;
}
