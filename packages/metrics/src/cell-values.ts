import type { CallRow } from '@perwatt/core';
import type { Accuracy } from './cell-accuracy.js';
import type { CellContributions } from './cell-contributions.js';
import { type Energy, joinedInterval, sensorInterval } from './cell-intervals.js';
import { type LatencyName, latenciesOf } from './cell-latency.js';
import {
  type RepeatTotals,
  type Sampling,
  type SamplingInput,
  samplingAtZero,
  samplingOf,
} from './cell-sampling.js';
import type { CellEnergy, MetricValue } from './cell-types.js';
import {
  type EnergyFigure,
  energyFigures,
  type FigureContext,
  type FigureName,
  ratio,
} from './energy-figures.js';
import { type MetricId, metricOf } from './metric-definitions.js';
import { quantileIntervals } from './statistics.js';
import { type RunSpread, runSpread, SPREAD_UNKNOWN } from './stats/run-spread.js';
import type { TokenTotals } from './tokens.js';

/** What energy figures of one repeat are made of. */
export interface RepeatFacts {
  readonly accuracy: number | null;
  /** Queries with a score. */
  readonly scored: number;
  readonly queries: number;
  readonly energy: CellEnergy;
  readonly tokens: TokenTotals;
}

export interface CellFacts {
  readonly accuracy: Accuracy;
  readonly queries: number;
  readonly energy: CellEnergy;
  readonly tokens: TokenTotals;
  readonly calls: readonly CallRow[];
  readonly repeats: readonly RepeatFacts[];
  readonly contributions: CellContributions;
}

/** What a figure says of items where their part of the interval could not be told. */
const ITEMS_UNKNOWN = 'another draw of items is not in the interval';
const ONLY_ACCURACY = 'of another draw of items only accuracy is in the interval';

const absent = (id: MetricId, n: number, reason: string): MetricValue => ({
  value: null,
  lo: null,
  hi: null,
  interval: null,
  sampling_lo: null,
  sampling_hi: null,
  sensor_lo: null,
  sensor_hi: null,
  spread: null,
  n,
  unit: metricOf(id).unit,
  provenance: null,
  reason,
  note: null,
});

const contextOf = (facts: Omit<RepeatFacts, 'scored'>): FigureContext => ({
  accuracy: facts.accuracy,
  queries: facts.queries,
  seconds: facts.energy.busy_ns / 1e9,
  output_tokens: facts.tokens.output,
  all_tokens: facts.tokens.all,
});

/** Gross or net energy with its bounds, or the reason why there is none. */
function energyOf(energy: CellEnergy, kind: 'gross' | 'net'): Energy | string {
  const [value, lo, hi, reason] =
    kind === 'gross'
      ? [energy.gross_j, energy.gross_lo_j, energy.gross_hi_j, energy.reason]
      : [energy.net_j, energy.net_lo_j, energy.net_hi_j, energy.net_reason];
  if (value === null || lo === null || hi === null) return reason ?? 'no_power';
  const gross = value === 0 ? 'no_energy' : null;
  const net = energy.net_resolved ? null : 'net_not_resolved';
  return { value, lo, hi, unresolved: kind === 'gross' ? gross : net };
}

const totalsOfRepeat = ({ accuracy, scored, queries, energy, tokens }: RepeatFacts): RepeatTotals => [
  accuracy === null ? null : accuracy * scored,
  scored,
  queries,
  energy.busy_ns / 1e9,
  energy.gross_j,
  energy.net_j,
  tokens.output,
  tokens.all,
];

/** The figure of every repeat; null where one has none. */
function spreadOfRepeats(facts: CellFacts, figure: EnergyFigure, kind: 'gross' | 'net'): RunSpread {
  return runSpread(
    facts.repeats.map((repeat) => {
      const energy = energyOf(repeat.energy, kind);
      return typeof energy === 'string' ? null : figure.of(energy.value, contextOf(repeat));
    }),
  );
}

function tokenNote(name: FigureName, { source, uncounted }: TokenTotals): string | null {
  if (!name.includes('token')) return null;
  const from = source === null ? null : `tokens by ${source}`;
  const left = uncounted > 0 ? `${uncounted} failed calls without a count` : null;
  return [from, left].filter((part) => part !== null).join('; ') || null;
}

const joined = (...notes: readonly (string | null)[]): string | null =>
  notes.filter((note) => note !== null).join('; ') || null;

/** Why a figure can't be told although the energy is known; null when it can. */
function lackingFor(figure: EnergyFigure, energy: Energy, context: FigureContext): string | null {
  const lacking = figure.needs(context);
  if (lacking !== null) return lacking;
  if (figure.over && energy.unresolved !== null) return energy.unresolved;
  if (figure.over && energy.value < 0) return 'net_negative';
  return figure.of(energy.value, context) === null ? 'no_busy_time' : null;
}

/** The sampling interval; with fewer than three repeats only of figures that hold accuracy, whose draw of items is known. */
function samplingFor(
  input: Omit<SamplingInput, 'value'>,
  figure: EnergyFigure,
  told: { value: number; energy: Energy; context: FigureContext },
): Sampling | null {
  const { value, energy, context } = told;
  const sampling =
    value === 0 && context.accuracy === 0
      ? samplingAtZero(input, figure.of(energy.value, { ...context, accuracy: 1 }))
      : samplingOf({ ...input, value });
  const ofAccuracy = figure.needs({ ...context, accuracy: null }) === 'nothing_scored';
  return sampling !== null && (sampling.over_repeats || ofAccuracy) ? sampling : null;
}

function itemsNote(sampling: Sampling | null): string | null {
  if (sampling === null || sampling.items === 'all') return null;
  return sampling.items === 'accuracy' ? ONLY_ACCURACY : ITEMS_UNKNOWN;
}

function energyValue(facts: CellFacts, name: FigureName, kind: 'gross' | 'net'): MetricValue {
  const id: MetricId = kind === 'gross' ? name : `net_${name}`;
  const figure: EnergyFigure = energyFigures[name];
  const context = contextOf({ ...facts, accuracy: facts.accuracy.value });
  const energy = energyOf(facts.energy, kind);
  const n = facts.queries;
  if (typeof energy === 'string') return absent(id, n, energy);
  const provenance = facts.energy.boundary?.provenance ?? null;
  const lacking = lackingFor(figure, energy, context);
  const value = lacking === null ? figure.of(energy.value, context) : null;
  if (value === null) return { ...absent(id, n, lacking ?? 'no_busy_time'), provenance };
  const { accuracy, contributions } = facts;
  const repeats = facts.repeats.map(totalsOfRepeat);
  const input = { name, kind, accuracy, contributions, repeats };
  const sampling = samplingFor(input, figure, { value, energy, context });
  const sensor = sensorInterval(figure, energy, context);
  const shared_error = kind === 'net' || provenance === 'estimated';
  return {
    ...absent(id, n, ''),
    value,
    ...joinedInterval({ sampling, sensor, value, shared_error }),
    sampling_lo: sampling?.lo ?? null,
    sampling_hi: sampling?.hi ?? null,
    sensor_lo: sensor.lo,
    sensor_hi: sensor.hi,
    spread: spreadOfRepeats(facts, figure, kind),
    provenance,
    reason: null,
    note: joined(
      sampling?.over_repeats === true ? null : SPREAD_UNKNOWN,
      itemsNote(sampling),
      tokenNote(name, facts.tokens),
    ),
  };
}

function latencyValues(calls: readonly CallRow[], name: LatencyName): [MetricId, MetricValue][] {
  const estimates = quantileIntervals(latenciesOf(calls, name), [0.5, 0.99]);
  return ([50, 99] as const).map((p, i) => {
    const id: MetricId = `${name}_p${p}_ns`;
    const estimate = estimates[i] ?? null;
    if (estimate === null) return [id, absent(id, 0, 'no_call_has_it')];
    const { value, lo, hi, n } = estimate;
    return [
      id,
      {
        ...absent(id, n, ''),
        value,
        lo,
        hi,
        interval: lo === null && hi === null ? null : 'order_statistics',
        sampling_lo: lo,
        sampling_hi: hi,
        reason: null,
        note: p === 99 && n < 100 ? `the largest of only ${n} calls` : null,
      },
    ];
  });
}

function tokensPerSecond(facts: CellFacts): MetricValue {
  const { accuracy, contributions, energy, queries, repeats, tokens } = facts;
  const lacking = tokens.output === null ? 'tokens_unknown' : null;
  const value = ratio(tokens.output, energy.busy_ns / 1e9);
  if (lacking !== null || value === null) return absent('tokens_per_s', queries, lacking ?? 'no_busy_time');
  const input = { name: 'tokens_per_s', kind: 'gross', accuracy, contributions } as const;
  const told = samplingOf({ ...input, value, repeats: repeats.map(totalsOfRepeat) });
  const sampling = told?.over_repeats === true ? told : null;
  return {
    ...absent('tokens_per_s', queries, ''),
    value,
    lo: sampling?.lo ?? null,
    hi: sampling?.hi ?? null,
    interval: sampling === null ? null : 'repeats_t',
    sampling_lo: sampling?.lo ?? null,
    sampling_hi: sampling?.hi ?? null,
    spread: runSpread(repeats.map((repeat) => ratio(repeat.tokens.output, repeat.energy.busy_ns / 1e9))),
    reason: null,
    note: joined(
      sampling === null ? SPREAD_UNKNOWN : null,
      itemsNote(sampling),
      tokenNote('tokens_per_j', tokens),
    ),
  };
}

function accuracyValue({ accuracy, repeats }: CellFacts): MetricValue {
  const { value, lo, hi, interval, n } = accuracy;
  return {
    ...absent('accuracy', n, 'nothing_scored'),
    value,
    lo,
    hi,
    interval,
    sampling_lo: lo,
    sampling_hi: hi,
    spread: value === null ? null : runSpread(repeats.map((repeat) => repeat.accuracy)),
    reason: value === null ? 'nothing_scored' : null,
  };
}

const figureNames = Object.keys(energyFigures) as FigureName[];
const latencyNames = ['ttft_any', 'ttft_content', 'tpot', 'e2e_from_dispatch'] as const;

/** The value of every metric, by id. */
export function cellValues(facts: CellFacts): Readonly<Record<MetricId, MetricValue>> {
  const values: [MetricId, MetricValue][] = [
    ['accuracy', accuracyValue(facts)],
    ['tokens_per_s', tokensPerSecond(facts)],
    ...figureNames.flatMap((name): [MetricId, MetricValue][] => [
      [name, energyValue(facts, name, 'gross')],
      [`net_${name}`, energyValue(facts, name, 'net')],
    ]),
    ...latencyNames.flatMap((name) => latencyValues(facts.calls, name)),
  ];
  return Object.fromEntries(values) as Record<MetricId, MetricValue>;
}
