import { blindEvents, type RowOf, type TableName, type tables } from '@perwatt/core';
import type { RecordBatch } from 'apache-arrow';
import { decodeRows, namesOf } from './decode-rows.js';
import type { SegmentEntry } from './manifest.js';
import { type SegmentInfo, scanSegment } from './scan-segment.js';

/** What could be read of one segment. */
export interface SegmentContent<T extends TableName> {
  /** Rows of every whole batch, in order. */
  readonly rows: RowOf<(typeof tables)[T]>[];
  readonly info: SegmentInfo;
}

/** The rows of a segment. A torn tail costs only the batch it lies in, and is named in `info.torn`. Throws as `scanSegment`. */
export function readSegment<T extends TableName>(
  path: string,
  table: T,
  entry?: SegmentEntry,
): SegmentContent<T> {
  const rows: RowOf<(typeof tables)[T]>[] = [];
  const onBatch = (batch: RecordBatch) => {
    for (const row of decodeRows(batch, table)) rows.push(row);
  };
  const info = scanSegment(path, { table, entry, onBatch });
  return { rows, info };
}

/**
 * The booked energy of one domain over time. Times grow: a sample that isn't later than the one before is left out, and
 * so is one that no reading stands behind, so that time without readings shows as a gap and not as time without power.
 */
export interface SampleSeries {
  /** ns on the run's clock. */
  readonly at_ns: BigInt64Array;
  /** J since the recorder's start: best estimate and bounds. */
  readonly booked_j: Float64Array;
  readonly lo_j: Float64Array;
  readonly hi_j: Float64Array;
}

/** What could be read of one segment of samples. */
export interface SampleContent {
  /** By domain id, in the order they first appear. */
  readonly series: ReadonlyMap<string, SampleSeries>;
  readonly info: SegmentInfo;
}

export interface ColumnsOptions {
  /** Samples to make room for in each series at first: what is never filled takes no memory. Default 256. */
  readonly room?: number;
  /** Puts the arrays into memory that threads can share. Default false. */
  readonly shared?: boolean;
}

/** The samples of a segment by domain, as typed arrays. Torn tails as in `readSegment`. */
export function readColumns(
  path: string,
  entry?: SegmentEntry,
  { room = 256, shared = false }: ColumnsOptions = {},
): SampleContent {
  const growing = new Map<string, GrowingSeries>();
  const make: Make = (length) => empty(Math.max(length, room), shared);
  const onBatch = (batch: RecordBatch) => addBatch(growing, batch, make);
  const info = scanSegment(path, { table: 'samples', entry, onBatch });
  const series = new Map([...growing].map(([domain, g]) => [domain, take(g, g.length)]));
  return { series, info };
}

const blind: ReadonlySet<string> = blindEvents;

interface GrowingSeries {
  columns: SampleSeries;
  length: number;
  /** Arrays of a length. */
  readonly make: Make;
}

function columnOf(batch: RecordBatch, name: string) {
  const data = batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)];
  if (data === undefined) throw new Error(`column "${name}" is missing`);
  return data;
}

const isLater = (at: bigint, { columns, length }: GrowingSeries): boolean =>
  length === 0 || at > (columns.at_ns[length - 1] ?? 0n);

type Make = (length: number) => SampleSeries;

function addBatch(growing: Map<string, GrowingSeries>, batch: RecordBatch, make: Make): void {
  const column = (name: string) => columnOf(batch, name);
  const domains = column('domain');
  const indices: Uint16Array = domains.values;
  const at_ns: BigInt64Array = column('at_ns').values;
  const booked_j: Float64Array = column('booked_energy_j').values;
  const lo_j: Float64Array = column('booked_lo_j').values;
  const hi_j: Float64Array = column('booked_hi_j').values;
  const events = column('event');
  const indexOfEvent: Uint16Array = events.values;
  const isBlind = namesOf(events).map((name) => blind.has(name));
  const targets = namesOf(domains).map((name) => {
    const series = growing.get(name) ?? { columns: make(0), length: 0, make };
    growing.set(name, series);
    return series;
  });
  for (let i = 0; i < batch.numRows; i++) {
    const at = at_ns[i] ?? 0n;
    const series = targets[indices[i] ?? 0];
    if (series === undefined) throw new RangeError(`name ${indices[i]} of ${targets.length}`);
    if (isBlind[indexOfEvent[i] ?? 0] === true || !isLater(at, series)) continue;
    put(series, at, [booked_j[i] ?? 0, lo_j[i] ?? 0, hi_j[i] ?? 0]);
  }
}

function put(series: GrowingSeries, at: bigint, [booked, lo, hi]: readonly [number, number, number]): void {
  const end = series.length;
  if (end === series.columns.at_ns.length) series.columns = enlarged(series);
  const { columns } = series;
  columns.at_ns[end] = at;
  columns.booked_j[end] = booked;
  columns.lo_j[end] = lo;
  columns.hi_j[end] = hi;
  series.length = end + 1;
}

/** A copy with twice the room. */
function enlarged({ columns: old, make }: GrowingSeries): SampleSeries {
  const grown = make(2 * old.at_ns.length);
  grown.at_ns.set(old.at_ns);
  grown.booked_j.set(old.booked_j);
  grown.lo_j.set(old.lo_j);
  grown.hi_j.set(old.hi_j);
  return grown;
}

function empty(length: number, shared: boolean): SampleSeries {
  const memory = (bytes: number) => (shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  return {
    at_ns: new BigInt64Array(memory(8 * length)),
    booked_j: new Float64Array(memory(8 * length)),
    lo_j: new Float64Array(memory(8 * length)),
    hi_j: new Float64Array(memory(8 * length)),
  };
}

const take = ({ columns }: GrowingSeries, length: number): SampleSeries => ({
  at_ns: columns.at_ns.subarray(0, length),
  booked_j: columns.booked_j.subarray(0, length),
  lo_j: columns.lo_j.subarray(0, length),
  hi_j: columns.hi_j.subarray(0, length),
});
