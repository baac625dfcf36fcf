import { instant } from '@perwatt/core';
import { energyInWindow } from './energy-window.js';
import { t95 } from './statistics.js';
import type { PowerSeries, Window } from './types.js';

/** Mean power of one window as two meters saw it, with the standard deviation that their sensors' edges leave. */
export interface CalibrationPoint {
  readonly source_w: number;
  readonly source_sd_w: number;
  readonly reference_w: number;
  readonly reference_sd_w: number;
}

/** A line through the points: reference = offset + scale × source. Intervals of 95 %. */
export interface CalibrationFit {
  readonly scale: number;
  readonly scale_lo: number;
  readonly scale_hi: number;
  readonly offset_w: number;
  readonly offset_lo_w: number;
  readonly offset_hi_w: number;
  readonly n: number;
  /** Standard deviation of the reference about the line, W. */
  readonly residual_sd_w: number;
  /** Weighted sum of squared residuals over its degrees of freedom: above 1 where the points scatter more than their sensors explain. */
  readonly chi2_ratio: number;
}

/** A fit, or why there is none. */
export type CalibrationOutcome =
  | { readonly state: 'fitted'; readonly fit: CalibrationFit }
  | {
      readonly state: 'refused';
      readonly reason: 'too_few_points' | 'not_finite' | 'no_spread' | 'not_positive' | 'not_resolved';
    };

/** Fewest windows that a line is drawn through. */
export const FEWEST_CALIBRATION_POINTS = 6;
const MOST_STEPS = 100;

const refused = (
  reason: Extract<CalibrationOutcome, { state: 'refused' }>['reason'],
): CalibrationOutcome => ({
  state: 'refused',
  reason,
});

/**
 * Scale and offset of a source against a better meter: the line of least weighted squares with errors in both
 * coordinates (York et al. 2004, doi:10.1119/1.1632486, without correlation). Where the points scatter more than their
 * standard deviations explain, and where these are all 0, the uncertainty comes from the scatter. Intervals are
 * Student's with n − 2 degrees of freedom.
 *
 * Refused below six points (`too_few_points`), for a number that is none, where the source shows the same power
 * throughout (`no_spread`), and for a scale that isn't above 0 with certainty (`not_positive`) or that is uncertain by
 * more than half of itself (`not_resolved`).
 */
export function fitCalibration(points: readonly CalibrationPoint[]): CalibrationOutcome {
  if (points.length < FEWEST_CALIBRATION_POINTS) return refused('too_few_points');
  if (!points.every(isFinitePoint)) return refused('not_finite');
  const least = Math.min(...points.map(({ source_w }) => source_w));
  const most = Math.max(...points.map(({ source_w }) => source_w));
  if (!(most - least > 1e-9 * Math.max(Math.abs(most), Math.abs(least)))) return refused('no_spread');
  const known = points.some(({ source_sd_w, reference_sd_w }) => source_sd_w > 0 || reference_sd_w > 0);
  const floor = known ? smallest(points) : 1;
  const weighed = points.map((p) => ({
    x: p.source_w,
    y: p.reference_w,
    vx: known ? p.source_sd_w ** 2 : 0,
    vy: Math.max(known ? p.reference_sd_w : 1, floor) ** 2,
  }));
  const line = yorkLine(weighed);
  if (line === null) return refused('no_spread');
  const { a, b, va, vb } = line;
  const df = points.length - 2;
  const chi2 = weighed.reduce((sum, { x, y, vx, vy }) => sum + (y - a - b * x) ** 2 / (vy + b * b * vx), 0);
  const chi2_ratio = known ? chi2 / df : 1;
  const factor = Math.sqrt(known ? Math.max(1, chi2_ratio) : chi2 / df) * t95(df);
  const [half_b, half_a] = [factor * Math.sqrt(vb), factor * Math.sqrt(va)];
  if (!(b - half_b > 0)) return refused('not_positive');
  if (half_b > b / 2) return refused('not_resolved');
  const squares = weighed.reduce((sum, { x, y }) => sum + (y - a - b * x) ** 2, 0);
  return {
    state: 'fitted',
    fit: {
      scale: b,
      scale_lo: b - half_b,
      scale_hi: b + half_b,
      offset_w: a,
      offset_lo_w: a - half_a,
      offset_hi_w: a + half_a,
      n: points.length,
      residual_sd_w: Math.sqrt(squares / df),
      chi2_ratio,
    },
  };
}

const isFinitePoint = (p: CalibrationPoint): boolean =>
  [p.source_w, p.reference_w].every(Number.isFinite) &&
  [p.source_sd_w, p.reference_sd_w].every((sd) => Number.isFinite(sd) && sd >= 0);

/** A millionth of the greatest standard deviation: no point is taken to be perfect beside others that aren't. */
const smallest = (points: readonly CalibrationPoint[]): number =>
  1e-6 * Math.max(...points.flatMap(({ source_sd_w, reference_sd_w }) => [source_sd_w, reference_sd_w]));

interface Weighed {
  readonly x: number;
  readonly y: number;
  readonly vx: number;
  readonly vy: number;
}

const weightedMean = (values: readonly number[], weights: readonly number[]): number => {
  const all = weights.reduce((sum, w) => sum + w, 0);
  return values.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0) / all;
};

/** Line of least squares in x and y alike, and the variances of its two parameters. Null where x doesn't vary. */
function yorkLine(points: readonly Weighed[]): { a: number; b: number; va: number; vb: number } | null {
  let b = slopeOf(points);
  if (!Number.isFinite(b)) return null;
  for (let step = 0; step < MOST_STEPS; step++) {
    const next = yorkStep(points, b).slope;
    if (!Number.isFinite(next)) return null;
    const still = Math.abs(next - b) <= 1e-14 * Math.abs(next);
    b = next;
    if (still) break;
  }
  const { weights, mx, my, betas } = yorkStep(points, b);
  const adjusted = betas.map((beta) => mx + beta);
  const centre = weightedMean(adjusted, weights);
  const spread = adjusted.reduce((sum, x, i) => sum + (weights[i] ?? 0) * (x - centre) ** 2, 0);
  const vb = 1 / spread;
  const va = 1 / weights.reduce((sum, w) => sum + w, 0) + centre ** 2 * vb;
  return { a: my - b * mx, b, va, vb };
}

function yorkStep(points: readonly Weighed[], b: number) {
  const weights = points.map(({ vx, vy }) => 1 / (vy + b * b * vx));
  const mx = weightedMean(
    points.map(({ x }) => x),
    weights,
  );
  const my = weightedMean(
    points.map(({ y }) => y),
    weights,
  );
  const betas = points.map(({ x, y, vx, vy }, i) => (weights[i] ?? 0) * ((x - mx) * vy + b * (y - my) * vx));
  const sum = (of: (p: Weighed) => number) =>
    points.reduce((acc, p, i) => acc + (weights[i] ?? 0) * (betas[i] ?? 0) * of(p), 0);
  return { weights, mx, my, betas, slope: sum(({ y }) => y - my) / sum(({ x }) => x - mx) };
}

/** Slope of plain least squares, to start from. */
function slopeOf(points: readonly Weighed[]): number {
  const n = points.length;
  const mx = points.reduce((sum, { x }) => sum + x, 0) / n;
  const my = points.reduce((sum, { y }) => sum + y, 0) / n;
  const xy = points.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0);
  return xy / points.reduce((sum, { x }) => sum + (x - mx) ** 2, 0);
}

/** The series of the domains that make up one meter's total. */
export type MeterSeries = readonly PowerSeries[];

/** Mean power of a meter's total over a window and its standard deviation; null when a part of it isn't known. */
function powerOf(series: MeterSeries, window: Window): { power_w: number; sd_w: number } | null {
  const seconds = Number(window.end - window.start) / 1e9;
  let [power_w, half_w] = [0, 0];
  for (const own of series) {
    const { energy_j, lo_j, hi_j } = energyInWindow(unscaled(own), window);
    if (energy_j === null || lo_j === null || hi_j === null) return null;
    power_w += energy_j / seconds;
    half_w += (hi_j - lo_j) / 2 / seconds;
  }
  return series.length === 0 ? null : { power_w, sd_w: half_w / Math.sqrt(3) };
}

const unscaledOf = new WeakMap<PowerSeries, PowerSeries>();

/** Without its declared scale error: that is what a calibration is to find. */
function unscaled(series: PowerSeries): PowerSeries {
  const known = unscaledOf.get(series);
  if (known !== undefined) return known;
  const made = { ...series, domain: { ...series.domain, scale_error_ratio: null } };
  unscaledOf.set(series, made);
  return made;
}

export interface PairedMeters {
  readonly source: MeterSeries;
  readonly reference: MeterSeries;
  /** How far the reference is behind the source, ns. */
  readonly lag_ns: number;
}

/**
 * What two meters saw over each window; a window that one of them didn't cover gives no point. Sensor bounds are taken for
 * the ends of a uniform distribution.
 */
export const calibrationPoints = (
  { source, reference, lag_ns }: PairedMeters,
  windows: readonly Window[],
): CalibrationPoint[] =>
  windows.flatMap((window) => {
    const own = powerOf(source, window);
    const better = powerOf(reference, shifted(window, lag_ns));
    if (own === null || better === null) return [];
    return [
      {
        source_w: own.power_w,
        source_sd_w: own.sd_w,
        reference_w: better.power_w,
        reference_sd_w: better.sd_w,
      },
    ];
  });

const shifted = ({ start, end }: Window, by_ns: number): Window => ({
  start: instant(start + BigInt(Math.round(by_ns))),
  end: instant(end + BigInt(Math.round(by_ns))),
});

export interface LagSearch {
  /** Where both meters were read. */
  readonly span: Window;
  /** Width of the windows that are compared, ns: not less than the slower meter's time between values. */
  readonly width_ns: number;
  /** Lags of up to so much either way are tried, ns, in steps of a quarter of the width. */
  readonly most_ns: number;
}

/** A correlation below this tells nothing of a lag. */
const LEAST_CORRELATION = 0.5;

/** How far the reference is behind the source, ns: the shift at which their powers correlate best; 0 where none stands out. */
export function lagBetween(
  { source, reference }: Omit<PairedMeters, 'lag_ns'>,
  { span, width_ns, most_ns }: LagSearch,
): number {
  const inside = { start: span.start + BigInt(most_ns), end: span.end - BigInt(most_ns) };
  const count = Math.floor(Number(inside.end - inside.start) / width_ns);
  const edge = (i: number) => instant(inside.start + BigInt(Math.round(i * width_ns)));
  const windows = Array.from({ length: Math.max(count, 0) }, (_, i) => ({
    start: edge(i),
    end: edge(i + 1),
  }));
  const steps = Math.floor((4 * most_ns) / width_ns);
  const lags = Array.from({ length: 2 * steps + 1 }, (_, i) => ((i - steps) * width_ns) / 4);
  const nearestFirst = lags.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  let best = { lag_ns: 0, correlation: LEAST_CORRELATION };
  for (const lag_ns of nearestFirst) {
    const correlation = correlationOf(calibrationPoints({ source, reference, lag_ns }, windows));
    if (correlation > best.correlation + 1e-12) best = { lag_ns, correlation };
  }
  return best.lag_ns;
}

/** Pearson's; 0 where there are too few points or one side is constant. */
function correlationOf(points: readonly CalibrationPoint[]): number {
  const n = points.length;
  if (n < FEWEST_CALIBRATION_POINTS) return 0;
  const mx = points.reduce((sum, p) => sum + p.source_w, 0) / n;
  const my = points.reduce((sum, p) => sum + p.reference_w, 0) / n;
  let [xx, yy, xy] = [0, 0, 0];
  for (const { source_w, reference_w } of points) {
    xx += (source_w - mx) ** 2;
    yy += (reference_w - my) ** 2;
    xy += (source_w - mx) * (reference_w - my);
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

export interface WindowCutting {
  /** Left out at the start of every phase, ns: until both meters show the new load. */
  readonly settle_ns: number;
  /** Shortest window, ns. */
  readonly least_ns: number;
  readonly most_per_phase: number;
}

/** Equal windows over the settled part of every phase of steady load; a phase that is too short for one gives none. */
export const calibrationWindows = (
  phases: readonly Window[],
  { settle_ns, least_ns, most_per_phase }: WindowCutting,
): Window[] =>
  phases.flatMap(({ start, end }) => {
    const from = start + BigInt(Math.round(settle_ns));
    const length = Number(end - from);
    const count = Math.min(Math.floor(length / least_ns), most_per_phase);
    const edge = (i: number) => instant(from + BigInt(Math.round((length * i) / count)));
    return Array.from({ length: Math.max(count, 0) }, (_, i) => ({ start: edge(i), end: edge(i + 1) }));
  });
