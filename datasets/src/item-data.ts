/**
 * What the checkers of published data sets need beside `gold`, by `kind`. An item's `data` is one of these; a checker reads
 * the kind it knows and says `unscored` for any other.
 */
export type ItemData =
  | LevelData
  | ChoiceData
  | EmF1Data
  | PuzzleData
  | PlanData
  | CodeData
  | LiteralData
  | VerifierData
  | JudgeData
  | DialogueData;

/** A level, for tables only, and whose official extraction is meant where a grader has several. */
export interface LevelData {
  readonly kind: 'facts';
  readonly level?: string;
  readonly official?: 'supergpqa';
}

/** Options were put into another order. */
export interface ChoiceData {
  readonly kind: 'choice';
  /** For each option as shown, its place in the record, counted from 0; the right one is 0. */
  readonly permutation: readonly number[];
  /** Whose official extraction is meant; absent for MMLU-Pro's. */
  readonly official?: 'gpqa';
}

/** Short answers judged by exact match and token F1. */
export interface EmF1Data {
  readonly kind: 'em_f1';
  /** Which rules hold for yes and no and for empty answers: `hotpot` (HotpotQA, 2Wiki) or `squad2` (MuSiQue). */
  readonly f1: 'hotpot' | 'squad2';
  /** Whether the passages hold the answer; absent where that is never in question. */
  readonly answerable?: boolean;
  /** Gold support: [title, sentence index] for `hotpot`, [paragraph index] for `squad2`. */
  readonly support?: readonly (readonly (string | number)[])[];
  /** Gold evidence triples: subject, relation, object. */
  readonly evidence?: readonly (readonly string[])[];
}

/** A grid puzzle; `gold` is the JSON that a reply should hold under `solution`. */
export interface PuzzleData {
  readonly kind: 'puzzle_cells';
  /** The first column is the house. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A planning problem; `gold` is one valid plan, a step `(action arg …)` a line. */
export interface PlanData {
  readonly kind: 'plan';
  readonly domain: 'blocksworld' | 'mystery-blocksworld';
  /** Facts `[predicate, argument …]` in the domain's own names. */
  readonly init: readonly (readonly string[])[];
  readonly goal: readonly (readonly string[])[];
  /** Objects by the name they have in text: `red block` → `a`. */
  readonly objects: Readonly<Record<string, string>>;
}

/** A function to be written and run with its tests; `gold` is a solution. */
export interface CodeData {
  readonly kind: 'code';
  readonly language: 'python';
  /** What a completion is appended to: imports, signature, docstring. */
  readonly prompt: string;
  readonly entry_point: string;
  /** Defines `check(candidate)`. */
  readonly test: string;
}

/** A Python literal as answer; `gold` is its text. */
export interface LiteralData {
  readonly kind: 'literal';
  readonly language: 'python';
}

/** An answer that programs check; there is no one `gold`, which is empty. */
export interface VerifierData {
  readonly kind: 'verifier';
  readonly language: 'python';
  /** Defines `inputs_check(inputs)`: whether the answer has the right shape. */
  readonly inputs_check: string;
  /** Defines `constraint_list`, functions that all must hold. */
  readonly constraints: string;
  /** Defines the search that lists all answers; null where the record has none. */
  readonly traverse: string | null;
}

/** A free answer for a judge: against a reference (`gold`), or in pairs with `gold` as the other reply. */
export interface JudgeData {
  readonly kind: 'judge';
  readonly way: 'reference' | 'pairwise';
  /** The bare question, without the prompt around it. */
  readonly question: string;
  /** Key points of a good answer; absent where there are none. */
  readonly key_points?: readonly string[];
  /** What the record says of itself, for tables. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** A game that is meant to be played in turns, with what its other roles must know. */
export interface DialogueData {
  readonly kind: 'dialogue';
  readonly game: 'detective' | 'guess-number';
  readonly turns: number;
  /** The secret: all there is to know of the case, or the number. */
  readonly secret: Readonly<Record<string, unknown>>;
}
