import { studentT } from '@perwatt/metrics';
import type { SeedCurve, TrainingAccount, TrainingFigure } from './training-account.js';
import { NO_GAIN } from './training-account.js';

/** What one phase of a training cost a seed, and what came of it: means over seeds. */
export interface PhaseAccount {
  readonly name: string;
  /** The step before its first one, and its last. */
  readonly from: number;
  readonly to: number;
  readonly tokens: number;
  /** Null where it isn't known. */
  readonly cpu_s: number | null;
  readonly energy_j: number | null;
  readonly accuracy_before: number;
  readonly accuracy_after: number;
  /** Student's t over the seeds' own differences; without bounds for a single seed. */
  readonly accuracy_gain_pp: TrainingFigure;
  /** Energy of one seed over the mean gain; only where the interval of the gain lies above 0. */
  readonly energy_per_point_j: TrainingFigure;
}

/** Accounts for the phases of a training in order; those that not every seed has ended are left out, and empty ones. */
export function phaseAccounts({ facts, seeds }: TrainingAccount): PhaseAccount[] {
  let to = 0;
  return (facts.phases ?? []).flatMap(({ name, steps }) => {
    const from = to;
    to += steps;
    return steps === 0 ? [] : phaseOf(seeds, { name, from, to });
  });
}

type Phase = Pick<PhaseAccount, 'name' | 'from' | 'to'>;

function phaseOf(seeds: readonly SeedCurve[], phase: Phase): PhaseAccount[] {
  const ends = seeds.flatMap(({ points }) => {
    const [first, last] = [phase.from, phase.to].map((step) => points.find((point) => point.step === step));
    return first === undefined || last === undefined ? [] : [{ first, last }];
  });
  if (ends.length < seeds.length || ends.length === 0) return [];
  type Point = (typeof ends)[number]['first'];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const spent = (of: (point: Point) => number | null): number | null => {
    const values = ends.flatMap(({ first, last }) => {
      const [before, after] = [of(first), of(last)];
      return before === null || after === null ? [] : [after - before];
    });
    return values.length < ends.length ? null : mean(values);
  };
  const energy_j = spent((point) => point.energy_j);
  const gains = ends.map(({ first, last }) => 100 * (last.accuracy - first.accuracy));
  const interval = studentT(gains);
  const gain = { value: mean(gains), lo: interval?.lo ?? null, hi: interval?.hi ?? null, reason: null };
  return [
    {
      ...phase,
      tokens: spent(({ tokens }) => tokens) ?? 0,
      cpu_s: spent((point) => point.cpu_s),
      energy_j,
      accuracy_before: mean(ends.map(({ first }) => first.accuracy)),
      accuracy_after: mean(ends.map(({ last }) => last.accuracy)),
      accuracy_gain_pp: gain,
      energy_per_point_j: perPoint(energy_j, gain),
    },
  ];
}

function perPoint(energy_j: number | null, { value, lo, hi }: TrainingFigure): TrainingFigure {
  const none = (reason: string): TrainingFigure => ({ value: null, lo: null, hi: null, reason });
  if (value === null || lo === null || hi === null) return none('the gain of one seed has no interval');
  if (hi < 0) return none('accuracy fell');
  if (lo <= 0) return none(NO_GAIN);
  if (energy_j === null) return none('nothing was metered');
  return { value: energy_j / value, lo: energy_j / hi, hi: energy_j / lo, reason: null };
}
