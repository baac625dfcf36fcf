const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** Natural logarithm of the gamma function for x > 0; Lanczos approximation, about 15 digits. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  const sum = lanczos.reduce((acc, c, i) => acc + c / (x + i), 0.99999999999980993);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Continued fraction of the incomplete beta function by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const guard = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 50_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/** Regularised incomplete beta function I_x(a, b) for 0 ≤ x ≤ 1 and a, b > 0. */
function betaIncomplete(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const scale = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2)
    ? (scale * betaFraction(x, a, b)) / a
    : 1 - (scale * betaFraction(1 - x, b, a)) / b;
}

/** Probability of at most `k` successes in `n` draws of chance `p`. */
export const binomialCdf = (k: number, n: number, p: number): number =>
  k < 0 ? 0 : k >= n ? 1 : betaIncomplete(1 - p, n - k, k + 1);

/** Probability that a t variable of `df` degrees of freedom lies below `t`. */
export function studentCdf(t: number, df: number): number {
  const tail = betaIncomplete(df / (df + t * t), df / 2, 0.5) / 2;
  return t < 0 ? tail : 1 - tail;
}

/** Density of a t variable of `df` degrees of freedom at `t`. */
const studentDensity = (t: number, df: number): number =>
  Math.exp(logGamma((df + 1) / 2) - logGamma(df / 2) - ((df + 1) / 2) * Math.log1p((t * t) / df)) /
  Math.sqrt(df * Math.PI);

/**
 * t with `studentCdf(t, df)` = p by Newton's method from the expansion of Cornish and Fisher; null where it doesn't settle.
 */
function studentByNewton(p: number, df: number): number | null {
  const z = p === 0.975 ? Z95 : normalQuantile(p);
  let t = z + (z ** 3 + z) / (4 * df) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2);
  for (let i = 0; i < 20; i++) {
    const step = (studentCdf(t, df) - p) / studentDensity(t, df);
    t -= step;
    if (!(t > 0)) return null;
    if (Math.abs(step) <= 1e-14 * t) return t;
  }
  return null;
}

function studentByHalves(p: number, df: number): number {
  let high = 1;
  while (studentCdf(high, df) < p) high *= 2;
  let low = 0;
  for (let i = 0; i < 200 && high - low > 1e-14 * high; i++) {
    const middle = (low + high) / 2;
    if (studentCdf(middle, df) < p) low = middle;
    else high = middle;
  }
  return high;
}

const knownStudent = new Map<number, number>();

/** t with `studentCdf(t, df)` = p, to the last digits of a double; NaN unless 0 < p < 1 and df > 0. */
export function studentQuantile(p: number, df: number): number {
  if (!(p > 0 && p < 1 && df > 0)) return Number.NaN;
  if (p < 0.5) return -studentQuantile(1 - p, df);
  const kept = p === 0.975 && Number.isInteger(df);
  const known = kept ? knownStudent.get(df) : undefined;
  if (known !== undefined) return known;
  const t = (p > 0.5 && df >= 3 ? studentByNewton(p, df) : null) ?? studentByHalves(p, df);
  if (kept) knownStudent.set(df, t);
  return t;
}

/** 97.5 % quantile of the normal distribution: half-width of a 95 % interval in standard errors. */
export const Z95 = 1.959963984540054;

/** Upper regularised incomplete gamma function Q(a, x) for x ≥ a + 1, by Lentz's method. */
function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let result = d;
  for (let i = 1; i <= 50_000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result * Math.exp(a * Math.log(x) - x - logGamma(a));
}

/** Lower regularised incomplete gamma function P(a, x) for x < a + 1, by its series. */
function gammaSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let i = 1; i <= 50_000; i++) {
    term *= x / (a + i);
    sum += term;
    if (term < sum * 1e-16) break;
  }
  return sum * Math.exp(a * Math.log(x) - x - logGamma(a));
}

/** Regularised incomplete gamma functions [P, Q] for a > 0 and x ≥ 0; each is exact to its own last digits. */
function gammaIncomplete(a: number, x: number): readonly [lower: number, upper: number] {
  if (x <= 0) return [0, 1];
  if (x < a + 1) {
    const lower = gammaSeries(a, x);
    return [lower, 1 - lower];
  }
  const upper = gammaFraction(a, x);
  return [1 - upper, upper];
}

/** Probability that a standard normal variable lies below `z`; small tails keep their digits. */
export function normalCdf(z: number): number {
  const [lower, upper] = gammaIncomplete(0.5, (z * z) / 2);
  return z < 0 ? upper / 2 : 0.5 + lower / 2;
}

/** Smallest x in [low, high] with `reached(x)`, by bisection to the last digits of a double. */
function bisect(reached: (x: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let i = 0; i < 200 && high - low > 1e-15 * Math.max(Math.abs(low), Math.abs(high)); i++) {
    const middle = (low + high) / 2;
    if (reached(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** z with `normalCdf(z)` = p; −∞ and ∞ for 0 and 1, NaN outside of them. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1))
    return p === 0 ? Number.NEGATIVE_INFINITY : p === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
  if (p > 0.5) return -normalQuantile(1 - p);
  return bisect((z) => normalCdf(z) >= p, -40, 0);
}

const knownChiSquare = new Map<string, number>();

/** x that a χ² variable of `df` degrees of freedom lies below with probability p, for 0 < p < 1 and df > 0. */
export function chiSquareQuantile(p: number, df: number): number {
  const key = `${p} ${df}`;
  const known = knownChiSquare.get(key);
  if (known !== undefined) return known;
  const below = (x: number) => gammaIncomplete(df / 2, x / 2)[0];
  let high = df + 1;
  while (below(high) < p) high *= 2;
  const x = bisect((value) => below(value) >= p, 0, high);
  if (knownChiSquare.size < 1_000) knownChiSquare.set(key, x);
  return x;
}

/** Probability of exactly `k` successes in `n` draws of chance `p`, 0 < p < 1; in logarithms. */
export const binomialPoint = (k: number, n: number, p: number): number =>
  Math.exp(
    logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1) + k * Math.log(p) + (n - k) * Math.log1p(-p),
  );
