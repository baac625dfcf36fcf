import { createHash } from 'node:crypto';
import {
  createRng,
  type DatasetSpec,
  type Item,
  type Material,
  PerwattError,
  type Rng,
  seedFrom,
} from '@perwatt/core';
import { digestOf, GENERATED_ITEMS, guessRate, type LoadContext, type Loader } from '../dataset.js';
import { type OptionInfo, type OptionReader, readOptions } from '../options.js';

/** Random numbers of one purpose within one question, so that drawing more for one purpose leaves the others as they are. */
export type RngFor = (purpose: string) => Rng;

/** A question as it was drawn; its id is made of it, so that one question has one id whatever the seed. */
export interface Drawn {
  readonly prompt: string;
  readonly gold: string;
  readonly subject: string;
  readonly data: object;
  readonly material?: Material;
  /** How its prompt begins, where several questions share that; it names their `prefix_key`. */
  readonly prefix?: string;
  /** What tells questions apart, where prompt and data hold more than that, for example the length of a context. */
  readonly identity?: unknown;
}

export interface GeneratedLevel {
  readonly summary: string;
  /** Longest answer that makes sense, in tokens. */
  readonly answer_tokens: number;
}

/** A data set that is made from a seed. */
export interface GeneratedSet<L extends GeneratedLevel> {
  readonly id: string;
  /** Bump it when a seed could give other questions than before. */
  readonly version: number;
  readonly grader: string;
  readonly summary: string;
  readonly levels: readonly L[];
  /** Options beside `level`. */
  readonly options: readonly OptionInfo[];
  /**
   * Reads the options once, and gives what draws one question; null when a draw was none and another must be made. Draws are
   * counted from 0.
   */
  readonly prepare: (
    level: L,
    options: OptionReader,
    place: DrawPlace,
  ) => (rng: RngFor, attempt: number) => Drawn | null;
  /** Accuracy that guessing reaches; 0 unless told. */
  readonly guess?: (items: readonly Item[]) => number;
}

/** What all questions of one load share. */
export interface DrawPlace {
  readonly level: number;
  /** Seed of the data set. */
  readonly seed: number;
}

const MAX_FAILURES = 2000;

/** A loader of a generated data set: levels, options, distinct questions with stable ids, a limit that keeps the first ones. */
export function generatedSet<L extends GeneratedLevel>(set: GeneratedSet<L>): Loader {
  const levels = set.levels.map((l, i) => `${i + 1}: ${l.summary}`).join('; ');
  const options: readonly OptionInfo[] = [
    { name: 'level', summary: `1 to ${set.levels.length}, default 1: ${levels}` },
    ...set.options,
  ];
  const licence = 'Apache-2.0';
  return {
    entry: {
      id: set.id,
      kind: 'generated',
      grader: set.grader,
      licence,
      summary: set.summary,
      options,
    },
    async load(spec, context) {
      const reader = readOptions(set.id, spec.options, options);
      const number = reader.whole('level', { min: 1, max: set.levels.length }) ?? 1;
      const level = set.levels[number - 1];
      if (level === undefined) throw new PerwattError('INPUT_INVALID', `there is no level ${number}`);
      const seed = spec.seed ?? context.seed;
      const draw = set.prepare(level, reader, { level: number, seed });
      const items = questions(set.id, draw, { spec, context, seed, number });
      return {
        id: set.id,
        version: set.version,
        kind: 'generated',
        grader: set.grader,
        guess_rate: (set.guess ?? guessRate)(items),
        answer_tokens: level.answer_tokens,
        licence,
        digest: digestOf(items),
        items,
      };
    },
  };
}

interface Drawing {
  readonly spec: DatasetSpec;
  readonly context: LoadContext;
  readonly seed: number;
  readonly number: number;
}

function questions(
  id: string,
  draw: (rng: RngFor, attempt: number) => Drawn | null,
  { spec, context, seed, number }: Drawing,
): Item[] {
  const wanted = spec.limit ?? GENERATED_ITEMS;
  const items = new Map<string, Item>();
  for (let attempt = 0, failures = 0; items.size < wanted && failures < MAX_FAILURES; attempt++) {
    context.signal?.throwIfAborted();
    const drawn = draw((purpose) => createRng(seedFrom(seed, id, number, attempt, purpose)), attempt);
    failures = keep(items, drawn, number) ? 0 : failures + 1;
  }
  if (items.size < wanted && (spec.limit !== undefined || items.size === 0))
    throw new PerwattError(
      'INPUT_INVALID',
      `data set "${id}": level ${number} gave ${items.size} different questions, the limit asks for ${wanted}`,
    );
  return [...items.values()];
}

/** Keeps a question that is new; whether it was. */
function keep(items: Map<string, Item>, drawn: Drawn | null, level: number): boolean {
  if (drawn === null) return false;
  const item = itemOf(drawn, level);
  if (items.has(item.id)) return false;
  items.set(item.id, item);
  return true;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function itemOf({ prompt, gold, subject, data, material, prefix, identity }: Drawn, level: number): Item {
  const name = sha256(JSON.stringify(identity ?? [prompt, gold, data]));
  return {
    id: `l${level}-${subject.replaceAll(/[^a-z0-9]+/gi, '-')}-${name.slice(0, 12)}`,
    prompt,
    gold,
    options: null,
    subject,
    data: { ...data },
    ...(material !== undefined && { material }),
    ...(prefix !== undefined && { prefix_key: `prefix-${sha256(prefix).slice(0, 12)}` }),
  };
}
