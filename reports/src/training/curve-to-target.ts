import { studentT } from '@perwatt/metrics';
import type { SeedCurve, TrainingAccount, TrainingFigure } from './training-account.js';

/** What a curve can be drawn over. */
export const efforts = ['env_actions', 'tokens', 'energy_j', 'cpu_s'] as const;
/** One of `efforts`. */
export type Effort = (typeof efforts)[number];

/** How a target counts as reached. */
export interface TargetRule {
  readonly target: number;
  /** Evaluations of the moving average, and evaluations that it must stay for. */
  readonly window: number;
}

/**
 * Effort at which the moving average of a seed's accuracy first reaches a target and stays there for as many evaluations;
 * null where it never does, or the effort isn't known.
 */
export function curveToTarget(
  { points }: SeedCurve,
  effort: Effort,
  { target, window }: TargetRule,
): number | null {
  const averages = points.map((_, i) => {
    const own = points.slice(Math.max(0, i - window + 1), i + 1);
    return own.reduce((sum, { accuracy }) => sum + accuracy, 0) / own.length;
  });
  const reached = averages.findIndex(
    (_, i) =>
      i + window <= averages.length && averages.slice(i, i + window).every((value) => value >= target),
  );
  return points[reached]?.[effort] ?? null;
}

/** One effort of two trainings to the same target. */
export interface EffortRatio {
  readonly effort: Effort;
  readonly target: number;
  /** Effort of A over that of B: how many times less B takes. 95 % interval. */
  readonly ratio: TrainingFigure;
  /** Seeds that reached the target, of all. */
  readonly reached: { readonly a: number; readonly b: number; readonly seeds: number };
}

const missing = (reason: string): TrainingFigure => ({ value: null, lo: null, hi: null, reason });

/** The lower of two final accuracies: what both can be asked for. */
export const commonTarget = (a: TrainingAccount, b: TrainingAccount): number | null =>
  a.accuracy_after === null || b.accuracy_after === null
    ? null
    : Math.min(a.accuracy_after, b.accuracy_after);

/**
 * Efforts of A over B to a target, over the seeds that both reach it with: the mean of the log-ratios, with Student's t
 * interval over the seeds.
 */
export function effortRatios(a: TrainingAccount, b: TrainingAccount, rule: TargetRule): EffortRatio[] {
  return efforts.map((effort) => {
    const effortOf = ({ seeds }: TrainingAccount) =>
      new Map(seeds.map((curve) => [curve.seed, curveToTarget(curve, effort, rule)]));
    const [ofA, ofB] = [effortOf(a), effortOf(b)];
    const logs = [...ofA].flatMap(([seed, x]) => {
      const y = ofB.get(seed) ?? null;
      return x === null || y === null || x <= 0 || y <= 0 ? [] : [Math.log(x / y)];
    });
    const count = (all: ReadonlyMap<number, number | null>) =>
      [...all.values()].filter((x) => x !== null).length;
    return {
      effort,
      target: rule.target,
      ratio: ratioOf(logs),
      reached: { a: count(ofA), b: count(ofB), seeds: ofA.size },
    };
  });
}

function ratioOf(logs: readonly number[]): TrainingFigure {
  if (logs.length === 0) return missing('no seed reached the target in both, or the effort is unknown');
  const value = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  const interval = studentT(logs);
  if (interval === null) return { value, lo: null, hi: null, reason: null };
  return { value, lo: Math.exp(interval.lo), hi: Math.exp(interval.hi), reason: null };
}
