/** Kind of failure of a turn that was left out because the one it goes on from had not ended. */
export const PARENT_LATE = 'parent_late';

/** Few distinct texts: the number of each row's own, below 0 where it has none. */
export interface Codes {
  readonly codes: Int32Array;
  readonly names: readonly string[];
}

/** The queries of a cell, one entry a row. Times in ns since `origin_ns` of the cell; what is missing is NaN. */
export interface QueryColumns {
  readonly length: number;
  /** Number of the row's item, from 0 in the order items first appear. */
  readonly item: Int32Array;
  readonly items: number;
  readonly repeat: ArrayLike<number>;
  readonly sitting: ArrayLike<number>;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly scheduled: Float64Array;
  readonly calls: ArrayLike<number>;
  /** Label of the item in its data set. */
  readonly subject: Codes;
  readonly status: Codes;
  readonly verdict: Codes;
  readonly score: Float64Array;
  readonly gross_j: Float64Array;
  readonly net_j: Float64Array;
  readonly lo_j: Float64Array;
  readonly hi_j: Float64Array;
  readonly method: Codes;
  readonly prompt_tokens: Float64Array;
  readonly completion_tokens: Float64Array;
  readonly cached_tokens: Float64Array;
  readonly sequential_tokens: Float64Array;
  readonly token_source: Codes;
}

/** The calls of a cell's measured windows that belong to a query with a row in the same sitting. As `QueryColumns`. */
export interface CallColumns {
  readonly length: number;
  /** Row of the call's query. */
  readonly query: Int32Array;
  readonly sitting: ArrayLike<number>;
  readonly dispatch: Float64Array;
  readonly end: Float64Array;
  readonly due: Float64Array;
  readonly first_any: Float64Array;
  readonly first_content: Float64Array;
  readonly last_content: Float64Array;
  /** 1 for a call that ended well. */
  readonly ok: Uint8Array;
  /** 1 for a call that gave events. */
  readonly streamed: Uint8Array;
  readonly prompt_tokens: Float64Array;
  readonly completion_tokens: Float64Array;
  /** Prompt tokens that an earlier call of the same prefix began with too. */
  readonly shared_prefix_tokens: Float64Array;
  readonly token_source: Codes;
  /** 1 for a call that was sent; 0 for a turn of a conversation that was left out. */
  readonly sent: Uint8Array;
  /** Gaps between events of calls that ended well, one call's behind another's; ns. */
  readonly gaps: Float64Array;
  /** Where each call's gaps begin in `gaps`, and a last entry where they end. */
  readonly gaps_at: Int32Array;
}

/** The rows of a cell, as the engine reads them. */
export interface CellColumns {
  /** Time that the others are counted from. */
  readonly origin_ns: bigint;
  readonly queries: QueryColumns;
  readonly calls: CallColumns;
  /** `queries` where no table of calls is on record: then each query stands for its call. */
  readonly calls_from: 'calls' | 'queries';
  /** Queries that have calls in a measured window but no row. */
  readonly unsettled: number;
}

/** Codes of names row by row; null for none. */
export function codesOf(length: number, nameOf: (row: number) => string | null): Codes {
  const numbers = new Map<string, number>();
  const codes = new Int32Array(length);
  for (let i = 0; i < length; i++) {
    const name = nameOf(i);
    if (name === null) {
      codes[i] = -1;
      continue;
    }
    const known = numbers.get(name) ?? numbers.size;
    numbers.set(name, known);
    codes[i] = known;
  }
  return { codes, names: [...numbers.keys()] };
}

/** Number of a name; −2, which no row has, when there is none. */
export const codeOf = ({ names }: Codes, name: string): number => {
  const found = names.indexOf(name);
  return found < 0 ? -2 : found;
};

/** Queries in the place of calls, for a cell without a table of them: one call each, from its start to its end. */
export function callsOfQueries(queries: QueryColumns): CallColumns {
  const { length, start, end, scheduled, status } = queries;
  const failed = codeOf(status, 'failed');
  const query = new Int32Array(length);
  const ok = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    query[row] = row;
    ok[row] = status.codes[row] === failed ? 0 : 1;
  }
  const none = new Float64Array(length).fill(Number.NaN);
  return {
    length,
    query,
    sitting: queries.sitting,
    dispatch: start,
    end,
    due: scheduled,
    first_any: none,
    first_content: none,
    last_content: none,
    ok,
    streamed: new Uint8Array(length),
    prompt_tokens: queries.prompt_tokens,
    completion_tokens: queries.completion_tokens,
    shared_prefix_tokens: none,
    token_source: queries.token_source,
    sent: new Uint8Array(length).fill(1),
    gaps: new Float64Array(),
    gaps_at: new Int32Array(length + 1),
  };
}
