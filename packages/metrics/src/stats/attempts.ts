import { createRng } from '@perwatt/core';

const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;
const possible = (n: number, right: number, k: number): boolean =>
  isCount(n) && isCount(right) && right <= n && Number.isSafeInteger(k) && k >= 1 && k <= n;

/** Natural logarithm of n over k, as a sum: exact to a double's last digits for any n that is run. */
function logChoose(n: number, k: number): number {
  const few = Math.min(k, n - k);
  let sum = 0;
  for (let i = 1; i <= few; i++) sum += Math.log((n - few + i) / i);
  return sum;
}

/** Logarithm of C(n − without, k) / C(n, k): that k of n attempts drawn leave all of `without` out. */
function logNone(n: number, without: number, k: number): number {
  let sum = 0;
  for (let i = n - without + 1; i <= n; i++) sum += Math.log1p(-k / i);
  return sum;
}

/**
 * pass@k of one item, unbiased: the chance that at least one of k attempts drawn from n is right,
 * 1 − C(n − c, k)/C(n, k), in logarithms. Null where k > n or the counts can't be. (Chen et al. 2021)
 */
export function passAtK(n: number, right: number, k: number): number | null {
  if (!possible(n, right, k)) return null;
  return n - right < k ? 1 : -Math.expm1(logNone(n, right, k));
}

/** pass^k of one item: the chance that all of k attempts drawn from n are right, C(c, k)/C(n, k). Null as `passAtK`. */
export function passAllK(n: number, right: number, k: number): number | null {
  if (!possible(n, right, k)) return null;
  return right < k ? 0 : Math.exp(logNone(n, n - right, k));
}

/** Chance that exactly j of k attempts drawn from n are right. */
function hits(n: number, right: number, k: number, j: number): number {
  if (j > right || k - j > n - right) return 0;
  return Math.exp(logChoose(right, j) + logChoose(n - right, k - j) - logChoose(n, k));
}

/**
 * G-pass@k(τ) of one item: the chance that at least ⌈τ·k⌉ (and one) of k attempts drawn from n are right. Null as
 * `passAtK`, and for τ outside 0…1. (Liu et al. 2024)
 */
export function generalPassAtK(
  n: number,
  right: number,
  { k, tau }: { readonly k: number; readonly tau: number },
) {
  if (!(possible(n, right, k) && tau >= 0 && tau <= 1)) return null;
  let sum = 0;
  for (let j = Math.max(1, Math.ceil(tau * k - 1e-9)); j <= k; j++) sum += hits(n, right, k, j);
  return Math.min(sum, 1);
}

/** mG-pass@k of one item: G-pass@k over τ from a half to 1. Null as `passAtK`. */
export function meanGeneralPassAtK(n: number, right: number, k: number): number | null {
  if (!possible(n, right, k)) return null;
  let sum = 0;
  for (let i = Math.ceil(k / 2) + 1; i <= k; i++) {
    for (let j = i; j <= k; j++) sum += hits(n, right, k, j);
  }
  return (2 / k) * sum;
}

/** avg@k of one item: mean score of its attempts; null for none or a score that isn't finite. */
export const averageAtK = (scores: readonly number[]): number | null =>
  scores.length > 0 && scores.every(Number.isFinite)
    ? scores.reduce((sum, score) => sum + score, 0) / scores.length
    : null;

/**
 * The class of every answer: greedy, in order, each answer joins the first class whose first member it equals. Null for
 * an answer that is null (unparsed): it is of no class and does not vote. Right also where `equal` isn't transitive.
 */
export function equivalenceClasses<T>(
  answers: readonly (T | null)[],
  equal: (first: T, answer: T) => boolean,
): (number | null)[] {
  const firsts: T[] = [];
  return answers.map((answer) => {
    if (answer === null) return null;
    const known = firsts.findIndex((first) => equal(first, answer));
    if (known >= 0) return known;
    firsts.push(answer);
    return firsts.length - 1;
  });
}

/** One attempt as a vote: its class (null doesn't vote) and what an answer of that class scores. */
export interface Vote {
  readonly answer_class: number | null;
  readonly score: number;
}

export interface MajorityOptions {
  readonly k: number;
  /** `first`: the class seen first wins a tie; `shared`: tied classes share it. */
  readonly ties: 'first' | 'shared';
  readonly seed: number;
  /** Draws where there are more subsets than that. Default 1,000. */
  readonly draws?: number;
}

const DRAWS = 1_000;

/** Score of the plurality among some votes; 0 where nobody votes. */
function plurality(votes: readonly Vote[], ties: MajorityOptions['ties']): number {
  const classes = new Map<number, { count: number; score: number }>();
  for (const { answer_class, score } of votes) {
    if (answer_class === null) continue;
    const known = classes.get(answer_class);
    if (known === undefined) classes.set(answer_class, { count: 1, score });
    else known.count += 1;
  }
  const most = Math.max(0, ...[...classes.values()].map(({ count }) => count));
  const winners = [...classes.values()].filter(({ count }) => count === most);
  if (winners.length === 0) return 0;
  if (ties === 'first') return winners[0]?.score ?? 0;
  return winners.reduce((sum, { score }) => sum + score, 0) / winners.length;
}

/** Every choice of k indices below n, in order. */
function* choices(n: number, k: number): Generator<readonly number[]> {
  const picked = Array.from({ length: k }, (_, i) => i);
  for (;;) {
    yield picked;
    let at = k - 1;
    while (at >= 0 && picked[at] === n - k + at) at -= 1;
    if (at < 0) return;
    picked[at] = (picked[at] ?? 0) + 1;
    for (let i = at + 1; i < k; i++) picked[i] = (picked[i - 1] ?? 0) + 1;
  }
}

/** k of n indices drawn without replacement, in order. */
function drawn(n: number, k: number, random: () => number): number[] {
  const picked: number[] = [];
  for (let i = 0; i < n && picked.length < k; i++) {
    if (random() * (n - i) < k - picked.length) picked.push(i);
  }
  return picked;
}

/**
 * maj@k of one item: score of the answer class that most of k attempts vote for, averaged over all choices of k of the n
 * attempts, or over seeded draws where there are too many. Null where k > n, for none, or a score that isn't finite.
 */
export function majorityAtK(votes: readonly Vote[], options: MajorityOptions): number | null {
  const { k, ties, seed, draws = DRAWS } = options;
  const n = votes.length;
  if (!(possible(n, 0, k) && draws >= 1 && votes.every(({ score }) => Number.isFinite(score)))) return null;
  const scoreOf = (picked: readonly number[]) =>
    plurality(
      picked.map((i) => votes[i]).filter((vote) => vote !== undefined),
      ties,
    );
  let [sum, count] = [0, 0];
  if (logChoose(n, k) <= Math.log(draws) + 1e-9) {
    for (const picked of choices(n, k)) {
      sum += scoreOf(picked);
      count += 1;
    }
    return sum / count;
  }
  const random = createRng(seed);
  for (; count < draws; count++) sum += scoreOf(drawn(n, k, random));
  return sum / count;
}
