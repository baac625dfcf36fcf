import { below, type Random } from './random.js';

/** The answer most often given, ties drawn, with its number of votes; null without answers. */
export function plurality<A extends number | string>(
  answers: readonly A[],
  random: Random,
): { readonly answer: A; readonly votes: number } | null {
  const votes = new Map<A, number>();
  for (const answer of answers) votes.set(answer, (votes.get(answer) ?? 0) + 1);
  const most = Math.max(0, ...votes.values());
  const best = [...votes].filter(([, count]) => count === most).map(([answer]) => answer);
  const answer = best.length === 1 ? best[0] : best[below(random, best.length)];
  return answer === undefined ? null : { answer, votes: most };
}
