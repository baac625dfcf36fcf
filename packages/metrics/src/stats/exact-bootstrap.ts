import { normalCdf, normalQuantile, Z95 } from '../distributions.js';

/** Probabilities of whole numbers from `first` on. */
interface Masses {
  readonly first: number;
  readonly of: Float64Array;
}

/** What is left out of a distribution at either end. */
const NEGLIGIBLE = 1e-20;

function trimmed({ first, of }: Masses): Masses {
  let [low, high] = [0, of.length];
  while (low < high - 1 && (of[low] ?? 0) < NEGLIGIBLE) low += 1;
  while (high > low + 1 && (of[high - 1] ?? 0) < NEGLIGIBLE) high -= 1;
  return { first: first + low, of: of.subarray(low, high) };
}

/** The distribution of the sum of two independent numbers. */
function added(a: Masses, b: Masses): Masses {
  const of = new Float64Array(a.of.length + b.of.length - 1);
  for (let i = 0; i < a.of.length; i++) {
    const mass = a.of[i] ?? 0;
    for (let k = 0; k < b.of.length; k++) of[i + k] = (of[i + k] ?? 0) + mass * (b.of[k] ?? 0);
  }
  return trimmed({ first: a.first + b.first, of });
}

/** The distribution of the sum of `count` independent draws, by repeated doubling. */
function drawn(one: Masses, count: number): Masses {
  let sum: Masses = { first: 0, of: Float64Array.of(1) };
  let power = one;
  for (let left = count; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) sum = added(sum, power);
    if (left > 1) power = added(power, power);
  }
  return sum;
}

/** The smallest number that at least a share `p` of the distribution does not exceed. */
function quantileAt({ first, of }: Masses, p: number): number {
  let below = 0;
  for (let i = 0; i < of.length; i++) {
    below += of[i] ?? 0;
    if (below >= p - 1e-12) return first + i;
  }
  return first + of.length - 1;
}

/** Share of the distribution below a number, half of its own mass included. */
function shareBelow({ first, of }: Masses, value: number): number {
  const at = value - first;
  let below = 0;
  for (let i = 0; i < Math.min(at, of.length); i++) below += of[i] ?? 0;
  return below + (of[at] ?? 0) / 2;
}

/** Skewness of the sums over 6, as leaving one cluster out in turn gives it. */
function acceleration(histogram: ArrayLike<number>, centre: number): number {
  let [squares, cubes] = [0, 0];
  for (let sum = 0; sum < histogram.length; sum++) {
    const away = sum - centre;
    squares += (histogram[sum] ?? 0) * away ** 2;
    cubes += (histogram[sum] ?? 0) * away ** 3;
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}

/**
 * 95 % bootstrap interval (BCa, Efron 1987) of a mean over clusters of one size whose sums are whole numbers: what
 * `bootstrapMean` tends to with ever more draws, without drawing. The distribution of all possible draws is computed by
 * convolution, so there is no seed. `histogram[s]` is the number of clusters with the sum `s`. Null below two clusters.
 */
export function exactBootstrapMean(
  histogram: ArrayLike<number>,
  size: number,
): { lo: number; hi: number } | null {
  const counts = Float64Array.from(histogram);
  const clusters = counts.reduce((sum, count) => sum + count, 0);
  const total = counts.reduce((sum, count, own) => sum + count * own, 0);
  if (!(clusters >= 2 && size > 0)) return null;
  const masses = drawn(trimmed({ first: 0, of: counts.map((count) => count / clusters) }), clusters);
  const ends = (low: number, high: number) => ({
    lo: quantileAt(masses, low) / (clusters * size),
    hi: quantileAt(masses, high) / (clusters * size),
  });
  const bias = normalQuantile(shareBelow(masses, total));
  if (!Number.isFinite(bias)) return ends(0.025, 0.975);
  const skew = acceleration(counts, total / clusters);
  const level = (z: number) => normalCdf(bias + (bias + z) / (1 - skew * (bias + z)));
  const [low, high] = [level(-Z95), level(Z95)];
  return low > 0 && high > low ? ends(low, Math.min(high, 1)) : ends(0.025, 0.975);
}
