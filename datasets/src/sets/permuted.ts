import type { Rng } from '@perwatt/core';
import { optionLabel } from '../dataset.js';
import type { ChoiceData } from '../item-data.js';
import { shuffled } from '../random.js';

/** Options in a random order; the first of `texts` is the right one. */
export function permuted(
  texts: readonly string[],
  rng: Rng,
): { readonly options: string[]; readonly gold: string; readonly data: ChoiceData } {
  const permutation = shuffled(
    rng,
    texts.map((_, i) => i),
  );
  return {
    options: permutation.map((i) => texts[i] ?? ''),
    gold: optionLabel(permutation.indexOf(0)),
    data: { kind: 'choice', permutation },
  };
}
