import type { Material, Rng } from '@perwatt/core';
import type { ItemData } from '../item-data.js';
import type { OptionReader } from '../options.js';
import type { Row } from '../rows.js';
import type { PromptValues } from './prompt-template.js';

/** What a record says, before it is put into a prompt. */
export interface ItemParts {
  readonly id: string;
  /** The bare question; `{question}` of a prompt. */
  readonly question: string;
  readonly gold: string;
  readonly options?: readonly string[];
  readonly subject?: string | null;
  readonly aliases?: readonly string[];
  readonly data?: ItemData;
  /** The question with its reading matter apart; absent where there is none. */
  readonly material?: Material;
  /** Further values for prompts and worked examples. */
  readonly values?: PromptValues;
}

/** What reading a record depends on beside it. */
export interface RowContext {
  /** Rows before this one, over all files. */
  readonly index: number;
  readonly options: OptionReader;
  /** Random numbers of one purpose: the same for the same seed and the same names. */
  readonly rng: (...names: readonly (string | number)[]) => Rng;
}

/** Reads a record; null for one that is left out. Throws `DATASET_ROW_INVALID`. */
export type ReadParts = (row: Row, context: RowContext) => ItemParts | null;
