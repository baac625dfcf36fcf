import type { Arrivals } from '@perwatt/core';
import { PerwattError } from '@perwatt/core';
import type { TraceTable } from '@perwatt/datasets';
import { drawSchedule, type LoadRowArrays, sharedNumbers, sharedRows, traceSchedule } from '@perwatt/harness';

/** What the rows of a trace are made into calls with. */
export interface TraceCalls {
  /** Null for a closed loop. */
  readonly arrivals: Arrivals | null;
  readonly seed: number;
  /** Lengths for rows that the trace has none for. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** The calls of a trace, in order of their due times. Throws `INPUT_INVALID` where the trace lacks times or lengths. */
export function rowsOfTrace(table: TraceTable, options: TraceCalls): LoadRowArrays {
  const { arrivals } = options;
  const { indices, due_ns } = dueTimes(table, options);
  const rows = sharedRows(indices.length, { timed: false });
  for (const [i, index] of indices.entries()) {
    rows.row[i] = table.row(index).row;
    rows.input_tokens[i] = lengthOf(table.input_tokens(index), options.input_tokens, 'input');
    rows.output_tokens[i] = lengthOf(table.output_tokens(index), options.output_tokens, 'output');
  }
  return {
    ...rows,
    due_ns: arrivals === null ? rows.due_ns : due_ns,
    blocks: blocksOf(table, indices),
  };
}

interface Due {
  /** Of the rows in the table. */
  readonly indices: Uint32Array;
  readonly due_ns: Float64Array;
}

function dueTimes(table: TraceTable, { arrivals, seed }: TraceCalls): Due {
  const all = (length: number) => Uint32Array.from({ length }, (_, i) => i);
  if (arrivals === null) return { indices: all(table.length), due_ns: new Float64Array() };
  if (arrivals.kind !== 'trace') {
    const { due_ns } = drawSchedule(arrivals, { count: table.length, seed });
    return { indices: all(due_ns.length), due_ns };
  }
  const { row, due_ns } = traceSchedule(traceTimes(table), arrivals);
  return { indices: row, due_ns };
}

/** Times of a trace's calls, ns from its first. Throws `INPUT_INVALID` for a trace without times. */
export function traceTimes(table: TraceTable): Float64Array {
  return Float64Array.from({ length: table.length }, (_, i) => {
    const at = table.at_ns(i);
    if (at !== null) return Number(at);
    throw new PerwattError('INPUT_INVALID', `trace ${table.meta.path} holds no times`, {
      hint: 'Give `--rate`, or `--shape closed` with `--concurrency`.',
    });
  });
}

function lengthOf(tokens: number | null, otherwise: number | null, which: 'input' | 'output'): number {
  const length = tokens ?? otherwise;
  if (length !== null) return length;
  throw new PerwattError('INPUT_INVALID', `the trace does not say the ${which} length of every call`, {
    hint: `Give \`--${which}-tokens\`, or count them once with \`perwatt trace convert\`.`,
  });
}

function blocksOf(table: TraceTable, indices: Uint32Array): LoadRowArrays['blocks'] {
  const { block_tokens } = table.meta;
  if (block_tokens === null) return null;
  const offsets = sharedNumbers(indices.length + 1);
  for (const [i, index] of indices.entries()) {
    offsets[i + 1] = (offsets[i] ?? 0) + table.hash_ids(index).length;
  }
  const ids = new Float64Array(new SharedArrayBuffer(8 * (offsets[indices.length] ?? 0)));
  for (const [i, index] of indices.entries()) ids.set(table.hash_ids(index), offsets[i]);
  return { offsets, ids, block_tokens };
}
