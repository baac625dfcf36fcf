import { resolve } from 'node:path';
import type { TokenCounter, TraceMeta, ZeroOutputPolicy } from '@perwatt/core';
import { linkRows } from './link-rows.js';
import type { TextStore } from './text-store.js';
import type { TraceColumns } from './trace-columns.js';
import { badFile } from './trace-errors.js';
import { traceFile } from './trace-file.js';
import { readerByFormat, recognise } from './trace-formats.js';
import { traceSink } from './trace-sink.js';
import { type TraceTable, traceTable } from './trace-table.js';

export interface LoadTraceOptions {
  /** Folder that a relative path starts from. */
  readonly root: string;
  readonly zeroOutput: ZeroOutputPolicy;
  /** Declared format; recognised by header or keys unless given. */
  readonly format?: string;
  /** Leave out and count what can't be read, instead of failing at the first. */
  readonly skipBad?: boolean;
  /** Stop after so many calls of the file. */
  readonly limit?: number;
  /** Where texts are kept; without it they are left out. */
  readonly texts?: TextStore;
  /** Counts the tokens of sources that carry text. */
  readonly counter?: TokenCounter;
  readonly signal?: AbortSignal;
}

/**
 * Reads a trace into a table of a few bytes a row; the file itself is streamed. Throws `FILE_UNREADABLE`, and `TRACE_INVALID`
 * with file and line for the first row that can't be read, unless such rows are to be left out.
 */
export async function loadTrace(path: string, options: LoadTraceOptions): Promise<TraceTable> {
  const file = await traceFile(path, resolve(options.root, path), options.signal);
  const reader = options.format === undefined ? await recognise(file) : readerByFormat(options.format);
  const { sink, sunk } = traceSink({
    path,
    zeroOutput: options.zeroOutput,
    skipBad: options.skipBad === true,
    limit: options.limit ?? Number.POSITIVE_INFINITY,
    blockTokens: reader.block_tokens,
    texts: options.texts ?? null,
  });
  await reader.read(file, { sink, ...(options.counter === undefined ? {} : { counter: options.counter }) });
  const { columns, counts, firstStamp } = sunk();
  if (columns.length() === 0)
    throw badFile(path, 'no row of the trace is kept', 'Give a trace with rows, or another --zero-output.');
  const { order, unsorted } = orderOf(columns);
  linkRows(columns, order);
  const meta: TraceMeta = {
    format: reader.format,
    unit: reader.unit,
    path,
    sha256: await file.sha256(),
    bytes: file.bytes,
    rows: columns.length(),
    ...counts,
    span_ns: spanOf(columns, order),
    first_stamp: firstStamp(),
    unsorted_rows: unsorted,
    zero_output: options.zeroOutput,
    block_tokens: columns.present.has('hash_ids') ? columns.blockTokens() : null,
  };
  return traceTable(columns, meta, order);
}

/** Slots in order of time, ties in order of the file; null when that is how they stand. */
function orderOf(columns: TraceColumns): { readonly order: Uint32Array | null; readonly unsorted: number } {
  const length = columns.length();
  if (!columns.present.has('at_ns')) return { order: null, unsorted: 0 };
  let latest = columns.at(0);
  let unsorted = 0;
  for (let slot = 1; slot < length; slot++) {
    const at = columns.at(slot);
    if (at < latest) unsorted += 1;
    else latest = at;
  }
  if (unsorted === 0) return { order: null, unsorted };
  const order = Uint32Array.from({ length }, (_, slot) => slot);
  order.sort((a, b) => {
    const [x, y] = [columns.at(a), columns.at(b)];
    return x < y ? -1 : x > y ? 1 : a - b;
  });
  return { order, unsorted };
}

function spanOf(columns: TraceColumns, order: Uint32Array | null): bigint | null {
  if (!columns.present.has('at_ns')) return null;
  const last = columns.length() - 1;
  return columns.at(order?.[last] ?? last) - columns.at(order?.[0] ?? 0);
}
