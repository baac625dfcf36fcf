import { createHash } from 'node:crypto';
import { optionLabel } from '../dataset.js';
import { rowError } from '../rows.js';

/** How a question is put, as data. */
export interface PromptTemplate {
  /** Raised with every change of the text. */
  readonly version: number;
  /** Whose form it is. */
  readonly source: string;
  /** The prompt, with `{question}`, `{options}`, `{shots}` and the set's own values in it. */
  readonly text: string;
  /** How options are labelled. Default `A. text`. */
  readonly labels?: 'A. ' | 'A) ' | '(A) ';
  readonly shots?: ShotTemplate;
}

/** Worked examples in front of a question. */
export interface ShotTemplate {
  /** Split they come from. */
  readonly split: string;
  readonly count: number;
  /** One example, with the same values in it as a prompt. */
  readonly text: string;
  /** `first`: the first ones, `drawn`: by the seed. */
  readonly pick: 'first' | 'drawn';
  /** Only examples of the question's own subject. */
  readonly by_subject?: true;
}

/** What placeholders stand for; null for what this row doesn't have. */
export type PromptValues = Readonly<Record<string, string | null>>;

/** Options as lines with their labels. */
export function labelled(options: readonly string[], labels: PromptTemplate['labels'] = 'A. '): string {
  return options.map((text, i) => `${labels.replace('A', optionLabel(i))}${text}`).join('\n');
}

/**
 * A text with its placeholders filled in, once: what a value holds is never filled in again. Braces around anything else
 * stay. Throws `DATASET_ROW_INVALID` when the row doesn't have a value that is asked for.
 */
export function fillIn(text: string, values: PromptValues, place: string): string {
  return text.replaceAll(/\{(?<name>[a-z_]+)\}/g, (whole, name: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name];
    if (typeof value === 'string') return value;
    throw rowError(
      place,
      `the prompt asks for {${name}}, which this row does not have; choose another prompt`,
    );
  });
}

/** sha256 (hex) of everything that makes a template. */
export const templateDigest = ({ text, labels, shots }: PromptTemplate): string =>
  createHash('sha256')
    .update(JSON.stringify([text, labels ?? null, shots ?? null]))
    .digest('hex');
