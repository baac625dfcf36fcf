/** Parts from this length on are narrowed by a sample before they are split. */
const SAMPLED = 600;

function swap(values: Float64Array, i: number, k: number): void {
  const own = values[i] ?? 0;
  values[i] = values[k] ?? 0;
  values[k] = own;
}

function notBelow(values: Float64Array, from: number, pivot: number): number {
  let at = from;
  while ((values[at] ?? 0) < pivot) at += 1;
  return at;
}

function notAbove(values: Float64Array, from: number, pivot: number): number {
  let at = from;
  while ((values[at] ?? 0) > pivot) at -= 1;
  return at;
}

interface Part {
  from: number;
  to: number;
}

/** Splits a part at the value now at `rank` and narrows it to the side that the rank is on; to one value when it is in place. */
function split(values: Float64Array, rank: number, part: Part): void {
  const pivot = values[rank] ?? 0;
  let i = notBelow(values, part.from, pivot);
  let k = notAbove(values, part.to, pivot);
  while (i <= k) {
    swap(values, i, k);
    i = notBelow(values, i + 1, pivot);
    k = notAbove(values, k - 1, pivot);
  }
  if (rank >= i) part.from = i;
  else if (rank <= k) part.to = k;
  else part.from = part.to;
}

/** Puts the value of rank `rank` of a part at its place, smaller ones before it, larger ones behind. */
function selectOne(values: Float64Array, rank: number, { from, to }: Readonly<Part>): void {
  const part = { from, to };
  while (part.from < part.to) {
    if (part.to - part.from > SAMPLED) selectOne(values, rank, sampleAround(rank, part.from, part.to));
    split(values, rank, part);
  }
}

/** The part around a rank that is looked at first, so that the pivot is near the value sought. */
function sampleAround(rank: number, from: number, to: number) {
  const [n, at] = [to - from + 1, rank - from + 1];
  const z = Math.log(n);
  const s = 0.5 * Math.exp((2 * z) / 3);
  const away = 0.5 * Math.sqrt((z * s * (n - s)) / n) * Math.sign(at - n / 2);
  return {
    from: Math.max(from, Math.floor(rank - (at * s) / n + away)),
    to: Math.min(to, Math.floor(rank + ((n - at) * s) / n + away)),
  };
}

/**
 * Rearranges `values` (none NaN) so that each of `ranks` (from 0, ascending) has the value that a sort would put there; the
 * others lie on the right side of them. Takes time in proportion to the number of values (Floyd and Rivest 1975).
 */
export function selectRanks(values: Float64Array, ranks: readonly number[]): void {
  const select = (first: number, last: number, from: number, to: number): void => {
    if (first > last) return;
    const middle = (first + last) >> 1;
    const rank = ranks[middle] ?? 0;
    selectOne(values, rank, { from, to });
    select(first, middle - 1, from, rank - 1);
    select(middle + 1, last, rank + 1, to);
  };
  select(0, ranks.length - 1, 0, values.length - 1);
}
