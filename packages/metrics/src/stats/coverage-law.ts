/** How coverage grows with attempts: c(k) = exp(a·k^b), a and b negative. */
export interface CoverageLaw {
  readonly a: number;
  readonly b: number;
}

/** Coverage after k attempts. */
export interface CoveragePoint {
  readonly k: number;
  /** 0…1. */
  readonly coverage: number;
}

/** A law with how well it describes the points it was made of. */
export interface CoverageFit extends CoverageLaw {
  /** Of the fitted line, log(−log c) over log k; null where the points do not differ. */
  readonly r2: number | null;
  readonly points: number;
  /** Coverage at the largest k as the law of the other points foretells it, less what it is; null with fewer than two others. */
  readonly held_out_error: number | null;
}

/** Coverage that the law gives for k attempts, k ≥ 1. (Brown et al. 2024, arXiv 2407.21787) */
export const coverageAt = ({ a, b }: CoverageLaw, k: number): number => Math.exp(a * k ** b);

/**
 * The law through some points by least squares of log(−log c) on log k. Points of coverage 0 or 1 say nothing of it and are left
 * out; null with fewer than two others. (Brown et al. 2024)
 */
export function fitCoverageLaw(points: readonly CoveragePoint[]): CoverageFit | null {
  const used = points.filter(({ k, coverage }) => k >= 1 && coverage > 0 && coverage < 1);
  const law = lawThrough(used);
  if (law === null) return null;
  const last = used.reduce((most, own) => (own.k > most.k ? own : most));
  const others = lawThrough(used.filter(({ k }) => k < last.k));
  return {
    a: law.a,
    b: law.b,
    r2: law.r2,
    points: used.length,
    held_out_error: others === null ? null : coverageAt(others, last.k) - last.coverage,
  };
}

function lawThrough(points: readonly CoveragePoint[]): (CoverageLaw & { readonly r2: number | null }) | null {
  const x = points.map(({ k }) => Math.log(k));
  const y = points.map(({ coverage }) => Math.log(-Math.log(coverage)));
  const [xMean, yMean] = [meanOf(x), meanOf(y)];
  let [xx, xy, yy] = [0, 0, 0];
  for (const [i, own] of x.entries()) {
    const [dx, dy] = [own - xMean, (y[i] ?? 0) - yMean];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  if (points.length < 2 || xx === 0) return null;
  const b = xy / xx;
  return { a: -Math.exp(yMean - b * xMean), b, r2: yy === 0 ? null : (xy * xy) / (xx * yy) };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
