import type { QueryColumns } from './cell-columns.js';
import type { CellFacts } from './cell-facts.js';
import { orderOf } from './cell-spans.js';
import type { MetricValue } from './cell-types.js';
import type { Metric, MetricId } from './metric-definitions.js';
import { absent } from './metric-value.js';
import { clusteredMean } from './query-values.js';
import { runSpread } from './stats/run-spread.js';

/** What each query took, one number a row; NaN where it isn't known. */
const lists = {
  calls: ({ columns: { queries } }: CellFacts) => Float64Array.from(queries.calls),
  prompt: ({ columns: { queries } }: CellFacts) => queries.prompt_tokens,
  cached: ({ columns: { queries } }: CellFacts) => queries.cached_tokens,
  output: ({ columns: { queries } }: CellFacts) => queries.completion_tokens,
  chain: ({ columns: { queries } }: CellFacts) => queries.sequential_tokens,
  once: billedOnce,
  peak: mostAtOnce,
} as const;

/** Name of one of these lists. */
export type SpentName = keyof typeof lists;

/** Whether a list of a formula is one of these. */
export const isSpent = (name: string): name is SpentName => Object.hasOwn(lists, name);

/** Prompt tokens of each query less those that an earlier call of the same prefix began with too. */
function billedOnce({ columns: { queries, calls, calls_from } }: CellFacts): Float64Array {
  const sums = new Float64Array(queries.length);
  if (calls_from === 'queries') return sums.fill(Number.NaN);
  const { query, sent, prompt_tokens, shared_prefix_tokens } = calls;
  for (let call = 0; call < calls.length; call++) {
    if (sent[call] === 0) continue;
    const row = query[call] ?? 0;
    const own = (prompt_tokens[call] ?? Number.NaN) - (shared_prefix_tokens[call] ?? Number.NaN);
    sums[row] = (sums[row] ?? 0) + own;
  }
  return sums;
}

/** Most calls of each query in flight at one moment: one that begins as another ends is not beside it. */
function mostAtOnce({ columns: { queries, calls, calls_from }, one_call }: CellFacts): Float64Array {
  if (one_call) return Float64Array.from(queries.calls);
  const peaks = new Float64Array(queries.length);
  if (calls_from === 'queries') return peaks.fill(Number.NaN);
  const ends = new Map<number, readonly number[]>();
  for (const call of orderOf(calls.dispatch)) {
    if (calls.sent[call] === 0) continue;
    const row = calls.query[call] ?? 0;
    const from = calls.dispatch[call] ?? 0;
    const others = (ends.get(row) ?? []).filter((end) => end > from);
    ends.set(row, [...others, calls.end[call] ?? from]);
    peaks[row] = Math.max(peaks[row] ?? 0, others.length + 1);
  }
  return peaks;
}

/** Means of repeats over the rows that are known; null for a repeat without one. */
function meansOfRepeats({ columns: { queries }, repeats }: CellFacts, values: Float64Array) {
  const most = repeats.reduce((max, { repeat }) => Math.max(max, repeat), 0);
  const [sums, counts] = [new Float64Array(most + 1), new Uint32Array(most + 1)];
  for (let row = 0; row < values.length; row++) {
    const own = values[row] ?? Number.NaN;
    if (Number.isNaN(own)) continue;
    const repeat = queries.repeat[row] ?? 0;
    sums[repeat] = (sums[repeat] ?? 0) + own;
    counts[repeat] = (counts[repeat] ?? 0) + 1;
  }
  return repeats.map(({ repeat }) => {
    const n = counts[repeat] ?? 0;
    return n === 0 ? null : (sums[repeat] ?? 0) / n;
  });
}

/** The known rows alone, their items numbered anew; the very arrays where all are known. */
function knownRows(values: Float64Array, { item, items }: Pick<QueryColumns, 'item' | 'items'>) {
  let n = 0;
  for (let row = 0; row < values.length; row++) if (!Number.isNaN(values[row])) n += 1;
  if (n === values.length) return { values, item, items };
  const rows = Int32Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]));
  const numbers = new Map<number, number>();
  const own = Int32Array.from(rows, (row) => {
    const number = numbers.get(item[row] ?? 0) ?? numbers.size;
    numbers.set(item[row] ?? 0, number);
    return number;
  });
  return { values: Float64Array.from(rows, (row) => values[row] ?? 0), item: own, items: numbers.size };
}

/**
 * The mean over queries of what they took, with the 95 % interval over items by Student's t. Queries without a count are left out,
 * and the note says how many; null when none has one.
 */
export function meanSpent(facts: CellFacts, definition: Metric<MetricId>, name: SpentName): MetricValue {
  const all = lists[name](facts);
  if (all.length === 0) return absent(definition, 0, 'no_calls');
  const { values, item, items } = knownRows(all, facts.columns.queries);
  const n = values.length;
  if (n === 0) return absent(definition, all.length, name === 'peak' ? 'no_call_has_it' : 'tokens_unknown');
  const { value, lo, hi } = clusteredMean(values, item, items);
  const left = all.length - n;
  return {
    ...absent(definition, n, ''),
    value,
    lo,
    hi,
    interval: lo === null ? null : 'item_clustered',
    sampling_lo: lo,
    sampling_hi: hi,
    spread: runSpread(meansOfRepeats(facts, all)),
    reason: null,
    note: left === 0 ? null : `${left} queries without a count are left out`,
  };
}
