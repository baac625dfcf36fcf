import type { Random } from '../numeric/random.js';

/** Steps of a proof, and levels of evidence that a step shows. */
export const STEPS = 6;
export const LEVELS = 4;

const CLEAN_SHARE = 0.4;
const FLAW_RATE = 0.25;
const flawedEvidence = [0.05, 0.1, 0.25, 0.6] as const;
const soundEvidence = [0.7, 0.2, 0.08, 0.02] as const;

/** A proof of six steps; what a verifier sees of each is a level of evidence. */
export interface Proof {
  readonly flawed: readonly boolean[];
  readonly evidence: readonly number[];
  /** 1, 0.5 or 0 for no, one, or more flaws. */
  readonly score: number;
}

/** True score of so many flaws. */
export const scoreOf = (flaws: number): number => (flaws === 0 ? 1 : flaws === 1 ? 0.5 : 0);

/** A proof: clean with a chance of 0.4, else each step flawed with one of 0.25. */
export function drawProof(random: Random): Proof {
  const clean = random.next() < CLEAN_SHARE;
  const flawed = Array.from({ length: STEPS }, () => random.next() < FLAW_RATE && !clean);
  const evidence = flawed.map((own) => levelAt(own ? flawedEvidence : soundEvidence, random.next()));
  return { flawed, evidence, score: scoreOf(flawed.filter(Boolean).length) };
}

function levelAt(chances: readonly number[], u: number): number {
  let sum = 0;
  for (const [level, chance] of chances.entries()) {
    sum += chance;
    if (u < sum) return level;
  }
  return chances.length - 1;
}

/** Expected score reward of a verifier that flags nothing and always says 1: P(no flaw) + ½ P(one flaw). */
export function silentReward(): number {
  const none = CLEAN_SHARE + (1 - CLEAN_SHARE) * (1 - FLAW_RATE) ** STEPS;
  const one = (1 - CLEAN_SHARE) * STEPS * FLAW_RATE * (1 - FLAW_RATE) ** (STEPS - 1);
  return none + 0.5 * one;
}

/** What a verifier says of a proof: which steps it flags, and a score. */
export interface Analysis {
  readonly flags: readonly boolean[];
  readonly score: number;
}

/** 1 − |said − true|. */
export const scoreReward = (said: number, truth: number): number => 1 - Math.abs(said - truth);

/**
 * Quality of an analysis by rule: 0 when it flags and none of its flags is real, ½ when some are not or the score does not
 * follow from the number of flags, else 1.
 */
export function metaReward({ flags, score }: Analysis, { flawed }: Proof): number {
  const flagged = flags.filter(Boolean).length;
  const real = flags.filter((flag, i) => flag && flawed[i] === true).length;
  if (flagged > 0 && real === 0) return 0;
  if (real < flagged) return 0.5;
  return score === scoreOf(flagged) ? 1 : 0.5;
}
