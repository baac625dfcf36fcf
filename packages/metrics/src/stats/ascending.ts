/**
 * Indices in the order of their values, equal ones in their own order; NaN isn't expected. A merge sort in two arrays of
 * whole numbers: values that all but stand in order, as stamps do, take one pass a doubling and no more memory.
 */
export function ascending(values: Float64Array): Uint32Array {
  const { length } = values;
  let [from, to] = [new Uint32Array(length), new Uint32Array(length)];
  for (let i = 0; i < length; i++) from[i] = i;
  for (let width = 1; width < length; width *= 2) {
    for (let low = 0; low < length; low += 2 * width) {
      const middle = Math.min(low + width, length);
      merge(values, from, { to, low, middle, high: Math.min(low + 2 * width, length) });
    }
    [from, to] = [to, from];
  }
  return from;
}

interface Runs {
  readonly to: Uint32Array;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Merges the runs `low … middle` and `middle … high` of `from`. */
function merge(values: Float64Array, from: Uint32Array, { to, low, middle, high }: Runs): void {
  const valueAt = (place: number) => values[from[place] ?? 0] ?? 0;
  if (middle >= high || valueAt(middle - 1) <= valueAt(middle)) {
    to.set(from.subarray(low, high), low);
    return;
  }
  let [left, right] = [low, middle];
  for (let place = low; place < high; place++) {
    const fromLeft = right >= high || (left < middle && valueAt(left) <= valueAt(right));
    to[place] = from[fromLeft ? left++ : right++] ?? 0;
  }
}
