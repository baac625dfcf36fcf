import type { CallRow, QueryRow } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput } from './cell-types.js';
import { columnsOfRows } from './columns-of-rows.js';
import type { MetricId } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, span } from './series.fixture.js';
import { t95 } from './statistics.js';

/** A debate of two over [1 s, 3 s] and a plain question over [4 s, 5 s]. */
const debate = queryRow('i0', [1, 3], {
  calls: 4,
  rounds: 2,
  prompt_tokens: 60,
  completion_tokens: 20,
  sequential_tokens: 13,
  cached_tokens: 20,
});
const plain = queryRow('i1', [4, 5], { sequential_tokens: 5, cached_tokens: 0 });
const part = (call_id: string, [from, to]: readonly [number, number], changes: Partial<CallRow>): CallRow =>
  callRow(debate, { call_id, dispatch_ns: at(from), end_ns: at(to), ...changes });
const calls = [
  part('a', [1, 2], { prompt_tokens: 10, shared_prefix_tokens: 0 }),
  part('b', [1.1, 1.9], { prompt_tokens: 10, shared_prefix_tokens: 10 }),
  part('c', [2, 3], { prompt_tokens: 20, shared_prefix_tokens: 10 }),
  part('d', [2.5, 2.9], { prompt_tokens: 20, shared_prefix_tokens: 12 }),
  callRow(plain, { shared_prefix_tokens: 0 }),
];
const cell: CellInput = {
  queries: [debate, plain],
  calls,
  sittings: [{ sitting: 0, window: span(0, 6), series: [], baselines: [] }],
  guess_rate: 0,
};
interface Changes extends Partial<Pick<CellInput, 'queries'>> {
  readonly calls?: readonly CallRow[] | null;
}
const valuesOf = ({ queries = cell.queries, calls = cell.calls }: Changes = {}) =>
  cellMetrics({ ...cell, columns: columnsOfRows({ queries, calls }) }).values;
const changed = (query: QueryRow, changes: Partial<QueryRow>): QueryRow => ({ ...query, ...changes });

describe('what a query takes', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [id: MetricId, value: number, why: string]>([
    ['calls_per_query',         2.5,             'four calls and one'],
    ['max_parallel',            1.5,             'two at once, and one: c begins as a ends'],
    ['output_tokens_per_query', (20 + 5) / 2,    'of all calls'],
    ['sequential_tokens',       (13 + 5) / 2,    'of the longest chain'],
    ['prompt_tokens_per_query', (60 + 10) / 2,   'cached ones included'],
    ['cached_tokens_per_query', 10,              'as the server says'],
    ['billed_once_tokens',      (28 + 10) / 2,   '10 + 0 + 10 + 8 of the debate'],
  ])('%s is %d: %s', (id, value) => {
    expect(valuesOf()[id]).toMatchObject({ value, n: 2, reason: null, note: null, provenance: null });
  });

  test('has the interval of whole items by Student’s t', () => {
    const { lo, hi, interval } = valuesOf().sequential_tokens;
    const half = t95(1) * Math.sqrt((4 ** 2 + 4 ** 2) / 2);
    expect([lo, hi]).toEqual([expect.closeTo(9 - half, 9), expect.closeTo(9 + half, 9)]);
    expect(interval).toBe('item_clustered');
  });

  test('is the same when every question is asked under a second name', () => {
    const twice = {
      queries: cell.queries.flatMap((q) => [
        q,
        { ...q, item_id: `${q.item_id}b`, query_id: `${q.query_id}b` },
      ]),
    };
    const own = cell.calls.flatMap((c) => [c, { ...c, query_id: `${c.query_id}b` }]);
    const [once, both] = [valuesOf(), valuesOf({ ...twice, calls: own })];
    for (const id of ['max_parallel', 'sequential_tokens', 'billed_once_tokens'] as const)
      expect(both[id].value).toBe(once[id].value);
  });

  test('leaves queries without a count out and says so', () => {
    const { sequential_tokens } = valuesOf({
      queries: [debate, changed(plain, { sequential_tokens: null })],
    });
    expect(sequential_tokens).toMatchObject({
      value: 13,
      lo: null,
      n: 1,
      note: '1 queries without a count are left out',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [why: string, id: MetricId, changes: Changes, reason: string]>([
    ['an older run noted no prefixes',  'billed_once_tokens',      { calls: calls.map((c) => ({ ...c, shared_prefix_tokens: null })) },             'tokens_unknown'],
    ['no table of calls is on record',  'billed_once_tokens',      { calls: null },                                                               'tokens_unknown'],
    ['no table of calls is on record',  'max_parallel',            { calls: null },                                                               'no_call_has_it'],
    ['a server that tells of no cache', 'cached_tokens_per_query', { queries: [debate, plain].map((q) => changed(q, { cached_tokens: null })) },   'tokens_unknown'],
    ['nothing ran',                     'sequential_tokens',       { queries: [], calls: [] },                                                    'no_calls'],
  ])('is missing where %s (%s)', (_, id, changes, reason) => {
    expect(valuesOf(changes)[id]).toMatchObject({ value: null, lo: null, hi: null, reason });
  });

  test('of queries of one call each needs no table of calls for how many were in flight', () => {
    expect(valuesOf({ queries: [plain], calls: null }).max_parallel.value).toBe(1);
  });

  test('has its spread over repeats', () => {
    const queries = [0, 1, 2].map((repeat) =>
      queryRow('i0', [repeat, repeat + 0.5], { repeat, sequential_tokens: 4 + repeat }),
    );
    const { spread } = valuesOf({ queries, calls: queries.map((q) => callRow(q)) }).sequential_tokens;
    expect(spread).toMatchObject({ sd: 1, repeats: 3 });
  });
});
