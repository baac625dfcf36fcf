import { type Column, type TableName, tables } from '@perwatt/core';
import type { ArraysOf } from './table-arrays.js';

type Rows = readonly Readonly<Record<string, unknown>>[];

const numberArrays = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  float64: Float64Array,
} as const;

/** Rows as the typed arrays that hold the same; names come in the order they first appear, after `before`. */
export function arraysOf<T extends TableName>(
  table: T,
  rows: readonly object[],
  before: readonly string[] = [],
): ArraysOf<(typeof tables)[T]> {
  const columns = Object.entries<Column>(tables[table]).map(([name, column]) => [
    name,
    arrayOf(
      column,
      (rows as Rows).map((row) => row[name]),
      before,
    ),
  ]);
  return Object.fromEntries(columns);
}

function arrayOf({ type, nullable }: Column, values: readonly unknown[], before: readonly string[]): object {
  const valid = nullable ? { valid: Uint8Array.from(values, (v) => (v === null ? 0 : 1)) } : {};
  switch (type) {
    case 'name': {
      const texts = values as readonly (string | null)[];
      const names = [...new Set([...before, ...texts.filter((text) => text !== null)])];
      const indices = Uint16Array.from(texts, (text) => (text === null ? 0 : names.indexOf(text)));
      return { indices, names, ...valid };
    }
    case 'text': {
      const parts = values.map((v) => Buffer.from((v ?? '') as string));
      return { offsets: offsetsOf(parts.map((p) => p.length)), bytes: Buffer.concat(parts), ...valid };
    }
    case 'list_float64': {
      const lists = values.map((v) => (v ?? []) as number[]);
      return {
        offsets: offsetsOf(lists.map((l) => l.length)),
        values: Float64Array.from(lists.flat()),
        ...valid,
      };
    }
    case 'bool':
      return { values: Uint8Array.from(values, (v) => (v === true ? 1 : 0)), ...valid };
    case 'int64':
      return { values: BigInt64Array.from(values, (v) => (v ?? 0n) as bigint), ...valid };
    case 'uint64':
      return { values: BigUint64Array.from(values, (v) => (v ?? 0n) as bigint), ...valid };
    default: {
      const numbers = values.map((v) => (v ?? 0) as number);
      return { values: new numberArrays[type](numbers), ...valid };
    }
  }
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) offsets[i + 1] = (offsets[i] ?? 0) + (lengths[i] ?? 0);
  return offsets;
}
