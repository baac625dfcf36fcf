import { below, type Random } from './random.js';

/** The answer most often given, ties drawn, with its number of votes; null without answers. */
export function plurality(
  answers: readonly number[],
  random: Random,
): { readonly answer: number; readonly votes: number } | null {
  const votes = new Map<number, number>();
  for (const answer of answers) votes.set(answer, (votes.get(answer) ?? 0) + 1);
  const most = Math.max(0, ...votes.values());
  const best = [...votes].filter(([, count]) => count === most).map(([answer]) => answer);
  if (best.length === 0) return null;
  const answer = best.length === 1 ? best[0] : best[below(random, best.length)];
  return { answer: answer ?? 0, votes: most };
}
