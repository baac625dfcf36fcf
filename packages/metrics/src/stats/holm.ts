/** One of several tests after Holm's correction. */
export interface HolmResult {
  /** Adjusted p: the smallest family-wise level at which this test still rejects. */
  readonly p: number;
  readonly rejected: boolean;
}

/**
 * Holm's step-down correction: the chance of even one false rejection among all tests stays at `level` whatever their
 * dependence. In the order of the input. A p that is null or outside 0…1 is no test: null, and it isn't counted.
 */
export function holm(ps: readonly (number | null)[], level = 0.05): (HolmResult | null)[] {
  const isTest = (p: number | null): p is number => p !== null && p >= 0 && p <= 1;
  const tests = ps
    .map((p, at) => ({ p, at }))
    .filter((test): test is { p: number; at: number } => isTest(test.p));
  const results = ps.map((): HolmResult | null => null);
  let adjusted = 0;
  tests
    .toSorted((a, b) => a.p - b.p)
    .forEach(({ p, at }, rank) => {
      adjusted = Math.max(adjusted, Math.min(1, (tests.length - rank) * p));
      results[at] = { p: adjusted, rejected: adjusted <= level };
    });
  return results;
}

/** What a table of so many comparisons has to say of them; null for one or none. */
export function multipleComparisonNote(comparisons: number): string | null {
  if (!(comparisons > 1)) return null;
  const byChance = (1 - 0.95 ** comparisons) * 100;
  return `${comparisons} comparisons: without correction at least one would differ by chance alone in ${byChance.toFixed(0)} of 100 such tables; p is adjusted by Holm's method`;
}
