import type { TurnArrays } from './turn-arrays.js';

/**
 * The calls of a load as workers share them: a few typed arrays over shared memory, an entry a call in order of their due
 * times.
 */
export interface LoadRowArrays {
  /** The lasting number of each call: its row in the trace. */
  readonly row: Uint32Array;
  /** ns from the start of the load; empty in a closed loop. */
  readonly due_ns: Float64Array;
  readonly input_tokens: Uint32Array;
  readonly output_tokens: Uint32Array;
  /** Ids of the blocks each prompt begins with, one call behind the other; null where there are none. */
  readonly blocks: {
    readonly offsets: Uint32Array;
    readonly ids: Float64Array;
    readonly block_tokens: number;
  } | null;
  /** Conversations and texts of the trace; null or absent where there are none. */
  readonly turns?: TurnArrays | null;
}

/** Space for `count` calls in shared memory, with due times or without. */
export function sharedRows(
  count: number,
  { timed }: { readonly timed: boolean } = { timed: true },
): Omit<LoadRowArrays, 'blocks' | 'turns'> {
  return {
    row: sharedNumbers(count),
    due_ns: new Float64Array(new SharedArrayBuffer(timed ? 8 * count : 0)),
    input_tokens: sharedNumbers(count),
    output_tokens: sharedNumbers(count),
  };
}

export const sharedNumbers = (count: number): Uint32Array =>
  new Uint32Array(new SharedArrayBuffer(4 * count));

/** A set of row numbers, a bit each. */
export interface RowSet {
  readonly size: number;
  has(row: number): boolean;
  /** Whether it is new. */
  add(row: number): boolean;
}

export function createRowSet(): RowSet {
  let bits = new Uint8Array(1024);
  let size = 0;
  const has = (row: number) => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  return {
    get size() {
      return size;
    },
    has,
    add(row) {
      if (has(row)) return false;
      if (row >> 3 >= bits.length) {
        const grown = new Uint8Array(Math.max(2 * bits.length, (row >> 3) + 1));
        grown.set(bits);
        bits = grown;
      }
      bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
      size += 1;
      return true;
    },
  };
}

/** The calls whose rows are not in `done`, the first of them due at once. */
export function remainingRows(rows: LoadRowArrays, done: RowSet): LoadRowArrays {
  if (done.size === 0) return rows;
  const kept = [...indicesLeft(rows.row, done)];
  const left = sharedRows(kept.length);
  const open = rows.due_ns.length > 0;
  const zero = rows.due_ns[kept[0] ?? 0] ?? 0;
  for (const [to, from] of kept.entries()) {
    left.row[to] = rows.row[from] ?? 0;
    left.input_tokens[to] = rows.input_tokens[from] ?? 0;
    left.output_tokens[to] = rows.output_tokens[from] ?? 0;
    if (open) left.due_ns[to] = (rows.due_ns[from] ?? 0) - zero;
  }
  const due_ns = open ? left.due_ns : new Float64Array(new SharedArrayBuffer(0));
  return { ...left, due_ns, blocks: blocksOf(rows, kept), turns: turnsOf(rows, kept) };
}

function turnsOf({ turns }: LoadRowArrays, kept: readonly number[]): TurnArrays | null {
  if (turns === undefined || turns === null) return null;
  const slot = sharedNumbers(kept.length);
  for (const [to, from] of kept.entries()) slot[to] = turns.slot[from] ?? 0;
  return { ...turns, slot };
}

function* indicesLeft(row: Uint32Array, done: RowSet): Generator<number> {
  for (let i = 0; i < row.length; i++) if (!done.has(row[i] ?? 0)) yield i;
}

function blocksOf({ blocks }: LoadRowArrays, kept: readonly number[]): LoadRowArrays['blocks'] {
  if (blocks === null) return null;
  const offsets = sharedNumbers(kept.length + 1);
  for (const [to, from] of kept.entries()) {
    offsets[to + 1] = (offsets[to] ?? 0) + (blocks.offsets[from + 1] ?? 0) - (blocks.offsets[from] ?? 0);
  }
  const ids = new Float64Array(new SharedArrayBuffer(8 * (offsets[kept.length] ?? 0)));
  for (const [to, from] of kept.entries())
    ids.set(blocks.ids.subarray(blocks.offsets[from], blocks.offsets[from + 1]), offsets[to]);
  return { offsets, ids, block_tokens: blocks.block_tokens };
}
