import type { CallRow, QueryRow } from '@perwatt/core';
import {
  type CallColumns,
  type CellColumns,
  type Codes,
  callsOfQueries,
  codesOf,
  PARENT_LATE,
  type QueryColumns,
} from './cell-columns.js';

const numbers = <R>(rows: readonly R[], of: (row: R) => number | null): Float64Array =>
  Float64Array.from(rows, (row) => of(row) ?? Number.NaN);

const times = <R>(rows: readonly R[], origin: bigint, of: (row: R) => bigint | null): Float64Array =>
  Float64Array.from(rows, (row) => {
    const at = of(row);
    return at === null ? Number.NaN : Number(at - origin);
  });

const names = <R>(rows: readonly R[], of: (row: R) => string | null): Codes =>
  codesOf(rows.length, (i) => {
    const row = rows[i];
    return row === undefined ? null : of(row);
  });

function queryColumns(rows: readonly QueryRow[], origin: bigint): QueryColumns {
  const items = names(rows, (row) => row.item_id);
  return {
    length: rows.length,
    item: items.codes,
    items: items.names.length,
    repeat: Uint16Array.from(rows, (row) => row.repeat),
    sitting: Uint16Array.from(rows, (row) => row.sitting),
    start: times(rows, origin, (row) => row.start_ns),
    end: times(rows, origin, (row) => row.end_ns),
    scheduled: times(rows, origin, (row) => row.scheduled_ns),
    calls: Uint32Array.from(rows, (row) => row.calls),
    subject: names(rows, (row) => row.subject),
    status: names(rows, (row) => row.status),
    verdict: names(rows, (row) => row.verdict),
    score: numbers(rows, (row) => row.score),
    gross_j: numbers(rows, (row) => row.energy_gross_j),
    net_j: numbers(rows, (row) => row.energy_net_j),
    lo_j: numbers(rows, (row) => row.energy_lo_j),
    hi_j: numbers(rows, (row) => row.energy_hi_j),
    method: names(rows, (row) => row.energy_method),
    prompt_tokens: numbers(rows, (row) => row.prompt_tokens),
    completion_tokens: numbers(rows, (row) => row.completion_tokens),
    cached_tokens: numbers(rows, (row) => row.cached_tokens),
    sequential_tokens: numbers(rows, (row) => row.sequential_tokens),
    token_source: names(rows, (row) => row.token_source),
  };
}

function callColumns(rows: readonly CallRow[], query: Int32Array, origin: bigint): CallColumns {
  const own = rows.map(({ status, icl_ns }) => (status === 'ok' ? (icl_ns ?? []) : []));
  const gaps_at = new Int32Array(rows.length + 1);
  for (const [i, { length }] of own.entries()) gaps_at[i + 1] = (gaps_at[i] ?? 0) + length;
  return {
    length: rows.length,
    query,
    sitting: Uint16Array.from(rows, (row) => row.sitting),
    dispatch: times(rows, origin, (row) => row.dispatch_ns),
    end: times(rows, origin, (row) => row.end_ns),
    due: times(rows, origin, (row) => row.sched_ns),
    first_any: times(rows, origin, (row) => row.first_any_ns),
    first_content: times(rows, origin, (row) => row.first_content_ns),
    last_content: times(rows, origin, (row) => row.last_content_ns),
    ok: Uint8Array.from(rows, (row) => (row.status === 'ok' ? 1 : 0)),
    streamed: Uint8Array.from(rows, (row) => (row.events === 0 ? 0 : 1)),
    prompt_tokens: numbers(rows, (row) => row.prompt_tokens),
    completion_tokens: numbers(rows, (row) => row.completion_tokens),
    shared_prefix_tokens: numbers(rows, (row) => row.shared_prefix_tokens),
    token_source: names(rows, (row) => row.token_source),
    sent: Uint8Array.from(rows, (row) => (row.error_kind === PARENT_LATE ? 0 : 1)),
    gaps: Float64Array.from(own.flat()),
    gaps_at,
  };
}

interface Rows {
  readonly queries: readonly QueryRow[];
  /** Null where no table of calls is on record. */
  readonly calls: readonly CallRow[] | null;
}

/** Rows of a cell as columns. Calls of warm-up are left out, and so are those of queries without a row in their sitting. */
export function columnsOfRows({ queries, calls }: Rows): CellColumns {
  const origin_ns = queries[0]?.start_ns ?? 0n;
  const columns = queryColumns(queries, origin_ns);
  if (calls === null)
    return {
      origin_ns,
      queries: columns,
      calls: callsOfQueries(columns),
      calls_from: 'queries',
      unsettled: 0,
    };
  const rowOf = new Map(queries.map(({ query_id, sitting }, i) => [`${sitting} ${query_id}`, i]));
  const known = new Set(queries.map(({ query_id }) => query_id));
  const measured = calls.filter(({ phase }) => phase === 'measure');
  const settled = measured.filter(({ sitting, query_id }) => rowOf.has(`${sitting} ${query_id}`));
  const query = Int32Array.from(settled, (call) => rowOf.get(`${call.sitting} ${call.query_id}`) ?? -1);
  const open = measured.map(({ query_id }) => query_id).filter((id) => !known.has(id));
  return {
    origin_ns,
    queries: columns,
    calls: callColumns(settled, query, origin_ns),
    calls_from: 'calls',
    unsettled: new Set(open).size,
  };
}
