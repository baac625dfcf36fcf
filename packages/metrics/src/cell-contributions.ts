import type { CallRow, QueryRow } from '@perwatt/core';
import { blocks } from './stats/blocks.js';
import type { Contribution } from './stats/product-figure.js';

/** What every query of a cell adds to its totals, for intervals and paired comparisons. */
export interface CellContributions {
  /** Per query, totals in the order of `totalNames`; what isn't known is NaN. In order of start. */
  readonly queries: readonly Contribution[];
  /** Whether every query's own energy was measured, not a share of what several had. */
  readonly isolated: boolean;
  /**
   * The same by item where all energy was measured, by blocks of consecutive items where it was allocated; null where it
   * was and there are too few items for blocks.
   */
  readonly units: readonly Contribution[] | null;
}

interface Edge {
  readonly at: bigint;
  readonly query_id: string;
  readonly step: 1 | -1;
}

/** Seconds that each query was in flight, time shared equally among the calls in flight at every moment. */
function shareOfTime(calls: readonly CallRow[]): Map<string, number> {
  const edges = calls.flatMap(({ query_id, dispatch_ns, end_ns }): Edge[] =>
    end_ns > dispatch_ns
      ? [
          { at: dispatch_ns, query_id, step: 1 },
          { at: end_ns, query_id, step: -1 },
        ]
      : [],
  );
  edges.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  const seconds = new Map<string, number>();
  let [active, clock, since] = [0, 0, edges[0]?.at ?? 0n];
  for (const { at, query_id, step } of edges) {
    if (active > 0) clock += Number(at - since) / active / 1e9;
    seconds.set(query_id, (seconds.get(query_id) ?? 0) - step * clock);
    active += step;
    since = at;
  }
  return seconds;
}

interface Tokens {
  output: number;
  all: number;
}

/** Tokens by query; a call without a count adds none, as in the totals. */
function tokensByQuery(calls: readonly CallRow[]): Map<string, Tokens> {
  const tokens = new Map<string, Tokens>();
  for (const { query_id, prompt_tokens, completion_tokens } of calls) {
    const known = tokens.get(query_id) ?? { output: 0, all: 0 };
    known.output += completion_tokens ?? 0;
    if (prompt_tokens !== null && completion_tokens !== null) known.all += prompt_tokens + completion_tokens;
    tokens.set(query_id, known);
  }
  return tokens;
}

/** What each query adds to a cell's totals, from its row and its measured calls. */
export function cellContributions(
  queries: readonly QueryRow[],
  calls: readonly CallRow[],
): CellContributions {
  const [seconds, tokens] = [shareOfTime(calls), tokensByQuery(calls)];
  const rows = queries.toSorted((a, b) => (a.start_ns < b.start_ns ? -1 : Number(a.start_ns > b.start_ns)));
  const own = rows.map(
    ({ item_id, repeat, query_id, score, energy_gross_j, energy_net_j }): Contribution => ({
      item: item_id,
      repeat,
      totals: [
        score ?? 0,
        score === null ? 0 : 1,
        1,
        seconds.get(query_id) ?? 0,
        energy_gross_j ?? Number.NaN,
        energy_net_j ?? Number.NaN,
        tokens.get(query_id)?.output ?? 0,
        tokens.get(query_id)?.all ?? 0,
      ],
    }),
  );
  const isolated = rows.every(({ energy_method }) => energy_method === 'isolated');
  return { queries: own, isolated, units: isolated ? own : blocks(own) };
}
