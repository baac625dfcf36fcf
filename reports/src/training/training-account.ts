import type { TrainEvalRow, TrainStepRow } from '@perwatt/core';
import { bootstrapMean, studentT } from '@perwatt/metrics';
import {
  openTrainingRun,
  type TrainingFacts,
  type TrainingManifest,
  type TrainingRun,
} from '@perwatt/records';
import { evalKey, stepKey, type TrainingEnergy, trainingEnergy, wholeKey } from './training-energy.js';

/** A figure with its 95 % interval, or why there is none. */
export interface TrainingFigure {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  /** Null where there is a value. */
  readonly reason: string | null;
}

/** One point of a learning curve: the mean over seeds. */
export interface CurvePoint {
  readonly step: number;
  readonly accuracy: number;
  readonly lo: number;
  readonly hi: number;
  /** Spent on training up to here, a seed. */
  readonly tokens: number;
  readonly env_actions: number;
  /** Null where it isn't known. */
  readonly cpu_s: number | null;
  readonly energy_j: number | null;
  readonly measures: Readonly<Record<string, number>>;
}

/** Effort of one seed at each of its evaluations. */
export interface SeedCurve {
  readonly seed: number;
  readonly points: readonly Omit<CurvePoint, 'lo' | 'hi'>[];
}

/** What one training cost, and what came of it. */
export interface TrainingAccount {
  readonly facts: TrainingFacts;
  /** Every seed reached the last step. */
  readonly complete: boolean;
  readonly seeds: readonly SeedCurve[];
  readonly curve: readonly CurvePoint[];
  /** Sums over all seeds; steps that a resume made again are counted twice: they were made twice. */
  readonly totals: Readonly<
    Record<
      | 'tokens'
      | 'env_actions'
      | 'privileged_actions'
      | 'calls'
      | 'verification_tokens'
      | 'updates'
      | 'rejected_updates',
      number
    >
  >;
  readonly cpu_s: number | null;
  /** Of all seeds: rollouts, verification, rejected updates, teachers. Bounds are the sensor's. */
  readonly training_energy_j: TrainingFigure;
  /** The same less what the idle host draws for the time that it took; null where no idle baseline was metered. */
  readonly training_net_j: TrainingFigure;
  readonly evaluation_energy_j: TrainingFigure;
  readonly accuracy_before: number | null;
  readonly accuracy_after: number | null;
  readonly accuracy_gain_pp: TrainingFigure;
  readonly energy_per_point_j: TrainingFigure;
  readonly break_even_queries: TrainingFigure;
  /** Of one held-out item, one attempt, J; null where it isn't known. */
  readonly query_energy_before_j: number | null;
  readonly query_energy_after_j: number | null;
  /** Accuracy of votes of the untrained policy, where they were counted. */
  readonly votes_before: readonly { readonly k: number; readonly accuracy: number }[];
  /** The untrained strategy that break-even is told against; null for none. */
  readonly break_even_against: string | null;
}

/** All trainings of a run, and where its energy went. */
export interface TrainingReport {
  readonly manifest: TrainingManifest;
  readonly energy: TrainingEnergy;
  readonly accounts: readonly TrainingAccount[];
  /** Segments that are not as they were written. */
  readonly torn: readonly string[];
}

const missing = (reason: string): TrainingFigure => ({ value: null, lo: null, hi: null, reason });

/** Accounts for every training of the run at `path`. Throws as `openTrainingRun`. */
export function accountTraining(path: string): TrainingReport {
  return reportOf(openTrainingRun(path));
}

/** Accounts for every training of an opened run. */
export function reportOf(run: TrainingRun): TrainingReport {
  const [steps, evals] = [run.readSteps(), run.readEvals()];
  const rows = { steps: steps.rows, evals: evals.rows };
  const energy = trainingEnergy(run, rows);
  const accounts = run.manifest.trainings.map((facts) => {
    const own = <R extends { readonly training: string }>(all: readonly R[]) =>
      all.filter(({ training }) => training === facts.name);
    return accountOf(facts, { steps: own(rows.steps), evals: own(rows.evals), energy });
  });
  const torn = [...steps.torn, ...evals.torn].map(({ file, reason }) => `${file}: ${reason}`);
  return { manifest: run.manifest, energy, accounts, torn };
}

interface OwnRows {
  readonly steps: readonly TrainStepRow[];
  readonly evals: readonly TrainEvalRow[];
  readonly energy: TrainingEnergy;
}

function accountOf(facts: TrainingFacts, rows: OwnRows): TrainingAccount {
  const seeds = facts.seeds.map((seed) => seedCurve(seed, rows));
  const ends = facts.seeds.map((seed) => endsOf(seed, facts, rows.evals));
  const complete = ends.every(({ last }) => last !== null);
  const training = joulesOf(wholeKey('step', facts.name), rows.energy);
  const evaluation = joulesOf(wholeKey('eval', facts.name), rows.energy);
  const gain = gainOf(ends);
  const [before, after] = [meanAccuracy(ends, 'first'), meanAccuracy(ends, 'last')];
  const sums = (of: (row: TrainStepRow) => number) => rows.steps.reduce((sum, row) => sum + of(row), 0);
  return {
    facts,
    complete,
    seeds,
    curve: meanCurve(seeds),
    totals: {
      tokens: sums((row) => row.tokens),
      env_actions: sums((row) => row.env_actions),
      privileged_actions: sums((row) => row.privileged_actions),
      calls: sums((row) => row.calls),
      verification_tokens: sums((row) => row.verification_tokens),
      updates: sums((row) => row.updates),
      rejected_updates: sums((row) => row.rejected_updates),
    },
    cpu_s: rows.steps.every(({ cpu_ns }) => cpu_ns !== null) ? sums((row) => (row.cpu_ns ?? 0) / 1e9) : null,
    training_energy_j: training,
    training_net_j: netOf(wholeKey('step', facts.name), rows.energy),
    evaluation_energy_j: evaluation,
    accuracy_before: before,
    accuracy_after: after,
    accuracy_gain_pp: gain,
    energy_per_point_j: perPoint(training, gain, facts.seeds.length),
    query_energy_before_j: queryJoules(ends, 'first', rows.energy),
    query_energy_after_j: queryJoules(ends, 'last', rows.energy),
    votes_before: votesOf(ends),
    ...breakEven({ gain, training, ends, energy: rows.energy, after }),
  };
}

/** The latest row of each step: what a resume made again replaces what a crash undid. */
function latest<R extends { readonly step: number; readonly sitting: number }>(rows: readonly R[]): R[] {
  const found = new Map<number, R>();
  for (const row of rows) {
    const before = found.get(row.step);
    if (before === undefined || row.sitting >= before.sitting) found.set(row.step, row);
  }
  return [...found.values()].sort((a, b) => a.step - b.step);
}

function seedCurve(seed: number, { steps, evals, energy }: OwnRows): SeedCurve {
  const own = latest(steps.filter((row) => row.seed === seed));
  const points = latest(evals.filter((row) => row.seed === seed)).map((row) => {
    const done = own.filter(({ step }) => step <= row.step);
    const sum = (of: (step: TrainStepRow) => number) => done.reduce((total, step) => total + of(step), 0);
    return {
      step: row.step,
      accuracy: row.accuracy,
      tokens: sum(({ tokens }) => tokens),
      env_actions: sum((step) => step.env_actions + step.privileged_actions),
      cpu_s: done.every(({ cpu_ns }) => cpu_ns !== null) ? sum(({ cpu_ns }) => (cpu_ns ?? 0) / 1e9) : null,
      energy_j: energy.reason === null ? sum((step) => energy.parts.get(stepKey(step))?.energy_j ?? 0) : null,
      measures: JSON.parse(row.measures) as Record<string, number>,
    };
  });
  return { seed, points };
}

/** Means over the seeds that have a point at a step, with Student's t interval of the accuracy. */
function meanCurve(seeds: readonly SeedCurve[]): CurvePoint[] {
  const steps = [...new Set(seeds.flatMap(({ points }) => points.map(({ step }) => step)))].sort(
    (a, b) => a - b,
  );
  return steps.flatMap((step) => {
    const points = seeds.flatMap(({ points: own }) => own.find((point) => point.step === step) ?? []);
    const [first] = points;
    if (first === undefined || points.length < seeds.length) return [];
    const mean = (of: (point: SeedCurve['points'][number]) => number) =>
      points.reduce((sum, point) => sum + of(point), 0) / points.length;
    const known = (of: (point: SeedCurve['points'][number]) => number | null) =>
      points.every((point) => of(point) !== null) ? mean((point) => of(point) ?? 0) : null;
    const accuracy = mean((point) => point.accuracy);
    const interval = studentT(points.map((point) => point.accuracy));
    return {
      step,
      accuracy,
      lo: interval?.lo ?? accuracy,
      hi: interval?.hi ?? accuracy,
      tokens: mean(({ tokens }) => tokens),
      env_actions: mean(({ env_actions }) => env_actions),
      cpu_s: known(({ cpu_s }) => cpu_s),
      energy_j: known(({ energy_j }) => energy_j),
      measures: Object.fromEntries(
        Object.keys(first.measures).map((name) => [
          name,
          mean(({ measures }) => measures[name] ?? Number.NaN),
        ]),
      ),
    };
  });
}

/** The evaluations before and after a seed's training; null where it did not get there. */
interface Ends {
  readonly first: TrainEvalRow | null;
  readonly last: TrainEvalRow | null;
}

function endsOf(seed: number, { steps }: TrainingFacts, evals: readonly TrainEvalRow[]): Ends {
  const own = latest(evals.filter((row) => row.seed === seed));
  const at = (step: number) => own.find((row) => row.step === step) ?? null;
  return { first: at(0), last: at(steps) };
}

function meanAccuracy(ends: readonly Ends[], which: keyof Ends): number | null {
  const known = ends.flatMap((own) => own[which]?.accuracy ?? []);
  return known.length === ends.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/**
 * Accuracy after less before, in percentage points, on the same items. With three seeds or more the interval is Student's t
 * over the seeds' own differences, which holds their items' spread as well; with fewer it is the bootstrap over items, and
 * the spread between seeds is not in it.
 */
function gainOf(ends: readonly Ends[]): TrainingFigure {
  const gains = ends.map(({ first, last }) => {
    if (first === null || last === null || first.scores.length !== last.scores.length) return null;
    return last.scores.map((score, i) => 100 * (score - (first.scores[i] ?? 0)));
  });
  if (gains.some((own) => own === null)) return missing('training has not ended');
  const known = gains.flatMap((own) => (own === null ? [] : [own]));
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const value = meanOf(known.map(meanOf));
  const interval =
    known.length >= 3
      ? studentT(known.map(meanOf))
      : bootstrapMean(
          known.flat().map((gain) => [gain]),
          { seed: 1, draws: 2000 },
        );
  return { value, lo: interval?.lo ?? value, hi: interval?.hi ?? value, reason: null };
}

function joulesOf(key: string, energy: TrainingEnergy): TrainingFigure {
  if (energy.reason !== null) return missing(energy.reason);
  const { energy_j, lo_j, hi_j } = energy.parts.get(key) ?? { energy_j: 0, lo_j: 0, hi_j: 0 };
  return { value: energy_j, lo: lo_j, hi: hi_j, reason: null };
}

function netOf(key: string, { net, net_reason }: TrainingEnergy): TrainingFigure {
  const found = net.get(key);
  if (found === undefined) return missing(net_reason ?? 'nothing was trained');
  return { value: found.energy_j, lo: found.lo_j, hi: found.hi_j, reason: null };
}

/** Text of a cell whose gain may be nothing. */
export const NO_GAIN = 'no significant gain';

/** Joules of one seed's training a point gained; only where the interval of the gain lies above 0. */
function perPoint(training: TrainingFigure, gain: TrainingFigure, seeds: number): TrainingFigure {
  if (gain.value === null || gain.lo === null || gain.hi === null) return missing(gain.reason ?? 'unknown');
  if (gain.hi < 0) return missing('accuracy fell');
  if (!isGain(gain)) return missing(NO_GAIN);
  if (training.value === null || training.lo === null || training.hi === null)
    return missing(training.reason ?? 'unknown');
  return {
    value: training.value / seeds / gain.value,
    lo: training.lo / seeds / gain.hi,
    hi: training.hi / seeds / gain.lo,
    reason: null,
  };
}

/** Whether the interval of a gain lies above 0. */
const isGain = ({ lo }: TrainingFigure): boolean => lo !== null && lo > 0;

interface BreakEvenInput {
  readonly gain: TrainingFigure;
  readonly training: TrainingFigure;
  readonly ends: readonly Ends[];
  readonly energy: TrainingEnergy;
  readonly after: number | null;
}

type BreakEven = Pick<TrainingAccount, 'break_even_queries' | 'break_even_against'>;

/**
 * Queries after which one seed's training has paid for itself: its joules over what a query saves against the cheapest
 * untrained strategy that is as accurate, the plurality of k attempts of the policy before training.
 */
function breakEven({ gain, training, ends, energy, after }: BreakEvenInput): BreakEven {
  const no = (reason: string): BreakEven => ({
    break_even_queries: missing(reason),
    break_even_against: null,
  });
  if (after === null) return no('training has not ended');
  if (!isGain(gain)) return no(NO_GAIN);
  if (training.value === null || training.lo === null || training.hi === null)
    return no(training.reason ?? 'unknown');
  const k = cheapestVotes(ends, after);
  if (k === null) return no(noneAsAccurate(votesOf(ends)));
  const [own, theirs] = [queryJoules(ends, 'last', energy), queryJoules(ends, 'first', energy)];
  if (own === null || theirs === null) return no('energy of a query is unknown');
  const saved = k * theirs - own;
  const against = k === 1 ? 'one attempt before training' : `${k} votes before training`;
  if (saved <= 0)
    return {
      break_even_queries: missing('never: a query costs as much as before'),
      break_even_against: against,
    };
  const queries = (energy_j: number) => energy_j / ends.length / saved;
  return {
    break_even_queries: {
      value: queries(training.value),
      lo: queries(training.lo),
      hi: queries(training.hi),
      reason: null,
    },
    break_even_against: against,
  };
}

/** Why nothing untrained is as accurate as the trained policy. */
function noneAsAccurate(votes: readonly { readonly k: number; readonly accuracy: number }[]): string {
  const best = votes.reduce<number>((most, { accuracy }) => Math.max(most, accuracy), 0);
  if (votes.length === 0)
    return 'nothing untrained is as accurate: one attempt is not, and attempts have no answer to vote on';
  return `nothing untrained that was tried is as accurate: up to ${votes.at(-1)?.k} votes reach ${(100 * best).toFixed(0)} %`;
}

/** The fewest attempts of the untrained policy that reach an accuracy; null where none that were counted do. */
function cheapestVotes(ends: readonly Ends[], wanted: number): number | null {
  const single = { k: 1, accuracy: meanAccuracy(ends, 'first') ?? 0 };
  const enough = [single, ...votesOf(ends)].filter(({ accuracy }) => accuracy >= wanted);
  return enough.sort((a, b) => a.k - b.k)[0]?.k ?? null;
}

/** Accuracy of votes before training, by their number. */
function votesOf(ends: readonly Ends[]): { readonly k: number; readonly accuracy: number }[] {
  const measures = ends
    .flatMap(({ first }) => first ?? [])
    .map((row) => JSON.parse(row.measures) as Record<string, number>);
  return Object.keys(measures[0] ?? {})
    .flatMap((name) => {
      const k = Number(name.match(/^accuracy_of_(\d+)_votes$/)?.[1] ?? Number.NaN);
      return Number.isNaN(k) ? [] : [{ k, accuracy: meanOver(measures, name) }];
    })
    .sort((a, b) => a.k - b.k);
}

const meanOver = (all: readonly Readonly<Record<string, number>>[], name: string): number =>
  all.reduce((sum, own) => sum + (own[name] ?? Number.NaN), 0) / all.length;

/** Joules of one held-out item at either end of the training. */
function queryJoules(ends: readonly Ends[], which: keyof Ends, energy: TrainingEnergy): number | null {
  const rows = ends.flatMap((own) => own[which] ?? []);
  const parts = rows.map((row) => energy.parts.get(evalKey(row))?.energy_j ?? null);
  const items = rows.reduce((sum, row) => sum + row.items, 0);
  if (items === 0 || parts.some((part) => part === null)) return null;
  return parts.reduce<number>((sum, part) => sum + (part ?? 0), 0) / items;
}
