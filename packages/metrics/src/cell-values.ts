import type { CellFacts } from './cell-facts.js';
import { joinedInterval, sensorInterval } from './cell-intervals.js';
import { latenciesOf } from './cell-latency.js';
import { type Sampling, type SamplingInput, samplingAtZero, samplingOf } from './cell-sampling.js';
import type { MetricValue } from './cell-types.js';
import { figurePowers } from './energy-figures.js';
import {
  type EnergySymbol,
  energyOf,
  energyOfRepeat,
  energySymbols,
  lacking,
  repeatTotals,
  totalsOfCell,
  totalsOfRepeat,
} from './figure-totals.js';
import { evaluate, type Formula, symbolPowers } from './formula.js';
import { isOfLoad, loadValue, steadyNote } from './load/load-values.js';
import { formulaOf, type Metric, type MetricId, metrics, type TimeName } from './metric-definitions.js';
import { absent } from './metric-value.js';
import { isSpent, meanSpent } from './query-counts.js';
import { meanOfQueries, quantileOfQueries } from './query-values.js';
import { quantileIntervals } from './statistics.js';
import { type RunSpread, runSpread, SPREAD_UNKNOWN } from './stats/run-spread.js';
import type { TokenTotals } from './tokens.js';

type Definition = Metric<MetricId>;

/** What a figure says of items where their part of the interval could not be told. */
const ITEMS_UNKNOWN = 'another draw of items is not in the interval';
const ONLY_ACCURACY = 'of another draw of items only accuracy is in the interval';
const BY_QUERIES = 'energy as booked to the queries: no samples on record';

const joined = (...notes: readonly (string | null)[]): string | null =>
  notes.filter((note) => note !== null).join('; ') || null;

function tokenNote(formula: Formula, { source, uncounted }: TokenTotals): string | null {
  if (![...symbolPowers(formula).keys()].some((name) => 'OIK'.includes(name.charAt(0)))) return null;
  const from = source === null ? null : `tokens by ${source}`;
  const left = uncounted > 0 ? `${uncounted} failed calls without a count` : null;
  return joined(from, left);
}

/** The energy in a metric's formula; null for a metric without any. */
const energySymbolOf = (formula: Formula): EnergySymbol | null =>
  energySymbols.find((symbol) => symbolPowers(formula).has(symbol)) ?? null;

const known = new WeakMap<CellFacts, Map<MetricId, readonly (number | null)[]>>();

/** A metric in every repeat; null where one has none. Empty for what repeats have no totals of. */
export function valuesOfRepeats(facts: CellFacts, definition: Definition): readonly (number | null)[] {
  const ofFacts = known.get(facts) ?? new Map<MetricId, readonly (number | null)[]>();
  known.set(facts, ofFacts);
  const values = ofFacts.get(definition.id) ?? computedValues(facts, definition);
  ofFacts.set(definition.id, values);
  return values;
}

function computedValues({ repeats }: CellFacts, definition: Definition): (number | null)[] {
  if (!figurePowers(definition.id).complete) return [];
  const formula = formulaOf(definition);
  return repeats.map((repeat) => {
    const totals = totalsOfRepeat(repeat);
    const symbol = energySymbolOf(formula);
    if (definition.energy === null || symbol === null) return evaluate(formula, totals);
    const own = energyOfRepeat(repeat, symbol, definition.energy);
    if (typeof own === 'string') return null;
    const told = lacking(formula, totals, { symbol, own }) === null;
    return told ? evaluate(formula, { ...totals, [symbol]: own.value }) : null;
  });
}

const spreadOf = (facts: CellFacts, definition: Definition): RunSpread =>
  runSpread(valuesOfRepeats(facts, definition));

/** The sampling interval; with fewer than three repeats only of figures that hold accuracy, whose draw of items is known. */
function samplingFor(
  facts: CellFacts,
  { id, energy }: Definition,
  { value, perAccuracy }: { readonly value: number; readonly perAccuracy: number | null },
): Sampling | null {
  const { accuracy, sums, repeats } = facts;
  const input: Omit<SamplingInput, 'value'> = {
    figure: figurePowers(id),
    scale: energy === 'net' || energy === 'net_host' ? 'linear' : 'log',
    accuracy,
    sums,
    repeats: repeats.map(repeatTotals),
  };
  const sampling =
    value === 0 && accuracy.value === 0
      ? samplingAtZero(input, perAccuracy)
      : samplingOf({ ...input, value });
  const ofAccuracy = input.figure.powers[0] !== 0;
  return sampling !== null && (sampling.over_repeats || ofAccuracy) ? sampling : null;
}

function itemsNote(sampling: Sampling | null): string | null {
  if (sampling === null || sampling.items === 'all') return null;
  return sampling.items === 'accuracy' ? ONLY_ACCURACY : ITEMS_UNKNOWN;
}

/**
 * Whether a phase is too short for the sensor to tell from the next one: what it books to the wrong side of an edge is the
 * same in every repeat.
 */
function isBlurred({ detail: { phases } }: CellFacts, symbol: EnergySymbol): boolean {
  if (symbol !== 'E_pre' && symbol !== 'E_dec') return false;
  return phases.phases?.[symbol === 'E_pre' ? 'prefill' : 'decode'].resolved === false;
}

function energyValue(facts: CellFacts, definition: Definition, symbol: EnergySymbol): MetricValue {
  const formula = formulaOf(definition);
  const kind = definition.energy ?? 'gross';
  const own = energyOf(facts, symbol, kind);
  const n = facts.queries;
  if (typeof own === 'string') return absent(definition, n, own);
  const provenance = facts.energy.boundary?.provenance ?? null;
  const totals = totalsOfCell(facts);
  const reason = lacking(formula, totals, { symbol, own });
  const of = (energy_j: number, accuracy = totals.A ?? null) =>
    evaluate(formula, { ...totals, A: accuracy, [symbol]: energy_j });
  const value = reason === null ? of(own.value) : null;
  if (value === null) return { ...absent(definition, n, reason ?? 'no_busy_time'), provenance };
  const over = (symbolPowers(formula).get(symbol) ?? 0) < 0;
  const sampling = samplingFor(facts, definition, { value, perAccuracy: of(own.value, 1) });
  const sensor = sensorInterval({ of, over }, own);
  const shared_error = kind !== 'gross' || provenance === 'estimated' || isBlurred(facts, symbol);
  return {
    ...absent(definition, n, ''),
    value,
    ...joinedInterval({ sampling, sensor, value, shared_error }),
    sampling_lo: sampling?.lo ?? null,
    sampling_hi: sampling?.hi ?? null,
    sensor_lo: sensor.lo,
    sensor_hi: sensor.hi,
    spread: spreadOf(facts, definition),
    provenance,
    reason: null,
    note: joined(
      sampling?.over_repeats === true ? null : SPREAD_UNKNOWN,
      itemsNote(sampling),
      tokenNote(formula, facts.tokens),
      steadyNote(facts, definition),
      facts.energy.taken_from === 'queries' ? BY_QUERIES : null,
    ),
  };
}

/** A figure without energy that is a quotient of totals: tokens per second. */
function plainValue(facts: CellFacts, definition: Definition): MetricValue {
  const formula = formulaOf(definition);
  const totals = totalsOfCell(facts);
  const reason = lacking(formula, totals, null);
  const value = reason === null ? evaluate(formula, totals) : null;
  if (value === null) return absent(definition, facts.queries, reason ?? 'no_busy_time');
  const told = samplingFor(facts, definition, { value, perAccuracy: null });
  const sampling = told?.over_repeats === true ? told : null;
  return {
    ...absent(definition, facts.queries, ''),
    value,
    lo: sampling?.lo ?? null,
    hi: sampling?.hi ?? null,
    interval: sampling === null ? null : 'repeats_t',
    sampling_lo: sampling?.lo ?? null,
    sampling_hi: sampling?.hi ?? null,
    spread: spreadOf(facts, definition),
    reason: null,
    note: joined(
      sampling === null ? SPREAD_UNKNOWN : null,
      itemsNote(sampling),
      tokenNote(formula, facts.tokens),
    ),
  };
}

function accuracyValue(facts: CellFacts, definition: Definition): MetricValue {
  const { value, lo, hi, interval, n } = facts.accuracy;
  return {
    ...absent(definition, n, 'nothing_scored'),
    value,
    lo,
    hi,
    interval,
    sampling_lo: lo,
    sampling_hi: hi,
    spread: value === null ? null : spreadOf(facts, definition),
    reason: value === null ? 'nothing_scored' : null,
  };
}

function completedValue({ completed: { value, n } }: CellFacts, definition: Definition): MetricValue {
  return {
    ...absent(definition, n, 'nothing_scored'),
    value,
    reason: value === null ? 'nothing_scored' : null,
  };
}

/** Quantiles of one kind of latency, each sorted once for all of them. */
function latencyValues(
  { columns: { calls, calls_from }, one_call }: CellFacts,
  name: TimeName,
  wanted: readonly { readonly definition: Definition; readonly p: number }[],
): [MetricId, MetricValue][] {
  const told =
    calls_from === 'calls' ||
    name === 'e2e_from_schedule' ||
    name === 'lag' ||
    (one_call && name === 'e2e_from_dispatch');
  const values = told ? latenciesOf(calls, name) : new Float64Array();
  const estimates = quantileIntervals(
    values,
    wanted.map(({ p }) => p),
  );
  return wanted.map(({ definition, p }, i) => {
    const estimate = estimates[i] ?? null;
    if (estimate === null) return [definition.id, absent(definition, 0, 'no_call_has_it')];
    const { value, lo, hi, n } = estimate;
    return [
      definition.id,
      {
        ...absent(definition, n, ''),
        value,
        lo,
        hi,
        interval: lo === null && hi === null ? null : 'order_statistics',
        sampling_lo: lo,
        sampling_hi: hi,
        reason: null,
        note: joined(
          calls_from === 'calls' ? null : 'until the end of the query: no calls on record',
          p === 0.99 && n < 100 ? `the largest of only ${n} calls` : null,
        ),
      },
    ];
  });
}

type Kind = 'latency' | 'queries' | 'accuracy' | 'completed' | 'load' | 'energy' | 'plain';

function kindOf(definition: Definition, formula: Formula): Kind {
  const { formula: text, window } = definition;
  if (formula.kind === 'mean' || formula.kind === 'quantile')
    return window === 'queries' ? 'queries' : 'latency';
  if (text === 'A') return 'accuracy';
  if (text === 'A_c') return 'completed';
  if (isOfLoad(definition)) return 'load';
  return energySymbolOf(formula) === null ? 'plain' : 'energy';
}

function ownValue(facts: CellFacts, definition: Definition): MetricValue {
  const formula = formulaOf(definition);
  switch (kindOf(definition, formula)) {
    case 'accuracy':
      return accuracyValue(facts, definition);
    case 'completed':
      return completedValue(facts, definition);
    case 'load':
      return loadValue(facts, definition);
    case 'energy':
      return energyValue(facts, definition, energySymbolOf(formula) ?? 'E');
    default:
      return plainValue(facts, definition);
  }
}

interface OfList {
  readonly definition: Definition;
  readonly formula: Formula & { readonly kind: 'mean' | 'quantile' };
}

/** Metrics that are statistics of lists, by the list. */
function byList(): Map<string, OfList[]> {
  const lists = new Map<string, OfList[]>();
  for (const definition of metrics) {
    const formula = formulaOf(definition);
    if (formula.kind !== 'mean' && formula.kind !== 'quantile') continue;
    lists.set(formula.name, [...(lists.get(formula.name) ?? []), { definition, formula }]);
  }
  return lists;
}

const listMetrics = byList();

function listValues(facts: CellFacts, name: string, wanted: readonly OfList[]): [MetricId, MetricValue][] {
  const quantiles = wanted.flatMap(({ definition, formula }) =>
    formula.kind === 'quantile' ? [{ definition, p: formula.p }] : [],
  );
  if (isSpent(name))
    return wanted.map(({ definition }) => [definition.id, meanSpent(facts, definition, name)]);
  if (name !== 'e' && name !== 'p') return latencyValues(facts, name as TimeName, quantiles);
  const means = wanted.filter(({ formula }) => formula.kind === 'mean');
  return [
    ...means.map(({ definition }): [MetricId, MetricValue] => [
      definition.id,
      meanOfQueries(facts, definition, name),
    ]),
    ...quantileOfQueries(facts, quantiles),
  ];
}

/** The value of every metric, by id, in the order of `metrics`. */
export function cellValues(facts: CellFacts): Readonly<Record<MetricId, MetricValue>> {
  const ofLists = new Map([...listMetrics].flatMap(([name, wanted]) => listValues(facts, name, wanted)));
  const values = metrics.map((definition): [MetricId, MetricValue] => [
    definition.id,
    ofLists.get(definition.id) ?? ownValue(facts, definition),
  ]);
  return Object.fromEntries(values) as Record<MetricId, MetricValue>;
}
