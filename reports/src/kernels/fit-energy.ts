import { studentQuantile } from '@perwatt/metrics';
import type { EnergyFit, FitCoefficient } from '@perwatt/records';

/** Energy of one launch at one intensity. */
export interface FitPoint {
  /** Useful FLOP. */
  readonly flop: number;
  /** Compulsory bytes. */
  readonly bytes: number;
  readonly duration_s: number;
  readonly energy_j: number;
}

/** A fit, or why there is none. */
export type Fitted =
  | { readonly fit: EnergyFit; readonly reason: null }
  | { readonly fit: null; readonly reason: string };

/** A sweep needs so many intensities. */
export const LEAST_INTENSITIES = 8;

/** FLOP, bytes and time of a point, each over its energy and the largest of its column. */
type Row = readonly [number, number, number];

const SUBSETS: readonly (readonly number[])[] = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]];

/**
 * Splits energy into per FLOP, per byte and per second, E = a·FLOP + b·bytes + P·time, from a sweep over intensities (Choi, Bedard,
 * Fowler and Vuduc, IPDPS 2013): least squares of relative errors without negative coefficients. With three terms the best of all
 * subsets whose coefficients are positive is that solution. The intervals are Student's, from the scatter about the fit alone: they
 * know neither the meter's systematic error nor what the model leaves out. No fit below eight intensities, for numbers that are none,
 * or where the terms can't be told apart.
 */
export function fitEnergy(points: readonly FitPoint[]): Fitted {
  const broken = points.find((point) => !isWhole(point));
  if (broken !== undefined)
    return { fit: null, reason: `a point is not made of numbers above 0: ${JSON.stringify(broken)}` };
  const intensities = distinctIntensities(points);
  if (intensities < LEAST_INTENSITIES)
    return {
      fit: null,
      reason: `${intensities} intensities have energy, and a fit needs ${LEAST_INTENSITIES}`,
    };
  const { rows, scales } = scaled(points);
  const solutions = SUBSETS.flatMap((terms) => solve(rows, terms) ?? []);
  const [best] = solutions.toSorted((a, b) => a.squares - b.squares);
  if (best === undefined)
    return { fit: null, reason: 'FLOP, bytes and time cannot be told apart in this sweep' };
  const coefficient = coefficientsOf(best, { scales, points: points.length });
  return {
    fit: {
      label: 'fit',
      flop_j: coefficient(0),
      byte_j: coefficient(1),
      constant_w: coefficient(2),
      points: points.length,
      residuals: rows.map((row, i) => ({
        flop_per_byte: intensityOf(points[i] ?? { flop: 0, bytes: 1 }),
        ratio: dot(row, best.values) - 1,
      })),
      rms_ratio: Math.sqrt(best.squares / points.length),
    },
    reason: null,
  };
}

/** Energy of a point by a fit, J. */
export const fittedEnergy = (
  { flop_j, byte_j, constant_w }: EnergyFit,
  { flop, bytes, duration_s }: Omit<FitPoint, 'energy_j'>,
): number => flop_j.value * flop + byte_j.value * bytes + constant_w.value * duration_s;

const intensityOf = ({ flop, bytes }: Pick<FitPoint, 'flop' | 'bytes'>): number => flop / bytes;

const isWhole = ({ flop, bytes, duration_s, energy_j }: FitPoint): boolean =>
  [flop, bytes, duration_s, energy_j].every((value) => Number.isFinite(value) && value > 0);

/** Intensities that differ by more than a millionth. */
function distinctIntensities(points: readonly FitPoint[]): number {
  const sorted = points.map(intensityOf).toSorted((a, b) => a - b);
  return sorted.filter((value, i) => {
    const before = sorted[i - 1];
    return before === undefined || value - before > 1e-6 * value;
  }).length;
}

function scaled(points: readonly FitPoint[]): { readonly rows: readonly Row[]; readonly scales: Row } {
  const raw = points.map(
    ({ flop, bytes, duration_s, energy_j }): Row => [
      flop / energy_j,
      bytes / energy_j,
      duration_s / energy_j,
    ],
  );
  const most = (term: 0 | 1 | 2) => Math.max(...raw.map((row) => row[term]));
  const scales: Row = [most(0), most(1), most(2)];
  return { rows: raw.map(([a, b, c]): Row => [a / scales[0], b / scales[1], c / scales[2]]), scales };
}

interface Solution {
  readonly terms: readonly number[];
  /** Of all three terms; 0 for those left out. */
  readonly values: Row;
  /** Diagonal of the inverse of the normal equations, by place in `terms`. */
  readonly variances: readonly number[];
  readonly squares: number;
}

const dot = (a: Row, b: Row): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Least squares over some terms; null where one comes out negative, or they depend on each other. */
function solve(rows: readonly Row[], terms: readonly number[]): Solution | null {
  const column = (term: number) => rows.map((row) => row[term] ?? 0);
  const columns = terms.map(column);
  const inverse = inverseOf(
    columns.map((a) => columns.map((b) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0))),
  );
  if (inverse === null) return null;
  const sums = columns.map((values) => values.reduce((sum, value) => sum + value, 0));
  const found = inverse.map((row) => row.reduce((sum, value, i) => sum + value * (sums[i] ?? 0), 0));
  if (found.some((value) => value < 0)) return null;
  const coefficientOf = (term: number) => found[terms.indexOf(term)] ?? 0;
  const values: Row = [coefficientOf(0), coefficientOf(1), coefficientOf(2)];
  return {
    terms,
    values,
    variances: inverse.map((row, i) => row[i] ?? 0),
    squares: rows.reduce((sum, row) => sum + (dot(row, values) - 1) ** 2, 0),
  };
}

/** The inverse of a small symmetric matrix by elimination; null where it has none worth the name. */
function inverseOf(matrix: readonly (readonly number[])[]): number[][] | null {
  const size = matrix.length;
  const work = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let pivot = 0; pivot < size; pivot++) {
    const rest = work.slice(pivot).toSorted((a, b) => Math.abs(b[pivot] ?? 0) - Math.abs(a[pivot] ?? 0));
    work.splice(pivot, rest.length, ...rest);
    const row = work[pivot] ?? [];
    const divisor = row[pivot] ?? 0;
    if (Math.abs(divisor) < 1e-10) return null;
    const chosen = row.map((value) => value / divisor);
    work.forEach((other, i) => {
      const factor = other[pivot] ?? 0;
      work[i] = i === pivot ? chosen : other.map((value, j) => value - factor * (chosen[j] ?? 0));
    });
  }
  return work.map((row) => row.slice(size));
}

/** Coefficients in their units, with the half width of their 95 % interval. */
function coefficientsOf(
  { terms, values, variances, squares }: Solution,
  { scales, points }: { readonly scales: Row; readonly points: number },
): (term: 0 | 1 | 2) => FitCoefficient {
  const left = points - terms.length;
  const reach = studentQuantile(0.975, left);
  return (term) => {
    const variance = variances[terms.indexOf(term)];
    return {
      value: values[term] / scales[term],
      half_width:
        variance === undefined ? null : (reach * Math.sqrt((squares / left) * variance)) / scales[term],
    };
  };
}
