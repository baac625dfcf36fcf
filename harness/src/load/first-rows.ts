import type { LoadRowArrays } from './load-rows.js';

/** The first calls of a load at other due times, as many as there are of these. Nothing is copied. */
export function firstRows(rows: LoadRowArrays, due_ns: Float64Array): LoadRowArrays {
  const count = due_ns.length;
  if (count > rows.row.length) throw new RangeError(`${count} due times for ${rows.row.length} calls`);
  const { blocks, turns } = rows;
  return {
    row: rows.row.subarray(0, count),
    due_ns,
    input_tokens: rows.input_tokens.subarray(0, count),
    output_tokens: rows.output_tokens.subarray(0, count),
    blocks: blocks === null ? null : { ...blocks, offsets: blocks.offsets.subarray(0, count + 1) },
    ...(turns ? { turns: { ...turns, slot: turns.slot.subarray(0, count) } } : {}),
  };
}
