import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arrowSchema, type SampleRow, SCHEMA_VERSION, type TextRow } from '@perwatt/core';
import { Schema, tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchOf, dictionariesOf, encodeRows } from './encode-rows.js';
import type { SegmentEntry } from './manifest.js';
import { readColumns, readSegment } from './segment-reader.js';
import { SegmentWriter } from './segment-writer.js';
import { SyncStreamWriter } from './sync-stream-writer.js';

const BATCHES = 3;
let folder = '';
let whole: Buffer = Buffer.alloc(0);
/** Bytes of the file after the schema, and after each batch. */
let ends: number[] = [];
let entry: SegmentEntry;

const textRow = (query_id: string, kind: string): TextRow => ({
  run_id: 'r1',
  cell_id: 'c1',
  query_id,
  call_id: null,
  sitting: 0,
  kind,
  text: `text of ${query_id}`,
  detail: null,
});

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-reader-'));
  const writer = SegmentWriter.create({
    folder,
    file: 'texts-0.arrows',
    table: 'texts',
    sitting: 0,
    metadata: {},
  });
  ends = [readFileSync(writer.path).byteLength];
  for (let b = 0; b < BATCHES; b++) {
    writer.append([textRow(`q${2 * b}`, `kind ${b}`), textRow(`q${2 * b + 1}`, 'answer')]);
    writer.flush();
    ends.push(readFileSync(writer.path).byteLength);
  }
  entry = writer.close();
  whole = readFileSync(writer.path);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is read of a file with these bytes. */
function read(bytes: Uint8Array, expected?: SegmentEntry) {
  const path = join(folder, 'damaged.arrows');
  writeFileSync(path, bytes);
  return readSegment(path, 'texts', expected);
}
const ids = (batches: number) => Array.from({ length: 2 * batches }, (_, i) => `q${i}`);
const blanked = (start: number, end: number) => Buffer.from(whole).fill(0, start, end);

test('a file cut at any byte keeps every batch that ended before the cut, without a throw', {
  timeout: 240_000,
}, () => {
  const path = join(folder, 'cut.arrows');
  writeFileSync(path, whole);
  for (let cut = whole.byteLength; cut >= 0; cut--) {
    truncateSync(path, cut);
    const { rows, info } = readSegment(path, 'texts');
    const kept = Math.max(0, ends.filter((end) => end <= cut).length - 1);
    expect(
      rows.map((r) => r.query_id),
      `cut at ${cut}`,
    ).toEqual(ids(kept));
    expect(info.batches).toBe(kept);
    const between = ends.includes(cut) || cut === whole.byteLength;
    expect(info.torn === null, `cut at ${cut}: ${info.torn}`).toBe(between);
    expect(info.closed).toBe(cut === whole.byteLength);
    expect(info.verified).toBe(false);
  }
});

test('with its entry, any cut is torn: also one between two batches or before the end mark', () => {
  for (const cut of [0, ...ends, whole.byteLength - 1]) {
    const { info } = read(whole.subarray(0, cut), entry);
    expect(info.torn, `cut at ${cut}`).not.toBeNull();
    expect(info.verified).toBe(false);
  }
  expect(read(whole, entry).info).toMatchObject({ torn: null, verified: true, closed: true });
});

test('a single wrong byte anywhere is found without an entry, costs no earlier batch, and never throws', {
  timeout: 240_000,
}, () => {
  const path = join(folder, 'flipped.arrows');
  writeFileSync(path, whole);
  const fd = openSync(path, 'r+');
  for (let at = 0; at < whole.byteLength; at++) {
    writeSync(fd, Uint8Array.of(whole[at]! ^ 0xff), 0, 1, at);
    const { rows, info } = readSegment(path, 'texts');
    writeSync(fd, whole, at, 1, at);
    expect(info.torn, `byte ${at}`).not.toBeNull();
    const before = ends.filter((end) => end <= at).length - 1;
    expect(rows, `byte ${at}`).toHaveLength(2 * Math.max(0, before));
  }
  closeSync(fd);
});

describe('zeros, as a power loss leaves them', () => {
  test.each(['with', 'without'] as const)(
    'in the last body are torn %s an entry, and give no rows',
    (which) => {
      const start = ends[BATCHES - 1]!;
      const { rows, info } = read(blanked(start + 600, ends[BATCHES]!), which === 'with' ? entry : undefined);
      expect(rows.map((r) => r.query_id)).toEqual(ids(BATCHES - 1));
      expect(info.torn).toMatch(/^wrong checksum of the batch at byte \d+$/);
    },
  );

  test('in the body of a dictionary spoil the batch that needs it', () => {
    const name = whole.indexOf('kind 2');
    const { rows, info } = read(blanked(name, name + 6));
    expect(rows.map((r) => r.query_id)).toEqual(ids(2));
    expect(info.torn).toMatch(/^wrong checksum/);
  });

  // biome-ignore format: a table is read in columns
  test.each<[string, () => Uint8Array, number, RegExp]>([
    ['after an unclosed stream',  () => Buffer.concat([whole.subarray(0, ends[2]), Buffer.alloc(4096)]), 2, /^no Arrow message at byte/],
    ['after a closed stream',     () => Buffer.concat([whole, Buffer.alloc(4096)]),          BATCHES,       /^4096 bytes follow the end mark$/],
    ['in place of the last batch', () => blanked(ends[BATCHES - 1]!, whole.byteLength),      BATCHES - 1,   /^no Arrow message at byte/],
    ['in a message head',         () => blanked(ends[1]! + 8, ends[1]! + 100),               1,             /^unreadable message at byte|^wrong checksum/],
    ['all over',                  () => Buffer.alloc(4096),                                  0,             /^no Arrow message at byte 0$/],
    ['none: an empty file',       () => Buffer.alloc(0),                                     0,             /^the file is empty$/],
    ['in the schema',             () => blanked(ends[0]! - 100, ends[0]!),                   0,             /^wrong checksum/],
    ['in place of the schema',    () => blanked(0, ends[0]!),                                0,             /^no Arrow message at byte 0$/],
  ])('%s end it there', (_, bytes, batches, torn) => {
    const { rows, info } = read(bytes());
    expect(rows.map((r) => r.query_id)).toEqual(ids(batches));
    expect(info.torn).toMatch(torn);
  });
});

describe('a file that is no segment', () => {
  test('but text is torn from the start', () => {
    const { rows, info } = read(Buffer.from('{"query_id":"q0"}\n'.repeat(20)));
    expect(rows).toEqual([]);
    expect(info).toMatchObject({
      torn: 'no Arrow message at byte 0',
      batches: 0,
      sitting: null,
      metadata: {},
    });
  });

  test('but a foreign Arrow stream is named', () => {
    expect(() => read(tableToIPC(tableFromArrays({ a: [1, 2] }), 'stream'))).toThrowError(
      expect.objectContaining({
        code: 'RUN_INVALID',
        message: expect.stringContaining('not a segment of a run'),
      }),
    );
  });

  test('but is missing is named', () => {
    expect(() => readSegment(join(folder, 'none.arrows'), 'texts')).toThrowError(
      expect.objectContaining({ code: 'RUN_INVALID', message: expect.stringContaining('none.arrows') }),
    );
  });
});

test('a segment of another table is refused, both tables named', () => {
  expect(() => readSegment(join(folder, 'texts-0.arrows'), 'calls')).toThrowError(
    expect.objectContaining({
      code: 'RUN_INVALID',
      message: expect.stringContaining('holds table "texts", not "calls"'),
    }),
  );
  expect(() => readColumns(join(folder, 'texts-0.arrows'))).toThrowError(
    expect.objectContaining({ code: 'RUN_INVALID' }),
  );
});

/** A segment whose schema is ours as `change` makes it. */
function changedSegment(change: (schema: Schema) => Schema): Uint8Array {
  const schema = change(arrowSchema('texts'));
  const dictionaries = dictionariesOf('texts');
  const full = encodeRows('texts', [textRow('q0', 'answer')], { schema: arrowSchema('texts'), dictionaries });
  const names = schema.fields.map((f) => full.schema.fields.findIndex((g) => g.name === f.name));
  const children = names.map((i) => full.data.children[i]!);
  const path = join(folder, 'changed.arrows');
  const fd = openSync(path, 'w');
  const writer = new SyncStreamWriter(fd, schema);
  writer.write(batchOf(schema, 1, children));
  writer.finish();
  writer.flush();
  closeSync(fd);
  return readFileSync(path);
}

test('a newer schema version is refused, both versions named', () => {
  const newer = changedSegment(
    (s) => new Schema(s.fields, new Map([...s.metadata, ['schema_version', String(SCHEMA_VERSION + 1)]])),
  );
  expect(() => read(newer)).toThrowError(
    expect.objectContaining({
      code: 'RUN_SCHEMA_NEWER',
      message: expect.stringContaining(`version ${SCHEMA_VERSION + 1}`),
    }),
  );
});

test('a nullable column that the file lacks reads as null; a needed one makes its batches unreadable', () => {
  const without = (column: string) =>
    changedSegment(
      (s) =>
        new Schema(
          s.fields.filter((f) => f.name !== column),
          s.metadata,
        ),
    );
  expect(read(without('detail')).rows).toEqual([textRow('q0', 'answer')]);
  const { rows, info } = read(without('query_id'));
  expect(rows).toEqual([]);
  expect(info.torn).toContain('column "query_id" is missing');
});

test('an entry of another file does not fit', () => {
  // biome-ignore format: a table is read in columns
  const wrong: [Partial<SegmentEntry>, string][] = [
    [{ rows: 9 },                  '6 rows found where 9 were written'],
    [{ batches: 5 },               '3 batches found where 5 were written'],
    [{ bytes: 1 },                 `${whole.byteLength} bytes found where 1 were written`],
    [{ sha256: 'a'.repeat(64) },   `sha256 is ${entry.sha256} where ${'a'.repeat(64)} was written`],
  ];
  for (const [change, torn] of wrong) {
    const { rows, info } = read(whole, { ...entry, ...change });
    expect(info.torn).toBe(torn);
    expect(rows).toHaveLength(6);
  }
});

// biome-ignore format: a table is read in columns
test.each<[event: string, kept: boolean, why: string]>([
  ['ok',           true,  'a reading'],
  ['same',         true,  'a reading without growth'],
  ['wrap',         true,  'a reading past the highest value'],
  ['missing',      false, 'nothing was read'],
  ['out_of_range', false, 'what was read cannot be'],
  ['suspect',      false, 'what was read is not believed yet'],
  ['clock',        false, 'the time is not believed'],
])('a sample of the event %s is kept: %s (%s)', (event, kept) => {
  const file = `samples-${event}.arrows`;
  const writer = SegmentWriter.create({ folder, file, table: 'samples', sitting: 0, metadata: {} });
  writer.append([
    sampleRow(1n, 'first', 0),
    sampleRow(2n, 'ok', 5),
    sampleRow(3n, event, 5),
    sampleRow(4n, 'ok', 20),
  ]);
  writer.close();
  const series = readColumns(join(folder, file)).series.get('rapl:0:package-0');
  expect([...(series?.at_ns ?? [])]).toEqual(kept ? [1n, 2n, 3n, 4n] : [1n, 2n, 4n]);
  expect([...(series?.booked_j ?? [])]).toEqual(kept ? [0, 5, 5, 20] : [0, 5, 20]);
});

const sampleRow = (at_ns: bigint, event: string, booked_energy_j: number): SampleRow => ({
  at_ns,
  read_ns: 1,
  domain: 'rapl:0:package-0',
  raw: null,
  unit: 'uJ',
  event,
  booked_energy_j,
  booked_lo_j: booked_energy_j,
  booked_hi_j: booked_energy_j,
  power_w: null,
});
