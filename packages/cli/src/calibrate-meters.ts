import { instant, PerwattError } from '@perwatt/core';
import {
  boundaryOf,
  type CalibrationFit,
  type CalibrationPoint,
  calibrationPoints,
  calibrationWindows,
  FEWEST_CALIBRATION_POINTS,
  fitCalibration,
  lagBetween,
  type PowerSeries,
  type Window,
} from '@perwatt/metrics';
import type { KeptSamples } from './power-series.js';

/** One side of a calibration: what was read of the domains that make up its total. */
interface Side {
  readonly name: string;
  readonly series: readonly PowerSeries[];
  /** Time between values that tell anything new, ns. */
  readonly step_ns: number;
}

/** What both meters read, and how the load went. */
export interface MeterPair {
  readonly source: KeptSamples;
  readonly reference: KeptSamples;
  /** Spans of steady load; one for a load that isn't known. */
  readonly phases: readonly Window[];
  /** Whether the load of each phase is steady, so that only its start has to settle. */
  readonly steady: boolean;
}

export interface MetersCompared {
  readonly fit: CalibrationFit;
  readonly points: readonly CalibrationPoint[];
  readonly lag_ns: number;
  readonly source_domains: readonly string[];
  readonly reference_domains: readonly string[];
}

const mostPerPhase = 10;

/** Ids of the domains that make up the total of what a recorder reads. */
export const totalOf = ({ recorder }: KeptSamples): string[] =>
  boundaryOf(recorder.domains)?.domains.map(({ id }) => id) ?? [];

function sideOf(kept: KeptSamples): Side {
  const total = totalOf(kept);
  const series = kept.series().filter(({ domain }) => total.includes(domain.id));
  const { source, period_ns } = kept.recorder;
  return {
    name: source,
    series,
    step_ns: Math.max(period_ns, ...series.map(({ domain }) => domain.update_period_ns)),
  };
}

/**
 * The line between two meters that were read at once. Windows are long beside the slower meter (ten of its values, and a
 * second), begin when the load has settled, and are shifted by the lag at which the two correlate best.
 *
 * Throws `INPUT_INVALID` when the two were not read at the same time, too few windows are left, or no line with a positive
 * slope can be told.
 */
export function compareMeters({ source, reference, phases, steady }: MeterPair): MetersCompared {
  const [own, better] = [sideOf(source), sideOf(reference)];
  const step_ns = Math.max(own.step_ns, better.step_ns);
  const span = commonSpan([...own.series, ...better.series]);
  if (span === null) {
    throw new PerwattError(
      'INPUT_INVALID',
      `${own.name} and ${better.name} were never read at the same time`,
      {
        hint: 'Check with `perwatt doctor --power` that both can be read, and measure for longer.',
      },
    );
  }
  const pair = { source: own.series, reference: better.series };
  const lag_ns = lagBetween(pair, { span, width_ns: 2 * step_ns, most_ns: 4 * step_ns });
  const least_ns = Math.max(10 * step_ns, 1e9);
  const settle_ns = steady ? Math.max(4 * step_ns, 1e9) : 0;
  const windows = calibrationWindows(phases, {
    settle_ns,
    least_ns,
    most_per_phase: steady ? mostPerPhase : 1000,
  });
  const points = calibrationPoints({ ...pair, lag_ns }, windows);
  const outcome = fitCalibration(points);
  if (outcome.state === 'fitted') {
    const { fit } = outcome;
    return { fit, points, lag_ns, source_domains: totalOf(source), reference_domains: totalOf(reference) };
  }
  const perPhase = Math.max(2, FEWEST_CALIBRATION_POINTS / Math.max(phases.length, 1));
  const needed_s = Math.ceil((phases.length * (settle_ns + perPhase * least_ns)) / 1e9);
  throw refusal(outcome.reason, { own, better, points, needed_s });
}

/** The time in which every series has samples; null when there is none. */
function commonSpan(series: readonly PowerSeries[]): Window | null {
  const firsts = series.map(({ at_ns }) => at_ns[0]);
  const lasts = series.map(({ at_ns }) => at_ns.at(-1));
  if (series.length === 0 || firsts.includes(undefined) || lasts.includes(undefined)) return null;
  const start = firsts.reduce<bigint>((a, b) => ((b ?? 0n) > a ? (b ?? 0n) : a), firsts[0] ?? 0n);
  const end = lasts.reduce<bigint>((a, b) => ((b ?? 0n) < a ? (b ?? 0n) : a), lasts[0] ?? 0n);
  return end > start ? { start: instant(start), end: instant(end) } : null;
}

type Reason = Extract<ReturnType<typeof fitCalibration>, { state: 'refused' }>['reason'];

interface Refused {
  readonly own: Side;
  readonly better: Side;
  readonly points: readonly CalibrationPoint[];
  readonly needed_s: number;
}

function refusal(reason: Reason, { own, better, points, needed_s }: Refused): PerwattError {
  const powers = points.map(({ source_w }) => source_w);
  const range = `${Math.min(...powers).toFixed(1)}..${Math.max(...powers).toFixed(1)} W`;
  const longer = `Measure for at least ${needed_s} s with \`--duration\`.`;
  const load = 'Give a command that steps the load of what both measure, after `--`.';
  const told: Readonly<Record<Reason, readonly [message: string, hint: string]>> = {
    too_few_points: [
      `only ${points.length} windows that both ${own.name} and ${better.name} cover, fewer than ${FEWEST_CALIBRATION_POINTS}`,
      longer,
    ],
    not_finite: [`${own.name} or ${better.name} gave no number`, 'Check both with `perwatt doctor --power`.'],
    no_spread: [`${own.name} shows the same power throughout: ${range}`, load],
    not_positive: [
      `${better.name} doesn't rise with ${own.name} (${range})`,
      'Check that both measure the same machine.',
    ],
    not_resolved: [
      `the scale of ${own.name} against ${better.name} is uncertain by more than half (${range})`,
      `${longer} ${load}`,
    ],
  };
  const [message, hint] = told[reason];
  return new PerwattError('INPUT_INVALID', message, { hint });
}
