import {
  type CallColumns,
  type CellColumns,
  type Codes,
  callsOfQueries,
  PARENT_LATE,
  type QueryColumns,
} from '@perwatt/metrics';
import {
  type CellFile,
  type ColumnContent,
  createScratch,
  type RunFolder,
  readCellColumns,
  type Scratch,
} from '@perwatt/records';
import { mostInFlight } from './physics.js';
import { createTextIndex, type TextIndex, type Texts } from './text-index.js';

const queryNames = [
  'query_id',
  'item_id',
  'repeat',
  'sitting',
  'scheduled_ns',
  'start_ns',
  'end_ns',
  'calls',
  'subject',
  'status',
  'verdict',
  'score',
  'extracted',
  'energy_gross_j',
  'energy_net_j',
  'energy_lo_j',
  'energy_hi_j',
  'energy_method',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'sequential_tokens',
  'token_source',
] as const;

const callNames = [
  'query_id',
  'sitting',
  'phase',
  'dispatch_ns',
  'end_ns',
  'sched_ns',
  'first_any_ns',
  'first_content_ns',
  'last_content_ns',
  'status',
  'error_kind',
  'events',
  'prompt_tokens',
  'completion_tokens',
  'shared_prefix_tokens',
  'token_source',
  'icl_ns',
] as const;

/** The columns of `queries` that results are made of. */
export type QueryArrays = ColumnContent<'queries', (typeof queryNames)[number]>;
type CallArrays = ColumnContent<'calls', (typeof callNames)[number]>;

/** A cell's rows as columns, the arrays they are from, and what of its segments is not whole. */
export interface ReadCell {
  readonly columns: CellColumns;
  readonly queries: QueryArrays;
  readonly torn: readonly string[];
  /** Rows of queries that have the id of an earlier one; only looked for in several segments, a writer repeats none. */
  readonly duplicates: number;
  /** Segments with rows that the cell doesn't list. */
  readonly unlisted: readonly string[];
  /** End of the last call of a sitting, warm-up and lost ones included; null without one. */
  readonly lastEnd: (sitting: number) => bigint | null;
  /** Most calls in flight at one moment, warm-up and lost ones included; of queries where no calls are on record. */
  readonly in_flight: number;
}

/** Reads what results need of a cell: no row objects, no strings but names. */
export function readColumnsOf(run: RunFolder, cell: CellFile, scratch: Scratch = createScratch()): ReadCell {
  const queries = readCellColumns(run, { cell, table: 'queries', scratch }, queryNames);
  const calls = readCellColumns(run, { cell, table: 'calls', scratch }, callNames);
  const torn = [...queries.torn, ...calls.torn].map(
    ({ file, reason, rows }) => `${file}: ${reason}; ${rows} rows were read`,
  );
  const columns = columnsOf(queries, calls, scratch);
  const { origin_ns } = columns;
  return {
    columns,
    queries,
    torn,
    duplicates: duplicatesOf(queries),
    unlisted: [...queries.unlisted, ...calls.unlisted],
    in_flight: calls.present
      ? mostInFlight(
          since(calls.columns.dispatch_ns, origin_ns, scratch),
          since(calls.columns.end_ns, origin_ns, scratch),
        )
      : mostInFlight(columns.queries.start, columns.queries.end),
    lastEnd: (sitting) => lastEndOf(calls, sitting),
  };
}

function duplicatesOf({ segments, rows, columns }: QueryArrays): number {
  if (segments.length < 2) return 0;
  const ids = createTextIndex(columns.query_id);
  ids.addAll();
  return rows - ids.size();
}

function lastEndOf({ columns, rows }: CallArrays, sitting: number): bigint | null {
  let last: bigint | null = null;
  for (let call = 0; call < rows; call++) {
    const end = columns.end_ns.values[call] ?? 0n;
    if (columns.sitting.values[call] === sitting && (last === null || end > last)) last = end;
  }
  return last;
}

type Valid = Uint8Array | null | undefined;

interface Stamps {
  readonly values: BigInt64Array;
  readonly valid?: Valid;
}

/** Times since an origin as doubles, exact up to 104 days; NaN where there is none. Reads halves: no bigint is made. */
function since({ values, valid }: Stamps, origin: bigint, scratch: Scratch): Float64Array {
  const halves = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  const [low, high] = [Number(origin & 0xffffffffn), Number(origin >> 32n)];
  const times = scratch.float64(values.length);
  for (let i = 0; i < times.length; i++)
    times[i] = (((halves[2 * i + 1] ?? 0) | 0) - high) * 0x1_0000_0000 + ((halves[2 * i] ?? 0) - low);
  return withoutInvalid(times, valid);
}

/** Puts NaN where there is no value, in place. */
function withoutInvalid(values: Float64Array, valid: Valid): Float64Array {
  if (valid != null) for (let i = 0; i < values.length; i++) if (valid[i] === 0) values[i] = Number.NaN;
  return values;
}

interface Numbers {
  readonly values: Float64Array | Uint32Array;
  readonly valid?: Valid;
}

function numbers({ values, valid }: Numbers, scratch: Scratch): Float64Array {
  if (valid == null && values instanceof Float64Array) return values;
  const own = scratch.float64(values.length);
  own.set(values);
  return withoutInvalid(own, valid);
}

interface Names {
  readonly indices: Uint8Array | Uint16Array;
  readonly names: readonly string[];
  readonly valid?: Valid;
}

function codes({ indices, names, valid }: Names, scratch: Scratch): Codes {
  const own = scratch.int32(indices.length);
  own.set(indices);
  if (valid == null && names.length === 1 && own.length > 0) return { codes: own, names };
  if (valid != null) for (let i = 0; i < own.length; i++) if (valid[i] === 0) own[i] = -1;
  return compact(own, names);
}

/** Codes in the order in which names first appear, names without a row left out. */
function compact(own: Int32Array, names: readonly string[]): Codes {
  const places = new Int32Array(names.length).fill(-1);
  const seen: string[] = [];
  for (let i = 0; i < own.length; i++) {
    const code = own[i] ?? -1;
    if (code < 0) continue;
    if (places[code] === -1) {
      places[code] = seen.length;
      seen.push(names[code] ?? '');
    }
    own[i] = places[code] ?? -1;
  }
  return { codes: own, names: seen };
}

function columnsOf(queries: QueryArrays, calls: CallArrays, scratch: Scratch): CellColumns {
  const { columns, rows } = queries;
  const origin_ns = columns.start_ns.values[0] ?? 0n;
  const items = createTextIndex(columns.item_id);
  const item = items.addAll();
  const own: QueryColumns = {
    length: rows,
    item,
    items: items.size(),
    repeat: columns.repeat.values,
    sitting: columns.sitting.values,
    start: since(columns.start_ns, origin_ns, scratch),
    end: since(columns.end_ns, origin_ns, scratch),
    scheduled: since(columns.scheduled_ns, origin_ns, scratch),
    calls: columns.calls.values,
    subject: codes(columns.subject, scratch),
    status: codes(columns.status, scratch),
    verdict: codes(columns.verdict, scratch),
    score: numbers(columns.score, scratch),
    gross_j: numbers(columns.energy_gross_j, scratch),
    net_j: numbers(columns.energy_net_j, scratch),
    lo_j: numbers(columns.energy_lo_j, scratch),
    hi_j: numbers(columns.energy_hi_j, scratch),
    method: codes(columns.energy_method, scratch),
    prompt_tokens: numbers(columns.prompt_tokens, scratch),
    completion_tokens: numbers(columns.completion_tokens, scratch),
    cached_tokens: numbers(columns.cached_tokens, scratch),
    sequential_tokens: numbers(columns.sequential_tokens, scratch),
    token_source: codes(columns.token_source, scratch),
  };
  if (!calls.present)
    return { origin_ns, queries: own, calls: callsOfQueries(own), calls_from: 'queries', unsettled: 0 };
  const settled = settledCalls(queries, calls);
  return {
    origin_ns,
    queries: own,
    calls: callColumns(calls, settled, { origin_ns, scratch }),
    calls_from: 'calls',
    unsettled: settled.unsettled,
  };
}

interface Settled {
  /** Rows of the calls that count. */
  readonly calls: Int32Array;
  /** Row of each one's query. */
  readonly query: Int32Array;
  readonly unsettled: number;
}

/** The rows of queries by id; a later row of the same id is behind the earlier one. */
function rowsOfQueries(ids: Texts, rows: number): { index: TextIndex; first: Int32Array; next: Int32Array } {
  const index = createTextIndex(ids);
  const first = new Int32Array(rows).fill(-1);
  const next = new Int32Array(rows).fill(-1);
  for (let row = rows - 1; row >= 0; row--) {
    const number = index.add(row);
    next[row] = first[number] ?? -1;
    first[number] = row;
  }
  return { index, first, next };
}

/** Calls of the measured windows whose query has a row in the same sitting, and how many queries have calls alone. */
function settledCalls(queries: QueryArrays, { rows, columns }: CallArrays): Settled {
  const { index, first, next } = rowsOfQueries(queries.columns.query_id, queries.rows);
  const sitting = queries.columns.sitting.values;
  const measure = columns.phase.names.indexOf('measure');
  const open = createTextIndex(columns.query_id);
  const [calls, query] = [new Int32Array(rows), new Int32Array(rows)];
  const rowIn = (wanted: number, from: number): number => {
    let row = from;
    while (row >= 0 && sitting[row] !== wanted) row = next[row] ?? -1;
    return row;
  };
  let count = 0;
  for (let call = 0; call < rows; call++) {
    if (columns.phase.indices[call] !== measure) continue;
    const number = index.find(columns.query_id, call);
    if (number < 0) open.add(call);
    const row = rowIn(columns.sitting.values[call] ?? -1, first[number] ?? -1);
    if (row < 0) continue;
    calls[count] = call;
    query[count] = row;
    count += 1;
  }
  return { calls: calls.subarray(0, count), query: query.subarray(0, count), unsettled: open.size() };
}

const picked = (values: Float64Array, rows: Int32Array): Float64Array =>
  Float64Array.from(rows, (row) => values[row] ?? Number.NaN);

function callColumns(
  { columns }: CallArrays,
  { calls, query }: Settled,
  { origin_ns, scratch }: { readonly origin_ns: bigint; readonly scratch: Scratch },
): CallColumns {
  const time = (stamps: Stamps) => picked(since(stamps, origin_ns, scratch), calls);
  const good = columns.status.names.indexOf('ok');
  const sources = codes(columns.token_source, scratch);
  return {
    length: calls.length,
    query,
    sitting: Uint16Array.from(calls, (row) => columns.sitting.values[row] ?? 0),
    dispatch: time(columns.dispatch_ns),
    end: time(columns.end_ns),
    due: time(columns.sched_ns),
    first_any: time(columns.first_any_ns),
    first_content: time(columns.first_content_ns),
    last_content: time(columns.last_content_ns),
    ok: Uint8Array.from(calls, (row) => (columns.status.indices[row] === good ? 1 : 0)),
    streamed: Uint8Array.from(calls, (row) => (columns.events.values[row] === 0 ? 0 : 1)),
    prompt_tokens: picked(numbers(columns.prompt_tokens, scratch), calls),
    completion_tokens: picked(numbers(columns.completion_tokens, scratch), calls),
    shared_prefix_tokens: picked(numbers(columns.shared_prefix_tokens, scratch), calls),
    token_source: { codes: Int32Array.from(calls, (row) => sources.codes[row] ?? -1), names: sources.names },
    sent: Uint8Array.from(calls, (row) => (wasLeftOut(columns.error_kind, row) ? 0 : 1)),
    ...gapsOf(columns, calls, good),
  };
}

const wasLeftOut = ({ indices, names, valid }: CallArrays['columns']['error_kind'], row: number): boolean =>
  valid?.[row] !== 0 && names[indices[row] ?? -1] === PARENT_LATE;

function gapsOf(
  { icl_ns, status }: CallArrays['columns'],
  calls: Int32Array,
  good: number,
): Pick<CallColumns, 'gaps' | 'gaps_at'> {
  const { offsets, values } = icl_ns;
  const gaps = new Float64Array(values.length);
  const gaps_at = new Int32Array(calls.length + 1);
  let end = 0;
  for (const [call, row] of calls.entries()) {
    if (status.indices[row] === good) {
      const own = values.subarray(offsets[row] ?? 0, offsets[row + 1] ?? 0);
      gaps.set(own, end);
      end += own.length;
    }
    gaps_at[call + 1] = end;
  }
  return { gaps: gaps.subarray(0, end), gaps_at };
}
