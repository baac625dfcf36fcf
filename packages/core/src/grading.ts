import type { EndpointFacts } from './client.js';

/** One question of a dataset, with what is needed to ask it and to judge an answer to it. */
export interface Item {
  /** Unique within its dataset, stable between loads. */
  readonly id: string;
  /** The text put to the model: question, options if any, and the demanded answer format. */
  readonly prompt: string;
  /** The right answer, in the form the dataset's grader compares with. */
  readonly gold: string;
  /** Option texts of a choice question in order (A, B, …), else null. */
  readonly options: readonly string[] | null;
  /** Subject, level or category for tables by group, else null. */
  readonly subject: string | null;
  /** Further answers that are as right as `gold`; absent when there are none. */
  readonly aliases?: readonly string[];
  /** What a checker or a world needs beside `gold`, as JSON: a puzzle's grid, a planning problem, tests of a program. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The same task with its reading matter apart, for strategies that hand it out in pieces; absent where there is none. */
  readonly material?: Material;
  /** Items of one key have prompts that begin with the same long text; absent where they share none. */
  readonly prefix_key?: string;
}

/** A task that comes with reading matter. */
export interface Material {
  /** The task with the demanded answer format, without the passages. */
  readonly task: string;
  /** Passages in order; keys are titles, unique within the item. */
  readonly passages: readonly { readonly key: string; readonly text: string }[];
}

/** Every verdict there is; `Grade` says what they score. */
export const verdicts = [
  'correct',
  'incorrect',
  'unparsed',
  'truncated',
  'empty',
  'refused',
  'error',
  'unscored',
] as const;
/** One of `verdicts`. */
export type Verdict = (typeof verdicts)[number];

/** `robust`: our own extraction; `official`: a port of the benchmark's, without its random guesses. */
export type GraderMode = 'robust' | 'official';

/** What a grader looks at. */
export interface GradeInput {
  readonly prediction: string;
  readonly gold: string;
  /** Option texts where known. */
  readonly options?: readonly string[] | null;
  /** Number of options where the texts are not known. */
  readonly option_count?: number | null;
  /** The item's `aliases`. */
  readonly aliases?: readonly string[];
  /** The item's `data`, for graders that check against more than one text. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The server's finish reason; `length` makes a grade `truncated`, `content_filter` makes it `refused`. */
  readonly finish_reason?: string | null;
  /** The call failed: the grade is `error` whatever the text. */
  readonly failed?: boolean;
  /** Named policies, for example `{ percent: 'sign-optional' }`. */
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly mode?: GraderMode;
}

/**
 * The outcome of grading one answer.
 *
 * `unparsed`, `truncated`, `empty`, `refused` and `error` score 0. `unscored` has no score (null): nothing
 * could be judged, and the query leaves accuracy while it stays in energy and time.
 */
export interface Grade {
  readonly verdict: Verdict;
  /** 0…1; null only when `unscored`. */
  readonly score: number | null;
  /** The answer as it stood in the text, or null. */
  readonly extracted: string | null;
  /** `[start, end)` of `extracted` in the raw prediction, UTF-16 code units; null when nothing was extracted. */
  readonly span: readonly [number, number] | null;
  /** Id of the extraction rule that fired, for example `choice.anchor`; null when none did. */
  readonly rule: string | null;
  /** What a truncated answer would have given; recorded, never used. */
  readonly salvaged: string | null;
  /** Why, in words, where the verdict alone does not say; else null. */
  readonly reason: string | null;
  readonly flags: readonly string[];
  readonly mode: GraderMode;
}

/** A deterministic judge of final answers. Bump `version` whenever a verdict could change. */
export interface Grader {
  readonly id: string;
  readonly version: number;
  grade(input: GradeInput): Grade;
  /** The canonical answer in `text`, for votes; null when there is none. */
  extract(text: string, item: Pick<Item, 'options'>): string | null;
  /** Whether two extracted answers are the same answer. */
  same(a: string, b: string): boolean;
}

/**
 * A judge that can't answer at once: it runs a program, asks a model, or steps a world. Called when nothing is being
 * measured. A judgement that can't be had is a grade `unscored` or `error`; it rejects only when `signal` ends it.
 */
export interface LateGrader {
  readonly id: string;
  readonly version: number;
  gradeLater(input: GradeInput, options: { readonly signal?: AbortSignal }): Promise<Grade>;
  /** What it has taken so far, where it is a model. Nothing of this is ever part of what is measured. */
  account?(): GradingAccount;
}

/** The account of a model that grades. Counts only grow; tokens are null once the count of one call isn't known. */
export interface GradingAccount {
  readonly role: 'judge' | 'verifier';
  readonly model: string;
  /** What answers its calls; absent where that isn't known. */
  readonly endpoint?: EndpointFacts;
  readonly calls: number;
  readonly failed_calls: number;
  /** Replies that were known already and cost nothing. */
  readonly cached: number;
  /** Replies that could not be read. */
  readonly unreadable: number;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  /** Pairs that both orders of were judged, and those of them in which the orders contradict each other. */
  readonly pairs: number;
  readonly order_flips: number;
}
