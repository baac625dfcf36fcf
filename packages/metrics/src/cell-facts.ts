import { type BookedTotals, bookedEnergy, bookedTotals, bookedTotalsBy } from './booked-energy.js';
import { busyTimes, windowTime } from './busy-time.js';
import { type Accuracy, accuracyOf, completedAccuracy, scoreSums } from './cell-accuracy.js';
import type { CellColumns } from './cell-columns.js';
import { type BusyTime, cellEnergy } from './cell-energy.js';
import type { ItemSums } from './cell-sampling.js';
import { blockUnits, crossedSums, isIsolated, type LabelSums, queryTotals, type Units } from './cell-sums.js';
import type { CellBase, CellEnergy } from './cell-types.js';
import { type CellPhases, detailOf, type EnergyDetail, phasesOfQueries } from './energy-detail.js';
import { type LoadTotals, loadTotals } from './load/cell-load.js';
import { type SteadyFacts, steadyFacts } from './load/steady-facts.js';
import { type PhaseShares, phaseTotals } from './phase-shares.js';
import { type TokenTotals, tokenTotals } from './tokens.js';

/** What energy figures of one repeat are made of. */
export interface RepeatFacts {
  readonly repeat: number;
  readonly accuracy: number | null;
  /** Queries with a score. */
  readonly scored: number;
  readonly queries: number;
  readonly energy: CellEnergy;
  /** Net of the idle host. */
  readonly host: CellEnergy;
  /** Energy of the calls by phase, J; null where it isn't known, or where no call of the cell has the phase. */
  readonly phases: { readonly prefill_j: number | null; readonly decode_j: number | null };
  readonly tokens: TokenTotals;
}

/** Everything that the figures of a cell are made of, each computed once. */
export interface CellFacts {
  readonly columns: CellColumns;
  readonly accuracy: Accuracy;
  readonly completed: { readonly value: number | null; readonly n: number };
  /** Whether all scores are 0 or 1. */
  readonly binary: boolean;
  /** Whether no query made more than one call. */
  readonly one_call: boolean;
  readonly queries: number;
  readonly energy: CellEnergy;
  /** Over the whole measured windows. */
  readonly window: CellEnergy;
  /** Rates and goodput. */
  readonly load: LoadTotals;
  readonly steady: SteadyFacts & { readonly energy: CellEnergy };
  readonly detail: EnergyDetail;
  readonly tokens: TokenTotals;
  readonly repeats: readonly RepeatFacts[];
  readonly isolated: boolean;
  readonly sums: ItemSums;
  readonly labels: readonly LabelSums[];
}

/** Numbers of repeats that are there, in order, and each row's place among them. */
function repeatUnits(repeat: ArrayLike<number>): Units & { readonly numbers: readonly number[] } {
  const seen = new Set<number>();
  for (let row = 0, last = -1; row < repeat.length; row++) {
    const own = repeat[row] ?? 0;
    if (own !== last) seen.add(own);
    last = own;
  }
  const numbers = [...seen].sort((a, b) => a - b);
  const place = new Int32Array((numbers.at(-1) ?? 0) + 1);
  numbers.forEach((number, i) => {
    place[number] = i;
  });
  const of = new Int32Array(repeat.length);
  for (let row = 0; row < of.length; row++) of[row] = place[repeat[row] ?? 0] ?? 0;
  return { of, count: numbers.length, numbers };
}

/** The label of each item: that of its first row. */
function labelOfItems({ item, items, subject, length }: CellColumns['queries']) {
  const of = new Int32Array(items).fill(-1);
  for (let row = length - 1; row >= 0; row--) of[item[row] ?? 0] = subject.codes[row] ?? -1;
  return { of, count: subject.names.length };
}

interface RepeatInput {
  readonly columns: CellColumns;
  readonly base: CellBase;
  readonly phases: (place: number) => RepeatFacts['phases'];
  /** By place of the repeat. */
  readonly times: readonly BusyTime[];
  readonly tokens: readonly TokenTotals[];
}

/** Energy by phase of the queries of each repeat. */
function phasesOfRepeats(
  shares: PhaseShares | null,
  { phases }: CellPhases,
  { of, count }: Units,
): RepeatInput['phases'] {
  const sums = (own: Float64Array) => {
    const totals = new Float64Array(count);
    for (let row = 0; row < own.length; row++)
      totals[of[row] ?? 0] = (totals[of[row] ?? 0] ?? 0) + (own[row] ?? 0);
    return totals;
  };
  const [prefill, decode] = shares === null ? [] : [sums(shares.prefill_j), sums(shares.decode_j)];
  return (place) => ({
    prefill_j: phases?.prefill.calls ? (prefill?.[place] ?? null) : null,
    decode_j: phases?.decode.calls ? (decode?.[place] ?? null) : null,
  });
}

/** Facts of every repeat alone, so that the spread between repeats can be told. */
function repeatFacts(
  { columns, base, phases, times, tokens }: RepeatInput,
  repeats: ReturnType<typeof repeatUnits>,
): RepeatFacts[] {
  const { queries } = columns;
  const overHost = base.sittings.map((own) => ({
    ...own,
    baselines: base.host?.get(own.sitting) ?? [],
  }));
  const hasHost = overHost.some(({ baselines }) => baselines.length > 0);
  const scores = scoresOf(queries.score, repeats);
  const booked = onDemand(() => bookedTotalsBy(queries, repeats));
  return repeats.numbers.flatMap((repeat, place) => {
    const [time, ofTokens, score] = [times[place], tokens[place], scores[place]];
    if (ofTokens === undefined || score === undefined) return [];
    const { total, scored, count } = score;
    const own = energyOver(columns, base, { time, booked: () => booked()[place] });
    return [
      {
        repeat,
        accuracy: scored === 0 ? null : total / scored,
        scored,
        queries: count,
        energy: own,
        host: hasHost && time !== undefined ? cellEnergy(overHost, time) : noNet(own),
        phases: phases(place),
        tokens: ofTokens,
      },
    ];
  });
}

const noNet = (energy: CellEnergy): CellEnergy => ({
  ...energy,
  net_j: null,
  net_lo_j: null,
  net_hi_j: null,
  net_resolved: false,
  net_reason: energy.reason ?? 'no_baseline',
});

interface ScoreOfRepeat {
  total: number;
  scored: number;
  count: number;
}

function scoresOf(score: Float64Array, { of, count }: Units): ScoreOfRepeat[] {
  const sums = Array.from({ length: count }, (): ScoreOfRepeat => ({ total: 0, scored: 0, count: 0 }));
  for (let row = 0; row < score.length; row++) {
    const sum = sums[of[row] ?? -1];
    if (sum === undefined) continue;
    const own = score[row] ?? Number.NaN;
    sum.count += 1;
    if (Number.isNaN(own)) continue;
    sum.total += own;
    sum.scored += 1;
  }
  return sums;
}

function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

interface Over {
  readonly time: BusyTime | undefined;
  readonly booked: () => BookedTotals | undefined;
}

/** Energy by the samples; by what was booked to the queries where there are none and their domains are known. */
function energyOver({ origin_ns }: CellColumns, base: CellBase, { time, booked }: Over): CellEnergy {
  const found = cellEnergy(base.sittings, time ?? { origin_ns, bySitting: new Map() });
  const { booked: boundary = null } = base;
  if (found.reason !== 'no_power' || boundary === null) return found;
  const totals = booked();
  return totals === undefined ? found : bookedEnergy(found, { booked: totals, boundary });
}

function atMostOne(counts: ArrayLike<number>): boolean {
  for (let row = 0; row < counts.length; row++) if ((counts[row] ?? 0) > 1) return false;
  return true;
}

/** Everything that figures need, from the columns and the power of a cell. */
export function cellFacts(columns: CellColumns, base: CellBase): CellFacts {
  const { queries, calls } = columns;
  const repeats = repeatUnits(queries.repeat);
  const [time, times] = busyTimes(columns, base.sittings, repeats);
  const tokens = tokenTotals(calls, repeats);
  const table = queryTotals(columns);
  const items: Units = { of: queries.item, count: queries.items };
  const { labels, ...ofItems } = crossedSums(table, { units: items, repeats }, labelOfItems(queries));
  const isolated = isIsolated(columns);
  const blocks = isolated ? items : blockUnits(columns);
  const ofBlocks = isolated ? ofItems : blocks && crossedSums(table, { units: blocks, repeats });
  const scores = scoreSums(queries);
  const steady = steadyFacts(columns, base.steady ?? null);
  const detail = detailOf(base, columns, time);
  const shares = phasesOfQueries(base, columns, detail.phases);
  const ofPhases = shares && blocks && crossedSums(phaseTotals(columns, shares), { units: blocks, repeats });
  const phases = phasesOfRepeats(shares, detail.phases, repeats);
  return {
    columns,
    accuracy: accuracyOf(scores, base.seed ?? 0),
    completed: completedAccuracy(queries),
    binary: scores.binary,
    one_call: atMostOne(queries.calls),
    queries: queries.length,
    energy: energyOver(columns, base, { time, booked: () => bookedTotals(queries) }),
    window: cellEnergy(base.sittings, windowTime(time, base.sittings)),
    load: loadTotals(columns, base),
    steady: { ...steady, energy: cellEnergy(base.sittings, steady.time) },
    detail,
    tokens: tokens.all,
    repeats: repeatFacts({ columns, base, phases, times, tokens: tokens.ofRepeats }, repeats),
    isolated,
    sums: { queries: ofItems, units: ofBlocks, phases: ofPhases },
    labels,
  };
}
