import { createHash } from 'node:crypto';
import type { Dataset, DatasetSpec, Item } from '@perwatt/core';
import type { ReadLimits } from './files/limits.js';
import type { OptionInfo } from './options.js';
import type { DatasetCard } from './sets/card.js';

/** What loading a data set depends on beside its description. */
export interface LoadContext {
  /** Folder that relative paths start from. */
  readonly root: string;
  /** Seed of generated data sets that don't set their own. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  /** The files of a split of a published data set that were pulled; null for one that wasn't. Taken where no `path` is given. */
  readonly pulled?: (id: string, split: string) => readonly PulledSetFile[] | null;
  /** Other limits than `defaultLimits`. */
  readonly limits?: Partial<ReadLimits>;
}

/** A file that was pulled before, and what it must be. */
export interface PulledSetFile {
  /** As messages name it. */
  readonly path: string;
  readonly absolute: string;
  readonly sha256: string;
  /** Place in its repository, where a split has several files. */
  readonly inside?: string;
}

/** What is known of a data set before it is loaded. */
export interface CatalogueEntry {
  readonly id: string;
  readonly kind: Dataset['kind'];
  /** Id of its grader; `by option` where the description says. */
  readonly grader: string;
  readonly licence: string;
  readonly summary: string;
  readonly options: readonly OptionInfo[];
  /** Of a published data set: where it comes from and what is known of it. */
  readonly card?: DatasetCard;
}

/** A data set that can be loaded: its catalogue entry, and how. */
export interface Loader {
  readonly entry: CatalogueEntry;
  load(spec: DatasetSpec, context: LoadContext): Promise<Dataset>;
}

/** Items of generated data sets when no limit is given. */
export const GENERATED_ITEMS = 50;

/** sha256 (hex) over the items in their order, in one canonical form. */
export function digestOf(items: readonly Item[]): string {
  const hash = createHash('sha256');
  for (const { id, prompt, gold, options, subject, aliases, data } of items) {
    const more = aliases === undefined && data === undefined ? [] : [aliases ?? null, data ?? null];
    hash.update(`${JSON.stringify([id, prompt, gold, options, subject, ...more])}\n`);
  }
  return hash.digest('hex');
}

/** Accuracy that guessing reaches: the mean of 1/options; 0 where answers are free. */
export function guessRate(items: readonly Item[]): number {
  if (items.length === 0) return 0;
  return (
    items.reduce((sum, { options }) => sum + (options === null ? 0 : 1 / options.length), 0) / items.length
  );
}

const LETTERS = 26;

/** The label of an option in order: A…Z, then 1, 2, … */
export const optionLabel = (index: number): string =>
  index < LETTERS ? String.fromCharCode(65 + index) : `${index - LETTERS + 1}`;

/** Options as lines, `A. text`. */
export const optionLines = (options: readonly string[]): string =>
  options.map((text, index) => `${optionLabel(index)}. ${text}`).join('\n');
