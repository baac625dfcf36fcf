import { type SampleColumns, type SampleEvent, sampleEvents } from '@perwatt/core';
import {
  type Dictionary,
  type Float64,
  type Int64,
  makeData,
  type RecordBatch,
  type Schema,
  type Uint16,
  type Utf8,
} from 'apache-arrow';
import { batchOf, type Dictionaries, validity } from './encode-rows.js';
import { NameDictionary } from './name-dictionary.js';

/** What the index columns of `SampleColumns` point into. */
export interface SampleNames {
  /** Ids of the recorder's domains, in its order. */
  readonly domains: readonly string[];
  /** Vendor's unit of `raw`, by domain. */
  readonly raw_units: readonly string[];
}

/** Samples as they wait for a batch. */
export interface SampleChunk {
  readonly columns: SampleColumns;
  readonly names: SampleNames;
}

type ColumnName = keyof SampleColumns;

/** Throws a `TypeError` when the columns differ in length, or an index or a number isn't one. */
export function checkSamples({ columns, names }: SampleChunk): void {
  const length = columns.at_ns.length;
  for (const [name, values] of Object.entries(columns)) {
    if (values.length !== length) {
      throw new TypeError(`samples: column "${name}" has ${values.length} entries, at_ns has ${length}`);
    }
  }
  if (names.raw_units.length !== names.domains.length) {
    throw new TypeError(`samples: ${names.domains.length} domains, but ${names.raw_units.length} units`);
  }
  checkEvery('domain', columns, (v) => v < names.domains.length);
  checkEvery('event', columns, (v) => v < sampleEvents.length);
  for (const name of ['read_ns', 'booked_energy_j', 'booked_lo_j', 'booked_hi_j'] as const) {
    checkEvery(name, columns, Number.isFinite);
  }
  for (let i = 0; i < length; i++) {
    if (columns.power_valid[i] === 1 && !Number.isFinite(columns.power_w[i])) {
      throw new TypeError(`samples: column "power_w" is ${columns.power_w[i]} at ${i}`);
    }
  }
}

type NumberColumn = Exclude<ColumnName, 'at_ns' | 'raw'>;

function checkEvery(name: NumberColumn, columns: SampleColumns, ok: (value: number) => boolean): void {
  const values = columns[name];
  for (let i = 0; i < values.length; i++) {
    if (!ok(values[i] ?? Number.NaN))
      throw new TypeError(`samples: column "${name}" is ${values[i]} at ${i}`);
  }
}

/** The columns of one record batch, made without row objects. `chunks` have passed `checkSamples`. */
export function encodeSamples(
  chunks: readonly SampleChunk[],
  { schema, dictionaries }: { readonly schema: Schema; readonly dictionaries: Dictionaries },
): RecordBatch {
  const length = chunks.reduce((n, c) => n + c.columns.at_ns.length, 0);
  const join = <A extends Float64Array | BigInt64Array | Uint8Array>(out: A, name: ColumnName): A => {
    let at = 0;
    for (const { columns } of chunks) {
      out.set(columns[name] as never, at);
      at += columns[name].length;
    }
    return out;
  };
  const floats = (name: ColumnName) => join(new Float64Array(length), name);
  const bigs = (name: ColumnName) => join(new BigInt64Array(length), name);
  const nulls = (name: ColumnName) => {
    const valid = join(new Uint8Array(length), name);
    return validity(length, (i) => valid[i] !== 1);
  };
  const named = (column: NamedColumn) => {
    const dictionary = dictionaries.get(column) ?? new NameDictionary();
    const data = new Uint16Array(length);
    let at = 0;
    for (const chunk of chunks) at = placeNames(chunk, column, { dictionary, data, at });
    return { data, dictionary: dictionary.vector() };
  };
  const [at_ns, read_ns, domain, raw, unit, event, booked, lo, hi, power] = schema.fields.map((f) => f.type);
  const all = { length, nullCount: 0 };
  return batchOf(schema, length, [
    makeData({ type: at_ns as Int64, ...all, data: bigs('at_ns') }),
    makeData({ type: read_ns as Float64, ...all, data: floats('read_ns') }),
    makeData({ type: domain as Dictionary<Utf8, Uint16>, ...all, ...named('domain') }),
    makeData({ type: raw as Int64, length, ...nulls('raw_valid'), data: bigs('raw') }),
    makeData({ type: unit as Dictionary<Utf8, Uint16>, ...all, ...named('unit') }),
    makeData({ type: event as Dictionary<Utf8, Uint16>, ...all, ...named('event') }),
    makeData({ type: booked as Float64, ...all, data: floats('booked_energy_j') }),
    makeData({ type: lo as Float64, ...all, data: floats('booked_lo_j') }),
    makeData({ type: hi as Float64, ...all, data: floats('booked_hi_j') }),
    makeData({ type: power as Float64, length, ...nulls('power_valid'), data: floats('power_w') }),
  ]);
}

type NamedColumn = 'domain' | 'unit' | 'event';

interface Placement {
  readonly dictionary: NameDictionary;
  readonly data: Uint16Array;
  readonly at: number;
}

/** Writes the dictionary indices of one chunk from `at` on; returns where the next chunk's begin. */
function placeNames(
  { columns, names }: SampleChunk,
  column: NamedColumn,
  { dictionary, data, at }: Placement,
): number {
  const [indices, words] = wordsOf(column, columns, names);
  const places = new Int32Array(words.length).fill(-1);
  for (let i = 0; i < indices.length; i++) {
    const index = indices[i] ?? 0;
    if (places[index] === -1) places[index] = dictionary.indexOf(words[index] ?? '');
    data[at + i] = places[index] ?? 0;
  }
  return at + indices.length;
}

function wordsOf(
  column: NamedColumn,
  columns: SampleColumns,
  { domains, raw_units }: SampleNames,
): readonly [Uint8Array | Uint16Array, readonly string[] | readonly SampleEvent[]] {
  if (column === 'event') return [columns.event, sampleEvents];
  return [columns.domain, column === 'domain' ? domains : raw_units];
}

/** Cuts chunks into groups of at most `most` samples, in order, without copying. */
export function* groupSamples(chunks: readonly SampleChunk[], most: number): Generator<SampleChunk[]> {
  let group: SampleChunk[] = [];
  let room = most;
  for (const { columns, names } of chunks) {
    for (let at = 0; at < columns.at_ns.length; ) {
      const end = Math.min(columns.at_ns.length, at + room);
      group.push({ columns: slice(columns, at, end), names });
      room -= end - at;
      at = end;
      if (room > 0) continue;
      yield group;
      group = [];
      room = most;
    }
  }
  if (group.length > 0) yield group;
}

const slice = (c: SampleColumns, start: number, end: number): SampleColumns => ({
  at_ns: c.at_ns.subarray(start, end),
  read_ns: c.read_ns.subarray(start, end),
  domain: c.domain.subarray(start, end),
  raw: c.raw.subarray(start, end),
  raw_valid: c.raw_valid.subarray(start, end),
  event: c.event.subarray(start, end),
  booked_energy_j: c.booked_energy_j.subarray(start, end),
  booked_lo_j: c.booked_lo_j.subarray(start, end),
  booked_hi_j: c.booked_hi_j.subarray(start, end),
  power_w: c.power_w.subarray(start, end),
  power_valid: c.power_valid.subarray(start, end),
});
