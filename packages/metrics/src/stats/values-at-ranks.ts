/** Values are counted in one bucket each, at most in this many, of equal width. */
const BUCKETS = 4096;

/** Below this length a sort is cheaper than to count. */
const SORTED = 256;

interface Extent {
  readonly least: number;
  readonly most: number;
}

/** Least and greatest value; null where one isn't finite, or for none. */
function extentOf(values: Float64Array): Extent | null {
  let [least, most] = [values[0] ?? Number.NaN, values[0] ?? Number.NaN];
  for (let i = 0; i < values.length; i++) {
    const own = values[i] ?? Number.NaN;
    if (own - own !== 0) return null;
    if (own < least) least = own;
    if (own > most) most = own;
  }
  return Number.isNaN(least) ? null : { least, most };
}

const pickedFrom = (sorted: Float64Array, ranks: readonly number[]): Float64Array =>
  Float64Array.from(ranks, (rank) => sorted[rank] ?? Number.NaN);

interface Scale {
  readonly least: number;
  /** Buckets per unit, and in all. */
  readonly scale: number;
  readonly buckets: number;
}

/** Counts by bucket. The bucket of a value never falls as the value grows: each step to it is monotone, rounding included. */
function counted(values: Float64Array, { least, scale, buckets }: Scale): Uint32Array {
  const counts = new Uint32Array(buckets);
  for (let i = 0; i < values.length; i++) {
    const bucket = (((values[i] ?? 0) - least) * scale) | 0;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** A bucket that a rank lies in: ranks from `first` on are its own. */
interface Wanted {
  readonly first: number;
  readonly own: Float64Array;
  filled: number;
}

/** The buckets that ranks (ascending) lie in, by number, still empty. */
function wantedBuckets(counts: Uint32Array, ranks: readonly number[]): (Wanted | undefined)[] {
  const wanted: (Wanted | undefined)[] = new Array(counts.length).fill(undefined);
  let [first, next] = [0, 0];
  for (let bucket = 0; bucket < counts.length && next < ranks.length; bucket++) {
    const count = counts[bucket] ?? 0;
    const end = first + count;
    if ((ranks[next] ?? end) < end) wanted[bucket] = { first, own: new Float64Array(count), filled: 0 };
    while (next < ranks.length && (ranks[next] ?? end) < end) next += 1;
    first = end;
  }
  return wanted;
}

function fill(wanted: (Wanted | undefined)[], values: Float64Array, { least, scale }: Scale): void {
  for (let i = 0; i < values.length; i++) {
    const own = values[i] ?? 0;
    const into = wanted[((own - least) * scale) | 0];
    if (into === undefined) continue;
    into.own[into.filled] = own;
    into.filled += 1;
  }
}

/** The values at ranks by counting, and a sort of each bucket that a rank lies in. */
function byCounting(values: Float64Array, ranks: readonly number[], scale: Scale): Float64Array {
  const wanted = wantedBuckets(counted(values, scale), ranks);
  fill(wanted, values, scale);
  const found = wanted.filter((bucket) => bucket !== undefined);
  for (const { own } of found) own.sort();
  return Float64Array.from(ranks, (rank) => {
    const bucket = found.findLast(({ first }) => first <= rank);
    return bucket?.own[rank - bucket.first] ?? Number.NaN;
  });
}

/**
 * The values that a sort of `values`, which stay as they are, would put at `ranks` (from 0, ascending, below their number);
 * null where one isn't finite, or for none. Takes three passes over values that spread, a sort's time where they crowd.
 */
export function valuesAtRanks(values: Float64Array, ranks: readonly number[]): Float64Array | null {
  const extent = extentOf(values);
  if (extent === null) return null;
  const { least, most } = extent;
  const buckets = Math.min(values.length, BUCKETS);
  const scale = (buckets - 1) / (most - least);
  return values.length < SORTED || !Number.isFinite(scale) || scale === 0
    ? pickedFrom(values.slice().sort(), ranks)
    : byCounting(values, ranks, { least, scale, buckets });
}
