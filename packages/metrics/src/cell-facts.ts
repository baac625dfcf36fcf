import { bookedEnergy } from './booked-energy.js';
import { busyTime, busyTimeOfRepeats, windowTime } from './busy-time.js';
import { type Accuracy, accuracyOf, completedAccuracy, scoreSums } from './cell-accuracy.js';
import type { CellColumns } from './cell-columns.js';
import { cellEnergy } from './cell-energy.js';
import type { ItemSums } from './cell-sampling.js';
import { blockUnits, crossedSums, isIsolated, type LabelSums, queryTotals, type Units } from './cell-sums.js';
import type { CellBase, CellEnergy } from './cell-types.js';
import { detailOf, type EnergyDetail } from './energy-detail.js';
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
  for (let row = 0; row < repeat.length; row++) seen.add(repeat[row] ?? 0);
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

/** Facts of every repeat alone, so that the spread between repeats can be told. */
function repeatFacts(
  { columns, base }: { readonly columns: CellColumns; readonly base: CellBase },
  repeats: ReturnType<typeof repeatUnits>,
): RepeatFacts[] {
  const { queries, calls } = columns;
  const times = busyTimeOfRepeats(columns, base.sittings, repeats);
  const overHost = base.sittings.map((own) => ({
    ...own,
    baselines: base.host?.get(own.sitting) ?? [],
  }));
  const hasHost = overHost.some(({ baselines }) => baselines.length > 0);
  return repeats.numbers.map((repeat, place) => {
    const ofRow = (row: number) => repeats.of[row] === place;
    const [time] = times.slice(place);
    const [total, scored, count] = scoreOf(queries.score, repeats.of, place);
    const own = energyOver(columns, base, { time, keep: ofRow });
    return {
      repeat,
      accuracy: scored === 0 ? null : total / scored,
      scored,
      queries: count,
      energy: own,
      host: hasHost && time !== undefined ? cellEnergy(overHost, time) : noNet(own),
      tokens: tokenTotals(calls, (call) => repeats.of[calls.query[call] ?? 0] === place),
    };
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

function scoreOf(score: Float64Array, repeatOf: Int32Array, place: number): [number, number, number] {
  let [total, scored, count] = [0, 0, 0];
  for (let row = 0; row < score.length; row++) {
    if (repeatOf[row] !== place) continue;
    const own = score[row] ?? Number.NaN;
    count += 1;
    if (Number.isNaN(own)) continue;
    total += own;
    scored += 1;
  }
  return [total, scored, count];
}

interface Over {
  readonly time: ReturnType<typeof busyTime> | undefined;
  readonly keep?: (row: number) => boolean;
}

/** Energy by the samples; by what was booked to the queries where there are none and their domains are known. */
function energyOver({ queries, origin_ns }: CellColumns, base: CellBase, { time, keep }: Over): CellEnergy {
  const found = cellEnergy(base.sittings, time ?? { origin_ns, bySitting: new Map() });
  const { booked = null } = base;
  return found.reason === 'no_power' && booked !== null
    ? bookedEnergy(found, { queries, boundary: booked }, keep)
    : found;
}

function atMostOne(counts: ArrayLike<number>): boolean {
  for (let row = 0; row < counts.length; row++) if ((counts[row] ?? 0) > 1) return false;
  return true;
}

/** Everything that figures need, from the columns and the power of a cell. */
export function cellFacts(columns: CellColumns, base: CellBase): CellFacts {
  const { queries, calls } = columns;
  const time = busyTime(columns, base.sittings);
  const repeats = repeatUnits(queries.repeat);
  const table = queryTotals(columns);
  const items: Units = { of: queries.item, count: queries.items };
  const { labels, ...ofItems } = crossedSums(table, { units: items, repeats }, labelOfItems(queries));
  const isolated = isIsolated(columns);
  const blocks = isolated ? items : blockUnits(columns);
  const ofBlocks = isolated ? ofItems : blocks && crossedSums(table, { units: blocks, repeats });
  const scores = scoreSums(queries);
  return {
    columns,
    accuracy: accuracyOf(scores, base.seed ?? 0),
    completed: completedAccuracy(queries),
    binary: scores.binary,
    one_call: atMostOne(queries.calls),
    queries: queries.length,
    energy: energyOver(columns, base, { time }),
    window: cellEnergy(base.sittings, windowTime(time, base.sittings)),
    detail: detailOf(base, columns, time),
    tokens: tokenTotals(calls),
    repeats: repeatFacts({ columns, base }, repeats),
    isolated,
    sums: { queries: ofItems, units: ofBlocks },
    labels,
  };
}
