/** How far two raters agree on the same things. */
export interface Agreement {
  /** Things that both rated. */
  readonly n: number;
  readonly agreed: number;
  /** Cohen's κ: agreement beyond what the raters' own shares of each category would give; null for n = 0 and where they leave no room. */
  readonly kappa: number | null;
  /** Standard error of κ for large n (Fleiss, Cohen and Everitt 1969, formula 13); null where κ is, and for n < 2. */
  readonly kappa_se: number | null;
}

/** Agreement of pairs of ratings; the categories are those that occur. */
export function agreementOf(pairs: readonly (readonly [one: string, other: string])[]): Agreement {
  const n = pairs.length;
  const agreed = pairs.filter(([one, other]) => one === other).length;
  if (n === 0) return { n, agreed, kappa: null, kappa_se: null };
  const share = (matches: (pair: readonly [string, string]) => boolean) => pairs.filter(matches).length / n;
  const categories = [...new Set(pairs.flat())];
  const rows = new Map(categories.map((c) => [c, share(([one]) => one === c)]));
  const columns = new Map(categories.map((c) => [c, share(([, other]) => other === c)]));
  const [p, q] = [(c: string) => rows.get(c) ?? 0, (c: string) => columns.get(c) ?? 0];
  const observed = agreed / n;
  const expected = categories.reduce((sum, c) => sum + p(c) * q(c), 0);
  if (expected >= 1) return { n, agreed, kappa: null, kappa_se: null };
  const kappa = (observed - expected) / (1 - expected);
  const diagonal = categories.reduce((sum, c) => {
    const cell = share(([one, other]) => one === c && other === c);
    return sum + cell * (1 - (p(c) + q(c)) * (1 - kappa)) ** 2;
  }, 0);
  const beside = categories.reduce(
    (sum, a) =>
      sum +
      categories.reduce(
        (part, b) =>
          a === b ? part : part + share(([one, other]) => one === a && other === b) * (q(a) + p(b)) ** 2,
        0,
      ),
    0,
  );
  const variance =
    (diagonal + (1 - kappa) ** 2 * beside - (kappa - expected * (1 - kappa)) ** 2) /
    (n * (1 - expected) ** 2);
  return { n, agreed, kappa, kappa_se: n < 2 ? null : Math.sqrt(Math.max(0, variance)) };
}
