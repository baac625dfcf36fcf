import { createHash } from 'node:crypto';
import { PerwattError, type Rng } from '@perwatt/core';
import type { ItemParts } from './item-parts.js';
import type { ShotTemplate } from './prompt-template.js';

/** Worked examples of a data set. */
export interface Shots {
  /** Examples in front of each question. */
  readonly count: number;
  /** Of all examples that are used, hex; null without any. */
  readonly sha256: string | null;
  /** The examples for one question, which is never among them. */
  readonly before: (parts: ItemParts, place: string) => string;
}

/** No examples. */
export const noShots: Shots = { count: 0, sha256: null, before: () => '' };

interface Shot {
  readonly question: string;
  readonly text: string;
}

interface ShotOptions {
  readonly count: number;
  readonly template: ShotTemplate;
  readonly rng: Rng;
  readonly render: (parts: ItemParts, place: string) => string;
  /** Where they come from, for messages. */
  readonly from: string;
}

const folded = (text: string) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();

/**
 * Chooses the examples: the first ones of each subject, or some by the seed. One more than is asked for is kept, so that a
 * question that is itself among them leaves as many as any other. Throws `INPUT_INVALID` when there are too few.
 */
export async function shotsOf(
  pool: AsyncIterable<{ readonly parts: ItemParts; readonly place: string }>,
  { count, template, rng, render, from }: ShotOptions,
): Promise<Shots> {
  const kept = new Map<string, { readonly key: number; readonly shot: Shot }[]>();
  let index = 0;
  for await (const { parts, place } of pool) {
    const subject = subjectOf(parts, template);
    const group = kept.get(subject) ?? [];
    const key = template.pick === 'first' ? index : rng();
    index += 1;
    const last = group.at(-1);
    if (group.length > count && last !== undefined && key >= last.key) continue;
    const question = folded(parts.question);
    if (group.some(({ shot }) => shot.question === question)) continue;
    group.push({ key, shot: { question, text: render(parts, place) } });
    group.sort((a, b) => a.key - b.key);
    kept.set(subject, group.slice(0, count + 1));
  }
  const hash = createHash('sha256');
  for (const [subject, group] of [...kept].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([subject, group.map(({ shot }) => shot.text)]));
  return {
    count,
    sha256: hash.digest('hex'),
    before(parts, place) {
      const question = folded(parts.question);
      const group = kept.get(subjectOf(parts, template)) ?? [];
      const others = group.filter(({ shot }) => shot.question !== question).slice(0, count);
      if (others.length === count) return others.map(({ shot }) => shot.text).join('');
      const kind = template.by_subject === true ? ` of subject "${parts.subject ?? ''}"` : '';
      throw new PerwattError(
        'INPUT_INVALID',
        `${place}: ${from} has ${others.length} worked examples${kind} beside the question itself, the prompt asks for ${count}`,
        { hint: 'Give a file with more examples as `shots`, or lower `shot_count`.' },
      );
    },
  };
}

const subjectOf = ({ subject }: ItemParts, { by_subject }: ShotTemplate) =>
  by_subject === true ? (subject ?? '') : '';
