import { type Message, PerwattError, type TraceMeta, type ZeroOutputPolicy } from '@perwatt/core';
import type { TextStore } from './text-store.js';
import { type RawRow, type TraceColumns, traceColumns } from './trace-columns.js';
import { badRow } from './trace-errors.js';

/** Where a reader puts what it finds. */
export interface TraceSink {
  /** Whether as many calls as wanted are there; reading may stop. */
  readonly full: () => boolean;
  /** The calls of the record at a line. What `make` throws as `TRACE_INVALID` is the record's fault. */
  readonly add: (line: number, make: () => readonly RawRow[]) => void;
  /** A record that can't be read at all. */
  readonly bad: (line: number, error: PerwattError) => void;
  /** A sentence for the trace's notes, with how often it happened. */
  readonly note: (sentence: string) => void;
}

export interface SinkOptions {
  readonly path: string;
  readonly zeroOutput: ZeroOutputPolicy;
  readonly skipBad: boolean;
  readonly limit: number;
  readonly blockTokens: number | null;
  readonly texts: TextStore | null;
}

/** What was read, still in order of the file. */
export interface Sunk {
  readonly columns: TraceColumns;
  readonly counts: Pick<TraceMeta, 'bad_rows' | 'zero_output_rows' | 'notes'>;
  /** The stamp, as written, of the earliest call. */
  readonly firstStamp: () => string | null;
}

/** A sink that keeps rows by the options, and what it has kept. */
export function traceSink(options: SinkOptions): { readonly sink: TraceSink; readonly sunk: () => Sunk } {
  const columns = traceColumns(options.blockTokens, options.texts);
  const notes = new Map<string, number>();
  const seen = { rows: 0, bad: 0, zero: 0 };
  let earliest: { readonly at: bigint; readonly stamp: string | null } | null = null;
  let carried: readonly Message[] = [];
  let begun = false;
  let timed: boolean | null = null;

  const bad = (line: number, error: PerwattError) => {
    if (!options.skipBad) throw placed(options.path, line, error);
    seen.bad += 1;
    seen.rows += 1;
  };
  const keep = (raw: RawRow) => {
    if (raw.at !== null && (earliest === null || raw.at < earliest.at))
      earliest = { at: raw.at, stamp: raw.stamp };
    columns.add(withCarried(raw, carried), seen.rows++);
    carried = [];
    begun = true;
  };
  const skip = (raw: RawRow) => {
    seen.rows += 1;
    carried = [...carried, ...(raw.text?.messages ?? [])];
  };
  const take = (raw: RawRow) => {
    if (columns.length() >= options.limit) return;
    if (raw.follows === undefined) {
      carried = [];
      begun = false;
    }
    if (raw.output !== 0) return keep(linked(raw, begun));
    seen.zero += 1;
    if (options.zeroOutput === 'skip') return skip(raw);
    keep({ ...linked(raw, begun), output: options.zeroOutput === 'keep' ? 0 : 1 });
  };
  return {
    sink: {
      full: () => columns.length() >= options.limit,
      add: (line, make) => {
        const rows = attempt(make, (error) => bad(line, error));
        for (const raw of rows) {
          timed ??= raw.at !== null;
          if (timed === (raw.at !== null)) take(raw);
          else
            bad(line, badRow(timed ? 'the call has no time' : 'the call has a time, those before have none'));
        }
      },
      bad,
      note: (sentence) => notes.set(sentence, (notes.get(sentence) ?? 0) + 1),
    },
    sunk: () => ({
      columns,
      counts: {
        bad_rows: seen.bad,
        zero_output_rows: seen.zero,
        notes: [...notes].map(([sentence, count]) => `${sentence} (${count} times)`),
      },
      firstStamp: () => earliest?.stamp ?? null,
    }),
  };
}

function attempt(make: () => readonly RawRow[], failed: (error: PerwattError) => void): readonly RawRow[] {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PerwattError) || error.code !== 'TRACE_INVALID') throw error;
    failed(error);
    return [];
  }
}

/** A turn whose conversation has no kept turn before it begins there. */
function linked(raw: RawRow, begun: boolean): RawRow {
  if (begun || raw.follows === undefined) return raw;
  const { follows: _, ...root } = raw;
  return root;
}

/** The messages of turns that were left out belong to the turn that goes on from them. */
const withCarried = (raw: RawRow, carried: readonly Message[]): RawRow =>
  raw.text === undefined || carried.length === 0
    ? raw
    : { ...raw, text: { ...raw.text, messages: [...carried, ...raw.text.messages] } };

const placed = (path: string, line: number, error: PerwattError) =>
  new PerwattError('TRACE_INVALID', `${path}:${line}: ${error.message}`, { cause: error.cause });
