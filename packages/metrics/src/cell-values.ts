import type { CallRow } from '@perwatt/core';
import type { Accuracy } from './cell-accuracy.js';
import { type LatencyName, latenciesOf } from './cell-latency.js';
import type { CellEnergy, MetricValue } from './cell-types.js';
import {
  type EnergyFigure,
  energyFigures,
  type FigureContext,
  type FigureName,
  ratio,
} from './energy-figures.js';
import { type MetricId, metricOf } from './metric-definitions.js';
import { quantileInterval, studentT } from './statistics.js';
import type { TokenTotals } from './tokens.js';

/** What energy figures of one repeat are made of. */
export interface RepeatFacts {
  readonly accuracy: number | null;
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
}

/** Fewest repeats whose spread is told. */
export const FEWEST_REPEATS = 3;

/** What every energy figure of too few repeats says. */
const SPREAD_UNKNOWN = 'between-run spread unknown';

const absent = (id: MetricId, n: number, reason: string): MetricValue => ({
  value: null,
  lo: null,
  hi: null,
  interval: null,
  n,
  unit: metricOf(id).unit,
  provenance: null,
  reason,
  note: null,
});

const contextOf = (
  facts: RepeatFacts | (Omit<CellFacts, 'accuracy'> & { accuracy: number | null }),
): FigureContext => ({
  accuracy: facts.accuracy,
  queries: facts.queries,
  seconds: facts.energy.busy_ns / 1e9,
  output_tokens: facts.tokens.output,
  all_tokens: facts.tokens.all,
});

interface Energy {
  readonly value: number;
  readonly lo: number;
  readonly hi: number;
  /** Why a ratio over it means nothing; null when it does. */
  readonly unresolved: 'no_energy' | 'net_not_resolved' | null;
}

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

/** Interval over repeats by Student's t; of gross figures, which can't be negative, cut at 0. Null for too few repeats. */
function spreadOfRepeats(
  facts: CellFacts,
  figure: EnergyFigure,
  kind: 'gross' | 'net',
): { lo: number; hi: number } | null {
  const values = facts.repeats.map((repeat) => {
    const energy = energyOf(repeat.energy, kind);
    return typeof energy === 'string' ? null : figure.of(energy.value, contextOf(repeat));
  });
  const known = values.filter((value) => value !== null);
  const spread = known.length < Math.max(FEWEST_REPEATS, values.length) ? null : studentT(known);
  return spread && kind === 'gross' ? { lo: Math.max(spread.lo, 0), hi: spread.hi } : spread;
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
  return figure.of(energy.value, context) === null ? 'no_busy_time' : null;
}

/** A figure at both ends of the sensor's bounds. A ratio over energy that may be 0 has no upper bound. */
function sensorInterval(figure: EnergyFigure, energy: Energy, context: FigureContext) {
  const [atLo, atHi] = [figure.of(energy.lo, context), figure.of(energy.hi, context)];
  if (atLo === null || atHi === null) return { lo: figure.over ? atHi : null, hi: null };
  return { lo: Math.min(atLo, atHi), hi: Math.max(atLo, atHi) };
}

/**
 * The spread over repeats where it is known, else the sensor's bounds. All repeats of a net figure share one baseline,
 * whose error no spread shows: it gets both.
 */
function joinedInterval(
  spread: { lo: number; hi: number } | null,
  sensor: ReturnType<typeof sensorInterval>,
  kind: 'gross' | 'net',
): Pick<MetricValue, 'lo' | 'hi' | 'interval'> {
  if (spread === null) return { ...sensor, interval: 'sensor_bounds' };
  if (kind === 'gross') return { ...spread, interval: 'repeats_t' };
  const lo = sensor.lo === null ? null : Math.min(spread.lo, sensor.lo);
  const hi = sensor.hi === null ? null : Math.max(spread.hi, sensor.hi);
  return { lo, hi, interval: 'repeats_and_sensor' };
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
  if (lacking !== null) return { ...absent(id, n, lacking), provenance };
  const spread = spreadOfRepeats(facts, figure, kind);
  return {
    value: figure.of(energy.value, context),
    ...joinedInterval(spread, sensorInterval(figure, energy, context), kind),
    n,
    unit: metricOf(id).unit,
    provenance,
    reason: null,
    note: joined(spread === null ? SPREAD_UNKNOWN : null, tokenNote(name, facts.tokens)),
  };
}

function latencyValue(calls: readonly CallRow[], name: LatencyName, p: 50 | 99): MetricValue {
  const id: MetricId = `${name}_p${p}_ns`;
  const values = latenciesOf(calls, name);
  const estimate = quantileInterval(values, p / 100);
  if (estimate === null) return absent(id, 0, 'no_call_has_it');
  return {
    ...absent(id, estimate.n, ''),
    value: estimate.value,
    lo: estimate.lo,
    hi: estimate.hi,
    interval: estimate.lo === null && estimate.hi === null ? null : 'order_statistics',
    reason: null,
    note: p === 99 && estimate.n < 100 ? `the largest of only ${estimate.n} calls` : null,
  };
}

function tokensPerSecond({ tokens, energy, repeats, queries }: CellFacts): MetricValue {
  const lacking = tokens.output === null ? 'tokens_unknown' : null;
  const value = ratio(tokens.output, energy.busy_ns / 1e9);
  if (lacking !== null || value === null) return absent('tokens_per_s', queries, lacking ?? 'no_busy_time');
  const known = repeats
    .map((repeat) => ratio(repeat.tokens.output, repeat.energy.busy_ns / 1e9))
    .filter((rate) => rate !== null);
  const spread = known.length < Math.max(FEWEST_REPEATS, repeats.length) ? null : studentT(known);
  return {
    ...absent('tokens_per_s', queries, ''),
    value,
    lo: spread?.lo ?? null,
    hi: spread?.hi ?? null,
    interval: spread === null ? null : 'repeats_t',
    reason: null,
    note: joined(spread === null ? SPREAD_UNKNOWN : null, tokenNote('tokens_per_j', tokens)),
  };
}

const figureNames = Object.keys(energyFigures) as FigureName[];
const latencyNames = ['ttft_any', 'ttft_content', 'tpot', 'e2e_from_dispatch'] as const;

/** The value of every metric, by id. */
export function cellValues(facts: CellFacts): Readonly<Record<MetricId, MetricValue>> {
  const { accuracy } = facts;
  const values: [MetricId, MetricValue][] = [
    [
      'accuracy',
      {
        ...absent('accuracy', accuracy.n, 'nothing_scored'),
        ...accuracy,
        reason: accuracy.value === null ? 'nothing_scored' : null,
      },
    ],
    ['tokens_per_s', tokensPerSecond(facts)],
    ...figureNames.flatMap((name): [MetricId, MetricValue][] => [
      [name, energyValue(facts, name, 'gross')],
      [`net_${name}`, energyValue(facts, name, 'net')],
    ]),
    ...latencyNames.flatMap((name): [MetricId, MetricValue][] => [
      [`${name}_p50_ns`, latencyValue(facts.calls, name, 50)],
      [`${name}_p99_ns`, latencyValue(facts.calls, name, 99)],
    ]),
  ];
  return Object.fromEntries(values) as Record<MetricId, MetricValue>;
}
