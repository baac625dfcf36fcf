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
  /** How the prompts were made; absent where a data set has one fixed way. */
  readonly prompt?: PromptFacts;
  /** Ids among the items whose gold is known to be wrong or ambiguous; absent where no such list is kept. */
  readonly known_bad?: readonly string[];
  /** Its authors ask not to show its questions in plain text; absent where they don't. */
  readonly withhold?: true;
  /** Rows that were read and are no items, for example for want of an answer; absent when there are none. */
  readonly left_out?: number;
  /** The files the items come from; absent for generated sets. */
  readonly files?: readonly DatasetFile[];
}

/** Which prompt a data set was asked with. */
export interface PromptFacts {
  /** Data set, name and version of the template, for example `gsm8k/official@1`. */
  readonly id: string;
  /** sha256 (hex) of the template. */
  readonly sha256: string;
  /** Worked examples in front of each question. */
  readonly shots: number;
  /** sha256 (hex) of all examples that were drawn from; null without any. */
  readonly shots_sha256: string | null;
}

/** One file of a loaded data set. */
export interface DatasetFile {
  /** As the user named it. */
  readonly path: string;
  readonly bytes: number;
  /** sha256 (hex) of the file as it lies on the disk; null where a limit ended the reading before the whole was read. */
  readonly sha256: string | null;
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
