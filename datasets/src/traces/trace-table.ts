import type { Message, TraceMeta, TraceRow, TraceText } from '@perwatt/core';
import type { TraceColumns, TraceField } from './trace-columns.js';

/**
 * A trace in memory, its rows in order of time (ties in order of the file): a few bytes a row, a `TraceRow` made only when
 * asked for. Indices run from 0 to `length`; a getter beyond that answers as for an absent value.
 */
export interface TraceTable {
  readonly meta: TraceMeta;
  readonly length: number;
  /** Fields that at least one row has. */
  readonly present: ReadonlySet<TraceField>;
  /** Without its text. */
  readonly row: (index: number) => TraceRow;
  readonly rows: () => Generator<TraceRow, void, undefined>;
  readonly at_ns: (index: number) => bigint | null;
  readonly input_tokens: (index: number) => number | null;
  readonly output_tokens: (index: number) => number | null;
  /** Ids of the row's blocks; empty where it has none. */
  readonly hash_ids: (index: number) => readonly number[];
  /** Index of the row that this one goes on from; null where it begins, or its parent isn't in the trace. */
  readonly parent: (index: number) => number | null;
  /** What the row added; null where the trace carries no text, or it wasn't kept. */
  readonly text: (index: number) => TraceText | null;
  /** The whole prompt: what the row and all before it in its conversation said and were answered. Null as for `text`. */
  readonly prompt: (index: number) => readonly Message[] | null;
}

/** The columns of a file as a table. `order` holds their slots in order of time, or is null when that is the file's. */
export function traceTable(columns: TraceColumns, meta: TraceMeta, order: Uint32Array | null): TraceTable {
  const length = columns.length();
  const slotOf = (index: number) => (order === null ? index : (order[index] ?? length));
  const indexOf = order === null ? (slot: number) => slot : inverse(order);
  const start = length === 0 || !columns.present.has('at_ns') ? null : columns.at(slotOf(0));
  const atNs = (index: number) => (start === null ? null : columns.at(slotOf(index)) - start);

  const hashIds = (index: number) => {
    const slot = slotOf(index);
    return Array.from({ length: columns.hashCount(slot) ?? 0 }, (_, i) => columns.hash(slot, i));
  };
  const row = (index: number): TraceRow => {
    const slot = slotOf(index);
    const parent = columns.parent(slot);
    return {
      row: columns.row(slot),
      at_ns: atNs(index),
      input_tokens: columns.input(slot),
      output_tokens: columns.output(slot),
      ...(columns.hashCount(slot) === null ? {} : blocks(hashIds(index), columns.blockTokens())),
      ...columns.rest(slot),
      ...(parent === null ? {} : { parent_row: columns.row(parent) }),
    };
  };
  return {
    meta,
    length,
    present: columns.present,
    row,
    *rows() {
      for (let i = 0; i < length; i++) yield row(i);
    },
    at_ns: atNs,
    input_tokens: (index) => columns.input(slotOf(index)),
    output_tokens: (index) => columns.output(slotOf(index)),
    hash_ids: hashIds,
    parent: (index) => {
      const slot = columns.parent(slotOf(index));
      return slot === null ? null : indexOf(slot);
    },
    text: (index) => columns.text(slotOf(index)),
    prompt: (index) => promptOf(columns, slotOf(index)),
  };
}

const blocks = (hash_ids: readonly number[], block_tokens: number | null) =>
  block_tokens === null ? { hash_ids } : { hash_ids, block_tokens };

function inverse(order: Uint32Array): (slot: number) => number {
  let indices: Uint32Array | null = null;
  return (slot) => {
    if (indices === null) {
      indices = new Uint32Array(order.length);
      for (const [index, at] of order.entries()) indices[at] = index;
    }
    return indices[slot] ?? 0;
  };
}

function promptOf(columns: TraceColumns, slot: number): readonly Message[] | null {
  const own = columns.text(slot);
  if (own === null) return null;
  const turns: (readonly Message[])[] = [own.messages];
  for (let before = columns.parent(slot); before !== null; before = columns.parent(before)) {
    const text = columns.text(before);
    if (text === null) return null;
    const answer: readonly Message[] =
      text.answer === null ? [] : [{ role: 'assistant', content: text.answer }];
    turns.push([...text.messages, ...answer]);
  }
  return turns.reverse().flat();
}
