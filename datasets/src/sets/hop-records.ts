import type { Material } from '@perwatt/core';
import { isRecord } from '../options.js';
import { fieldOf, type Row, rowError } from '../rows.js';
import { shortClosedBook } from './shared-prompts.js';

/** A passage: its title and its sentences. */
export interface Passage {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** Passages of a row, written as `[[title, [sentence]]]` or as columns of titles and sentences; empty when there are none. */
export function passagesOf(row: Row): Passage[] {
  const pairs = pairsOf(row, 'context', ['title', 'sentences', 'content']);
  return pairs.map(([title, sentences]) => {
    if (typeof title === 'string' && isTexts(sentences)) return { title, sentences };
    throw rowError(row.place, 'field "context" has an entry that is no title with sentences');
  });
}

/** Gold support as [title, sentence index]. */
export function supportOf(row: Row): (readonly [string, number])[] {
  const pairs = pairsOf(row, 'supporting_facts', ['title', 'sent_id']);
  return pairs.map(([title, index]) => {
    if (typeof title === 'string' && typeof index === 'number') return [title, index];
    throw rowError(row.place, 'field "supporting_facts" has an entry that is no title with a number');
  });
}

/** Lists of two from a field that is a list of lists, the JSON of one, or one list for each of the columns. */
function pairsOf(row: Row, field: string, columns: readonly string[]): (readonly unknown[])[] {
  const value = listed(fieldOf(row, field));
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((pair: unknown) => (Array.isArray(pair) ? pair : []));
  if (isRecord(value)) {
    const [first, second] = columns.map((name) => value[name]).filter((list) => Array.isArray(list));
    if (first !== undefined && second !== undefined && first.length === second.length)
      return first.map((each: unknown, i) => [each, second[i]]);
  }
  throw rowError(row.place, `field "${field}" is no list of pairs`);
}

/** Some copies keep lists as JSON text. */
function listed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Gold evidence as triples of texts; absent when there is none. */
export function evidenceOf(row: Row): string[][] | null {
  const value = listed(fieldOf(row, 'evidences'));
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.map((triple: unknown) => {
    if (isTexts(triple) && triple.length === 3) return triple;
    throw rowError(row.place, 'field "evidences" has an entry that is no triple of texts');
  });
}

/** The accepted answers: a text, or a list of which each is as right as the first. */
export function answersOf(row: Row, field: string): readonly [gold: string, ...aliases: string[]] {
  const value = fieldOf(row, field);
  const list = (Array.isArray(value) ? value : [value])
    .filter((each): each is string | number => typeof each === 'string' || typeof each === 'number')
    .map((each) => `${each}`.trim())
    .filter((each) => each !== '');
  const [gold, ...aliases] = new Set(list);
  if (gold === undefined) throw rowError(row.place, `field "${field}" is missing or empty`);
  return [gold, ...aliases];
}

/** Question and passages apart, for strategies that hand passages out by title; a title that comes again gets a number. Absent without passages. */
export function materialOf(question: string, passages: readonly Passage[]): { material?: Material } {
  if (passages.length === 0) return {};
  const seen = new Map<string, number>();
  const keyed = passages.map(({ title, sentences }) => {
    const times = (seen.get(title) ?? 0) + 1;
    seen.set(title, times);
    return { key: times === 1 ? title : `${title} (${times})`, text: sentences.join('').trim() };
  });
  return { material: { task: shortClosedBook.text.replace('{question}', () => question), passages: keyed } };
}

/** What prompts need of passages: null where a row has none. */
export function passageValues(passages: readonly Passage[]) {
  if (passages.length === 0) return { passages: null, passage_block: '' };
  const text = passages
    .map(({ title, sentences }, i) => `Passage ${i + 1}:\n${title}\n${sentences.join('').trim()}`)
    .join('\n\n');
  return { passages: text, passage_block: `Passages:\n\n${text}\n\n` };
}
