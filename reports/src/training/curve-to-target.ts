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

/** Share of the lower plateau that both trainings can be asked for: a moving average must get there and stay. */
const PLATEAU_SHARE = 0.95;

/** 95 % of the lower of two final moving averages; null where a training has not ended. */
export function commonTarget(a: TrainingAccount, b: TrainingAccount, window: number): number | null {
  if (!a.complete || !b.complete) return null;
  const plateau = ({ curve }: TrainingAccount) => {
    const last = curve.slice(-window);
    return last.reduce((sum, { accuracy }) => sum + accuracy, 0) / last.length;
  };
  return PLATEAU_SHARE * Math.min(plateau(a), plateau(b));
}

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
