/** How yes, no and empty answers are treated: as HotpotQA and 2WikiMultiHopQA do, or as SQuAD 2 and MuSiQue do. */
export type OverlapRules = 'hotpot' | 'squad2';

/** How well an answer meets a gold answer. */
export interface Overlap {
  /** Equal once normalised. */
  readonly em: boolean;
  /** Harmonic mean of precision and recall over multisets of tokens, 0…1. */
  readonly f1: number;
}

const PUNCTUATION = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/g;

/** SQuAD's normal form: lower case, no ASCII punctuation, no whole words a, an, the; single blanks. */
export const normaliseAnswer = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(PUNCTUATION, '')
    .replaceAll(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')
    .split(/\s+/)
    .filter((token) => token !== '')
    .join(' ');

/**
 * Exact match and F1 of one answer against one gold. No token in common is 0. A side that is empty once normalised is
 * 0 by `hotpot`; by `squad2` two empty sides are 1. By `hotpot`, exactly yes, no or noanswer on either side gives nothing
 * for a part.
 */
export function overlapOf(answer: string, gold: string, rules: OverlapRules): Overlap {
  const [a, b] = [normaliseAnswer(answer), normaliseAnswer(gold)];
  if (a === '' || b === '') {
    const both = rules === 'squad2' && a === b;
    return { em: both, f1: both ? 1 : 0 };
  }
  if (a === b) return { em: true, f1: 1 };
  if (rules === 'hotpot' && (CLOSED.has(a) || CLOSED.has(b))) return { em: false, f1: 0 };
  const [ours, theirs] = [a.split(' '), b.split(' ')];
  return { em: false, f1: (2 * inCommon(ours, theirs)) / (ours.length + theirs.length) };
}

/** Size of the intersection of two multisets. */
function inCommon(ours: readonly string[], theirs: readonly string[]): number {
  const left = new Map<string, number>();
  for (const token of theirs) left.set(token, (left.get(token) ?? 0) + 1);
  let count = 0;
  for (const token of ours) {
    const rest = left.get(token) ?? 0;
    if (rest > 0) count += 1;
    left.set(token, rest - 1);
  }
  return count;
}

const CLOSED: ReadonlySet<string> = new Set(['yes', 'no', 'noanswer']);
