/** How a vote ended. */
export type Vote =
  | {
      readonly status: 'won';
      readonly answer: string;
      readonly votes: number;
      /** How many answers had as many votes, the winner included; 1 is no tie. */
      readonly tied: number;
    }
  | { readonly status: 'empty' };

/**
 * The answer most often given, up to `same`. Answers that are null never vote; all null is `empty`. Of answers with equal
 * votes the one given first wins.
 */
export function plurality(
  answers: readonly (string | null)[],
  same: (a: string, b: string) => boolean,
): Vote {
  const classes: { readonly answer: string; votes: number }[] = [];
  for (const answer of answers) {
    if (answer === null) continue;
    const known = classes.find((c) => same(c.answer, answer));
    if (known === undefined) classes.push({ answer, votes: 1 });
    else known.votes += 1;
  }
  const votes = classes.reduce((most, c) => Math.max(most, c.votes), 0);
  const [first, ...others] = classes.filter((c) => c.votes === votes);
  if (first === undefined) return { status: 'empty' };
  return { status: 'won', answer: first.answer, votes, tied: 1 + others.length };
}
