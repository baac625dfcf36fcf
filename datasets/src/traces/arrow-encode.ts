import type { TraceRow } from '@perwatt/core';
import {
  type Data,
  type DataType,
  Field,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Uint32,
  Utf8,
  util,
} from 'apache-arrow';
import type { TraceField } from './trace-columns.js';

/** Schema metadata that makes a stream of ours known. */
export const ARROW_KEY = 'perwatt_trace';
export const ARROW_VERSION = 1;

const counts = ['turn', 'images', 'parent_row'] as const;
const names = ['conversation_id', 'id', 'parent_id', 'kind', 'model'] as const;

/** What goes into the stream's metadata. */
export interface ArrowAbout {
  readonly block_tokens: number | null;
  /** Where the rows come from, as JSON. */
  readonly origin: object;
}

/** An Arrow stream of rows, made batch by batch: hand each call's bytes on before the next. */
export function arrowEncoder(present: ReadonlySet<TraceField>, { block_tokens, origin }: ArrowAbout) {
  const fields = [
    new Field('row', new Uint32(), false),
    new Field('at_ns', new Int64(), true),
    new Field('input_tokens', new Uint32(), true),
    new Field('output_tokens', new Uint32(), true),
    ...counts.filter((name) => present.has(name)).map((name) => new Field(name, new Uint32(), true)),
    ...names.filter((name) => present.has(name)).map((name) => new Field(name, new Utf8(), true)),
    ...(present.has('hash_ids')
      ? [new Field('hash_ids', new List(new Field('item', new Int64(), false)), true)]
      : []),
    ...(present.has('text') ? [new Field('text', new Utf8(), true)] : []),
  ];
  const about = JSON.stringify({ version: ARROW_VERSION, block_tokens, origin });
  const schema = new Schema(fields, new Map([[ARROW_KEY, about]]));
  const writer = new PartsWriter({ autoDestroy: false });
  writer.reset(undefined, schema);
  return {
    batch: (rows: readonly TraceRow[]): Uint8Array => {
      const children = fields.map(({ name, type }) => columnData(rows, name, type as DataType));
      const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children });
      writer.write(new RecordBatch(schema, data));
      return writer.take();
    },
    end: (): Uint8Array => {
      writer.finish();
      return writer.take();
    },
  };
}

class PartsWriter extends RecordBatchStreamWriter {
  #parts: Uint8Array[] = [];

  take(): Uint8Array {
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    return bytes;
  }

  protected override _write(chunk: Parameters<typeof util.toUint8Array>[0]): this {
    const bytes = util.toUint8Array(chunk);
    if (this._started && bytes.byteLength > 0) {
      this.#parts.push(bytes);
      this._position += bytes.byteLength;
    }
    return this;
  }
}

function columnData(rows: readonly TraceRow[], name: string, type: DataType): Data {
  const values = rows.map((row) => row[name as keyof TraceRow] ?? null);
  const shape = { length: rows.length, ...validity(values) };
  switch (name) {
    case 'at_ns':
      return makeData({
        type: new Int64(),
        ...shape,
        data: BigInt64Array.from(values, (value) => (value as bigint | null) ?? 0n),
      });
    case 'hash_ids':
      return hashData(values as (readonly number[] | null)[], type, shape);
    case 'text':
      return utf8Data(
        values.map((value) => (value === null ? null : JSON.stringify(value))),
        shape,
      );
    default:
      return type instanceof Utf8
        ? utf8Data(values as (string | null)[], shape)
        : makeData({
            type: new Uint32(),
            ...shape,
            data: Uint32Array.from(values, (value) => (value as number | null) ?? 0),
          });
  }
}

interface Shape {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | null;
}

function validity(values: readonly unknown[]): Omit<Shape, 'length'> {
  const nullBitmap = new Uint8Array((values.length + 7) >> 3);
  let nullCount = 0;
  for (const [i, value] of values.entries()) {
    if (value === null) nullCount += 1;
    else nullBitmap[i >> 3] = (nullBitmap[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return { nullCount, nullBitmap: nullCount > 0 ? nullBitmap : null };
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
  return offsets;
}

function utf8Data(values: readonly (string | null)[], shape: Shape): Data {
  const parts = values.map((value) => Buffer.from(value ?? '', 'utf8'));
  const data = new Uint8Array(Buffer.concat(parts));
  const valueOffsets = offsetsOf(parts.map(({ length }) => length));
  return makeData({ type: new Utf8(), ...shape, valueOffsets, data });
}

function hashData(lists: readonly (readonly number[] | null)[], type: DataType, shape: Shape): Data {
  const data = BigInt64Array.from(
    lists.flatMap((list) => list ?? []),
    BigInt,
  );
  const child = makeData({ type: new Int64(), length: data.length, nullCount: 0, data });
  const valueOffsets = offsetsOf(lists.map((list) => list?.length ?? 0));
  return makeData({ type: type as List<Int64>, ...shape, valueOffsets, child });
}
