import { join } from 'node:path';
import { type Column, type ColumnType, messageOf, PerwattError, tables } from '@perwatt/core';
import type { Data, RecordBatch } from 'apache-arrow';
import { namesOf } from './decode-rows.js';
import { fileName } from './file-names.js';
import type { CellFile } from './manifest.js';
import { segmentFiles, type TornSegment } from './read-tables.js';
import type { RunFolder } from './run-folder.js';
import { scanSegment } from './scan-segment.js';
import type { Scratch } from './scratch.js';
import type { ArraysOf } from './table-arrays.js';

type CellTable = 'queries' | 'calls' | 'texts' | 'grades';

/** Some columns of one table of a cell: a typed array each, one entry a row, over all segments in order. */
export interface ColumnContent<T extends CellTable, N extends keyof (typeof tables)[T]> {
  readonly rows: number;
  readonly columns: Pick<ArraysOf<(typeof tables)[T]>, N>;
  readonly torn: readonly TornSegment[];
  /** Whether the folder has a segment of the table, or its cell says that it had. */
  readonly present: boolean;
  /** Segments that rows were read from, in order, and those of them that the cell doesn't list. */
  readonly segments: readonly string[];
  readonly unlisted: readonly string[];
}

interface ColumnSource<T extends CellTable> {
  readonly cell: CellFile;
  readonly table: T;
  /** Memory that the arrays may lie in: they hold until it is given out again. Fresh memory without it. */
  readonly scratch?: Scratch;
}

/**
 * Reads named columns of a cell's table without making rows. Every batch is held to its seal, which covers all columns;
 * the checksums of whole files are `verifyRun`'s to check. Torn segments give what is whole, and are named.
 */
export function readCellColumns<T extends CellTable, N extends keyof (typeof tables)[T] & string>(
  run: RunFolder,
  { cell, table, scratch }: ColumnSource<T>,
  names: readonly N[],
): ColumnContent<T, N> {
  const folder = run.cellFolder(cell.cell_id);
  const entries = cell.segments.filter((entry) => entry.table === table);
  const listed = new Map(entries.map((entry) => [fileName('segment file', entry.file), entry]));
  const specs: Readonly<Record<string, Column>> = tables[table];
  const parts: Part[] = [];
  const torn: TornSegment[] = [];
  const segments: string[] = [];
  const files = segmentFiles(folder, table);
  for (const file of files) {
    const own: Part[] = [];
    const onBatch = (batch: RecordBatch) => {
      const data = names.map((name) => dataOf(batch, name, specs[name]));
      own.push({ length: batch.numRows, data });
    };
    const problem = scanned(join(folder, file), { table, entry: listed.get(file), onBatch, scratch });
    if (problem !== null) torn.push({ file, ...problem });
    if (problem?.rows === 0 || own.length === 0) continue;
    parts.push(...own);
    segments.push(file);
  }
  const missing = [...listed.keys()].filter((file) => !files.includes(file));
  torn.push(...missing.map((file) => ({ file, reason: 'the file is missing', rows: 0 })));
  const rows = parts.reduce((sum, { length }) => sum + length, 0);
  const columns = names.map((name, i) => [name, joined(parts, i, { rows, column: specs[name], scratch })]);
  return {
    rows,
    columns: Object.fromEntries(columns) as Pick<ArraysOf<(typeof tables)[T]>, N>,
    torn,
    present: files.length > 0 || listed.size > 0,
    segments,
    unlisted: segments.filter((file) => !listed.has(file)),
  };
}

/** What is wrong with a segment, and the rows it gave all the same; null for a whole one. */
function scanned(
  path: string,
  options: Omit<Parameters<typeof scanSegment>[1], 'seals_only'>,
): Pick<TornSegment, 'reason' | 'rows'> | null {
  try {
    const { torn, rows } = scanSegment(path, { ...options, seals_only: true });
    return torn === null ? null : { reason: torn, rows };
  } catch (error) {
    if (!(error instanceof PerwattError) || error.code !== 'RUN_INVALID') throw error;
    return { reason: messageOf(error), rows: 0 };
  }
}

interface Part {
  readonly length: number;
  /** Null for a column that the batch lacks. */
  readonly data: readonly (Data | null)[];
}

function dataOf(batch: RecordBatch, name: string, column: Column | undefined): Data | null {
  const data = batch.data.children[batch.schema.fields.findIndex((field) => field.name === name)];
  if (data === undefined && column?.nullable !== true) throw new Error(`column "${name}" is missing`);
  return data ?? null;
}

interface Shape {
  readonly rows: number;
  readonly column: Column | undefined;
  readonly scratch: Scratch | undefined;
}

/** One column over all batches. */
function joined(
  parts: readonly Part[],
  at: number,
  { rows, column, scratch }: Shape,
): Record<string, unknown> {
  const type = column?.type ?? 'float64';
  const valid = validOf(parts, at, rows);
  const own = parts.map(({ length, data }) => ({ length, data: data[at] ?? null }));
  if (type === 'name') return { ...joinedNames(own, scratch?.uint16(rows) ?? new Uint16Array(rows)), valid };
  if (type === 'text') return { ...joinedTexts(own, rows), valid };
  if (type === 'list_float64') return { ...joinedLists(own, rows), valid };
  return { values: joinedValues(own, rows, type), valid };
}

interface OwnPart {
  readonly length: number;
  readonly data: Data | null;
}

/** 1 for each row with a value; null when every row has one. */
function validOf(parts: readonly Part[], at: number, rows: number): Uint8Array | null {
  if (parts.every(({ data }) => data[at]?.nullCount === 0)) return null;
  const valid = new Uint8Array(rows);
  let start = 0;
  for (const { length, data } of parts) {
    const own = data[at] ?? null;
    if (own !== null) setValid(valid, own, { start, length });
    start += length;
  }
  return valid;
}

interface Span {
  readonly start: number;
  readonly length: number;
}

function setValid(valid: Uint8Array, data: Data, { start, length }: Span): void {
  const bits: Uint8Array | undefined = data.nullCount === 0 ? undefined : data.nullBitmap;
  if (bits === undefined || bits.length === 0) valid.fill(1, start, start + length);
  else {
    for (let i = 0; i < length; i++) {
      const bit = data.offset + i;
      valid[start + i] = ((bits[bit >> 3] ?? 0) >> (bit & 7)) & 1;
    }
  }
}

type Values = Uint8Array | Uint16Array | Uint32Array | Float64Array | BigInt64Array | BigUint64Array;

const arrays = {
  bool: Uint8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float64: Float64Array,
} as const;

function joinedValues(
  parts: readonly OwnPart[],
  rows: number,
  type: Exclude<ColumnType, 'name' | 'text' | 'list_float64'>,
): Values {
  const [first] = parts;
  if (parts.length === 1 && first?.data != null && type !== 'bool')
    return (first.data.values as Values).subarray(0, rows);
  const values: Values = new arrays[type](rows);
  let start = 0;
  for (const { length, data } of parts) {
    if (data !== null && type === 'bool') {
      for (let i = 0; i < length; i++) values[start + i] = (data.values[i >> 3] >> (i & 7)) & 1;
    } else if (data !== null) values.set(data.values.subarray(0, length), start);
    start += length;
  }
  return values;
}

/** Puts each row's name's number into `indices`, 0 where it is null. */
function joinedNames(parts: readonly OwnPart[], indices: Uint16Array) {
  const numbers = new Map<string, number>();
  let start = 0;
  for (const { length, data } of parts) {
    if (data !== null) {
      const places = namesOf(data).map((name) => {
        const known = numbers.get(name) ?? numbers.size;
        numbers.set(name, known);
        return known;
      });
      placeNames(indices.subarray(start, start + length), data, places);
    } else indices.fill(0, start, start + length);
    start += length;
  }
  return { indices, names: [...numbers.keys()] };
}

/** The number of each row's name; 0 where it is null. */
function placeNames(indices: Uint16Array, data: Data, places: readonly number[]): void {
  const own: Uint16Array = data.values;
  for (let i = 0; i < indices.length; i++) {
    const place = places[own[i] ?? 0];
    if (place === undefined && data.getValid(i)) throw new RangeError(`name ${own[i]} of ${places.length}`);
    indices[i] = place ?? 0;
  }
}

function joinedTexts(parts: readonly OwnPart[], rows: number) {
  const offsets = new Int32Array(rows + 1);
  const bytes = Buffer.alloc(
    parts.length === 1 ? 0 : parts.reduce((sum, { length, data }) => sum + textBytes(data, length), 0),
  );
  const [first] = parts;
  if (parts.length === 1 && first?.data != null)
    return { offsets: first.data.valueOffsets.subarray(0, rows + 1), bytes: first.data.values };
  let [row, end] = [0, 0];
  for (const { length, data } of parts) {
    const from = data?.valueOffsets[0] ?? 0;
    if (data !== null) bytes.set(data.values.subarray(from, from + textBytes(data, length)), end);
    for (let i = 1; i <= length; i++) offsets[row + i] = end + (data?.valueOffsets[i] ?? from) - from;
    row += length;
    end += textBytes(data, length);
  }
  return { offsets, bytes };
}

const textBytes = (data: Data | null, length: number): number =>
  data === null ? 0 : (data.valueOffsets[length] ?? 0) - (data.valueOffsets[0] ?? 0);

function joinedLists(parts: readonly OwnPart[], rows: number) {
  const offsets = new Int32Array(rows + 1);
  const total = parts.reduce((sum, { length, data }) => sum + textBytes(data, length), 0);
  const values = new Float64Array(total);
  let [row, end] = [0, 0];
  for (const { length, data } of parts) {
    const from = data?.valueOffsets[0] ?? 0;
    const own: Float64Array = data?.children[0]?.values ?? new Float64Array();
    const size = textBytes(data, length);
    values.set(own.subarray(from, from + size), end);
    for (let i = 1; i <= length; i++) offsets[row + i] = end + (data?.valueOffsets[i] ?? from) - from;
    row += length;
    end += size;
  }
  return { offsets, values };
}
