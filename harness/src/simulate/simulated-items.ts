import { createRng, type Dataset, type SimulatedDataset } from '@perwatt/core';
import { canonicalJson, sha256Hex } from '../canonical.js';
import { normal, promptTokens } from './laws.js';

/** What a simulated model sees in a question. */
export interface ItemLaw {
  readonly difficulty: number;
  readonly prompt_tokens: number;
  /** How far its answers' length is off the mean, in standard deviations. */
  readonly output_z: number;
  readonly gold: number;
}

/** The items of one data set, and the questions they are asked by. */
export interface SimulatedItems {
  readonly dataset: Dataset;
  readonly law: SimulatedDataset;
  readonly items: readonly ItemLaw[];
}

export interface ItemsSpec {
  /** Name of the data set's law. */
  readonly name: string;
  readonly law: SimulatedDataset;
  readonly count: number;
  readonly seed: number;
}

/** Items drawn from the population that a data set's law describes. The same seed draws the same items. */
export function simulatedItems({ name, law, count, seed }: ItemsSpec): SimulatedItems {
  const random = createRng(seed);
  const items = Array.from({ length: count }, (): ItemLaw => {
    const difficulty = law.difficulty + law.difficulty_sd * normal(random);
    const prompt_tokens = promptTokens(law, normal(random));
    const output_z = normal(random);
    return { difficulty, prompt_tokens, output_z, gold: 1000 + Math.floor(random() * 9000) };
  });
  const key = `${name}/${seed}`;
  const dataset: Dataset = {
    id: name,
    version: 1,
    kind: 'generated',
    grader: 'numeric',
    guess_rate: law.guess_rate,
    answer_tokens: 1_000_000,
    licence: 'none',
    digest: sha256Hex(canonicalJson({ law, count, seed })),
    items: items.map(({ gold }, index) => ({
      id: `${name}-${index}`,
      prompt: `Question ${index} of ${key}`,
      gold: String(gold),
      options: null,
      subject: null,
    })),
  };
  return { dataset, law, items };
}

/** The data set and the place in it that a prompt asks for; null for a text without a question of ours. */
export function askedFor(prompt: string): { readonly key: string; readonly index: number } | null {
  const found = /\bQuestion (\d+) of (\S+\/\d+)/.exec(prompt);
  return found === null ? null : { key: found[2] ?? '', index: Number(found[1]) };
}

/** The name that prompts ask for a data set by. */
export const keyOf = ({ name, seed }: Pick<ItemsSpec, 'name' | 'seed'>): string => `${name}/${seed}`;
