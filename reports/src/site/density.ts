/** Counts on a grid, as Plotly's heat map takes them: `z[row][column]`, null where nothing lies. */
export interface Density {
  readonly x0: number;
  readonly dx: number;
  readonly y0: number;
  readonly dy: number;
  readonly z: readonly (readonly (number | null)[])[];
}

const COLUMNS = 120;
const ROWS = 50;

function rangeOf(values: readonly number[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? [low, high] : [low, low + 1];
}

/** How many points lie in each field of a grid over all of them. Points are finite and at least one. */
export function densityOf(x: readonly number[], y: readonly number[]): Density {
  const [[left, right], [bottom, top]] = [rangeOf(x), rangeOf(y)];
  const [dx, dy] = [(right - left) / COLUMNS, (top - bottom) / ROWS];
  const z = Array.from({ length: ROWS }, () => new Array<number | null>(COLUMNS).fill(null));
  for (const [i, across] of x.entries()) {
    const column = Math.min(Math.floor((across - left) / dx), COLUMNS - 1);
    const row = z[Math.min(Math.floor(((y[i] ?? bottom) - bottom) / dy), ROWS - 1)];
    if (row !== undefined) row[column] = (row[column] ?? 0) + 1;
  }
  return { x0: left + dx / 2, dx, y0: bottom + dy / 2, dy, z };
}
