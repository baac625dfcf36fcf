/** A logistic regression on features as given. */
export interface LogisticFit {
  readonly intercept: number;
  readonly weights: readonly number[];
  readonly iterations: number;
  readonly converged: boolean;
}

/** 1 / (1 + e^−x). */
export const sigmoid = (x: number): number =>
  x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));

interface LogisticOptions {
  /** Weight of the penalty ½·l2·Σ w² (intercept left free), which keeps separable data finite. Default 1. */
  readonly l2?: number;
  /** Most Newton steps. Default 50. */
  readonly steps?: number;
}

/**
 * Penalised maximum likelihood by Newton's method (iteratively reweighted least squares) with halved steps where a full
 * one would overshoot. Null without rows, for rows of unequal length, values that aren't finite, or labels of one kind.
 */
export function fitLogistic(
  rows: readonly (readonly number[])[],
  labels: readonly boolean[],
  { l2 = 1, steps = 50 }: LogisticOptions = {},
): LogisticFit | null {
  const width = rows[0]?.length ?? 0;
  const sound = rows.every((row) => row.length === width && row.every(Number.isFinite));
  if (rows.length === 0 || rows.length !== labels.length || !sound || new Set(labels).size < 2) return null;
  return climb({ rows: rows.map((row) => [1, ...row]), labels, l2 }, steps);
}

/** Steps smaller than this change no figure that is used. */
const SETTLED = 1e-8;

function climb(data: Data, steps: number): LogisticFit | null {
  let at = data.rows[0]?.map(() => 0) ?? [];
  for (let iterations = 1; iterations <= steps; iterations++) {
    const step = newtonStep(at, data);
    if (step === null) return null;
    const scale = shrunk(at, step, data);
    at = moved(at, step, scale);
    if (Math.max(...step.map(Math.abs)) * scale < SETTLED) return asFit(at, iterations, true);
  }
  return asFit(at, steps, false);
}

/** The part of a step that doesn't raise the loss: all of it, or a half, a quarter and so on. */
function shrunk(at: readonly number[], step: readonly number[], data: Data): number {
  const loss = lossOf(at, data);
  let scale = 1;
  while (lossOf(moved(at, step, scale), data) > loss * (1 + 1e-12) && scale > 1e-6) scale /= 2;
  return scale;
}

interface Data {
  /** Rows with a leading 1. */
  readonly rows: readonly (readonly number[])[];
  readonly labels: readonly boolean[];
  readonly l2: number;
}

const asFit = (
  [intercept = 0, ...weights]: readonly number[],
  iterations: number,
  converged: boolean,
): LogisticFit => ({
  intercept,
  weights,
  iterations,
  converged,
});

const moved = (from: readonly number[], step: readonly number[], scale: number): number[] =>
  from.map((value, i) => value + scale * (step[i] ?? 0));

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

/** Negative log-likelihood with the penalty. */
function lossOf(at: readonly number[], { rows, labels, l2 }: Data): number {
  const likelihood = rows.reduce((sum, row, i) => {
    const margin = (labels[i] === true ? 1 : -1) * dot(row, at);
    return sum + (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin);
  }, 0);
  return likelihood + (l2 / 2) * at.slice(1).reduce((sum, weight) => sum + weight * weight, 0);
}

function newtonStep(at: readonly number[], { rows, labels, l2 }: Data): number[] | null {
  const size = at.length;
  const gradient = at.map((weight, i) => (i === 0 ? 0 : -l2 * weight));
  const hessian = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => (i === j ? (i === 0 ? 1e-9 : l2 + 1e-9) : 0)),
  );
  rows.forEach((row, r) => {
    const p = sigmoid(dot(row, at));
    const miss = (labels[r] === true ? 1 : 0) - p;
    row.forEach((value, i) => {
      gradient[i] = (gradient[i] ?? 0) + miss * value;
      const line = hessian[i] ?? [];
      for (let j = 0; j <= i; j++) line[j] = (line[j] ?? 0) + p * (1 - p) * value * (row[j] ?? 0);
    });
  });
  return solve(hessian, gradient);
}

/** Solves a symmetric positive system, of which the lower half is given; null if it is not positive. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] | null {
  const lower = cholesky(matrix);
  if (lower === null) return null;
  const diagonal = (i: number) => lower[i]?.[i] ?? Number.NaN;
  const forward: number[] = [];
  for (const [i, line] of lower.entries()) forward.push(((right[i] ?? 0) - dot(forward, line)) / diagonal(i));
  const result = forward.map(() => 0);
  for (let i = forward.length - 1; i >= 0; i--) {
    const column = lower.map((line) => line[i] ?? 0);
    result[i] = ((forward[i] ?? 0) - dot(result, column)) / diagonal(i);
  }
  return result;
}

/** Lower triangle L with L·Lᵀ = matrix, one row after the other. */
function cholesky(matrix: readonly (readonly number[])[]): number[][] | null {
  const lower: number[][] = [];
  for (const [i, line] of matrix.entries()) {
    const row: number[] = [];
    for (const above of lower) {
      const j = row.length;
      row.push(((line[j] ?? 0) - dot(row, above)) / (above[j] ?? Number.NaN));
    }
    const rest = (line[i] ?? 0) - dot(row, row);
    if (!(rest > 0)) return null;
    row.push(Math.sqrt(rest));
    lower.push(row);
  }
  return lower;
}
