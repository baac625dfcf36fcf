import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as property } from '@fast-check/vitest';
import { arrowSchema, tables } from '@perwatt/core';
import { Schema } from 'apache-arrow';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { arraysOf } from './arrays.fixture.js';
import { compactCell, compactRun } from './compact-run.js';
import { compactTable, replaceFile } from './compact-table.js';
import { batchOf, dictionariesOf, encodeRows } from './encode-rows.js';
import { anyTable } from './rows.fixture.js';
import { SegmentWriter } from './segment-writer.js';
import { smallRun } from './small-run.fixture.js';
import { type Database, openDatabase, quoted } from './sql-engine.js';
import { sqlJson } from './sql-values.js';
import { SyncStreamWriter } from './sync-stream-writer.js';

let root = '';
let db: Database;
beforeAll(async () => {
  db = await openDatabase(join(tmpdir(), 'perwatt-no-spill'));
});
afterAll(() => db.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-compact-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const rowsIn = async (path: string): Promise<unknown[][]> =>
  (await db.connection.runAndReadAll(`FROM read_parquet(${quoted(path)})`)).getRows() as unknown[][];

/** Rows in one form, whether they come from objects or from SQL. */
const shown = (rows: readonly unknown[][]) =>
  rows.map((row) =>
    row.map((value) =>
      typeof value === 'bigint' ? `${value}` : sqlJson(Array.isArray(value) ? { items: value } : value),
    ),
  );

describe('a compacted table', () => {
  property.prop([anyTable], { numRuns: 15, seed: 21 })(
    'has the rows of all its segments, whatever order their names came in',
    async ([table, parts]) => {
      const folder = mkdtempSync(join(root, 't-'));
      const sources = parts.map((rows, i) => {
        const writer = SegmentWriter.create({
          folder,
          file: `${table}-${i}.arrows`,
          table,
          sitting: i,
          metadata: {},
        });
        writer.appendArrays(arraysOf(table, rows, i % 2 === 0 ? [] : ['other', 'a']));
        return { path: writer.path, entry: writer.close() };
      });
      const out = join(folder, 'x.parquet');
      const made = await compactTable(db, { table, sources, out });
      expect(made).toMatchObject({ rows: parts.flat().length, torn: [], fresh: false });
      const wanted = parts
        .flat()
        .map((row) => Object.keys(tables[table]).map((name) => (row as Record<string, unknown>)[name]));
      expect(shown(await rowsIn(out))).toEqual(shown(wanted));
      expect((await compactTable(db, { table, sources, out })).fresh).toBe(true);
    },
  );

  test('keeps nulls and values apart over more rows than one chunk of the engine', async () => {
    const length = 5000;
    const rows = Array.from({ length }, (_, i) => ({
      ...textRow(i),
      detail: i < 2500 && i % 3 === 0 ? null : `d${i}`,
      call_id: i < 2048 ? null : 'c',
    }));
    const writer = SegmentWriter.create({
      folder: root,
      file: 'texts-0.arrows',
      table: 'texts',
      sitting: 0,
      metadata: {},
    });
    writer.append(rows);
    const sources = [{ path: writer.path, entry: writer.close() }];
    const out = join(root, 'texts.parquet');
    await compactTable(db, { table: 'texts', sources, out });
    expect(shown(await rowsIn(out))).toEqual(shown(rows.map((row) => Object.values(row))));
  });
});

test('a segment of before a column was added reads with nulls there; without a column that must be there it is named', async () => {
  const rows = [textRow(0), textRow(1)];
  const older = (file: string, without: string) => {
    const schema = arrowSchema('texts', { sitting: '0' });
    const batch = encodeRows('texts', rows, { schema, dictionaries: dictionariesOf('texts') });
    const kept = schema.fields.flatMap(({ name }, i) => (name === without ? [] : [i]));
    const fields = new Schema(
      kept.map((i) => schema.fields[i]!),
      schema.metadata,
    );
    const path = join(root, file);
    const writer = new SyncStreamWriter(openSync(path, 'wx'), fields);
    writer.write(
      batchOf(
        fields,
        2,
        kept.map((i) => batch.data.children[i]!),
      ),
    );
    writer.finish();
    writer.flush();
    return { path, entry: null };
  };
  const sources = [older('texts-0.arrows', 'detail'), older('texts-1.arrows', 'kind')];
  const out = join(root, 'texts.parquet');
  const made = await compactTable(db, { table: 'texts', sources, out });
  expect(made.rows).toBe(2);
  expect(made.torn).toEqual([
    { file: 'texts-1.arrows', rows: 0, reason: expect.stringMatching(/column "kind" is missing$/) },
  ]);
  expect(shown(await rowsIn(out))).toEqual(shown(rows.map((row) => Object.values({ ...row, detail: null }))));
});

const textRow = (i: number) => ({
  run_id: 'r',
  cell_id: 'c',
  query_id: `q${i}`,
  call_id: null as string | null,
  sitting: 0,
  kind: `kind ${i % 300}`,
  text: "it's",
  detail: null as string | null,
});

const parquetFiles = (folder: string) =>
  readdirSync(folder)
    .filter((file) => !file.endsWith('.arrows') && file !== 'cell.json')
    .sort();

describe('a run', () => {
  test('is compacted to the same bytes again, and its segments are left alone', async () => {
    const run = smallRun(root);
    const folder = run.cellFolder('c-a');
    const before = readFileSync(join(folder, 'calls-0.arrows'));
    const done = await compactRun(run.path);
    expect(done.map(({ cell_id, tables: made }) => [cell_id, made.map((t) => t.rows)])).toEqual([
      ['c-a', [40, 40, 40]],
      ['c-b', [40, 40, 40]],
      [null, [30]],
    ]);
    expect(parquetFiles(folder)).toEqual(['calls.parquet', 'queries.parquet', 'texts.parquet']);
    expect(readdirSync(run.powerFolder).sort()).toEqual(['rapl-0.arrows', 'rapl-0.parquet']);
    const first = parquetFiles(folder).map((file) => readFileSync(join(folder, file)));
    for (const file of parquetFiles(folder)) rmSync(join(folder, file));
    await compactCell(run.path, 'c-a');
    expect(parquetFiles(folder).map((file) => readFileSync(join(folder, file)))).toEqual(first);
    expect(readFileSync(join(folder, 'calls-0.arrows'))).toEqual(before);
  });

  test('keeps up-to-date files, and makes a file again that is older than its segments, or broken', async () => {
    const run = smallRun(root);
    await compactRun(run.path);
    const file = join(run.cellFolder('c-a'), 'queries.parquet');
    const { mtimeMs } = statSync(file);
    const again = await compactRun(run.path);
    expect(again.flatMap((c) => c.tables).every((t) => t.fresh)).toBe(true);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    writeFileSync(file, 'PAR1 and nothing else');
    expect((await compactCell(run.path, 'c-a')).tables.map((t) => t.fresh)).toEqual([false, true, true]);
    copyFileSync(
      join(run.cellFolder('c-a'), 'queries-0.arrows'),
      join(run.cellFolder('c-a'), 'queries-1.arrows'),
    );
    expect((await compactCell(run.path, 'c-a')).tables[0]).toMatchObject({ fresh: false, rows: 80 });
  });

  test('names what is truncated, flipped, foreign or gone, and uses the rest', async () => {
    const run = smallRun(root);
    const folder = run.cellFolder('c-a');
    const segment = join(folder, 'queries-0.arrows');
    const bytes = readFileSync(segment);
    writeFileSync(join(folder, 'queries-1.arrows'), bytes.subarray(0, bytes.length - 500));
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 2000] = (flipped[bytes.length - 2000] ?? 0) ^ 1;
    writeFileSync(join(folder, 'queries-2.arrows'), flipped);
    writeFileSync(join(folder, 'queries-3.arrows'), 'not an Arrow stream at all');
    copyFileSync(join(folder, 'texts-0.arrows'), join(folder, 'queries-4.arrows'));
    appendFileSync(join(folder, 'texts-0.arrows'), 'x');
    const { tables: made } = await compactCell(run.path, 'c-a');
    const [queries, calls, texts] = made;
    expect(
      queries?.torn.map(({ file, reason, rows }) => [file, reason.replace(/\d+|\/\S+/g, '…'), rows]),
    ).toEqual([
      ['queries-1.arrows', 'cut inside a message at byte …', 30],
      ['queries-2.arrows', 'wrong checksum of the batch at byte …', 30],
      ['queries-3.arrows', 'no Arrow message at byte …', 0],
      ['queries-4.arrows', '… holds table "texts", not "queries"', 0],
    ]);
    expect(queries?.rows).toBe(100);
    expect(calls?.torn).toEqual([]);
    expect(texts).toMatchObject({
      rows: 40,
      torn: [{ file: 'texts-0.arrows', reason: '1 bytes follow the end mark' }],
    });
    const again = await compactCell(run.path, 'c-a');
    expect(again.tables).toEqual(made.map((table) => ({ ...table, rows: null, fresh: true })));
    expect(run.readQueries('c-a')).toMatchObject({ torn: queries?.torn });
    expect(run.readQueries('c-a').rows.length).toBe(100);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  ['IO Error: Could not write file "/x/.a.tmp": No space left on device', 'DISK_FULL',       /^no space left for .*a\.csv$/],
  ['IO Error: Cannot open file "/x/.a.tmp": Permission denied',           'FILE_UNREADABLE', /^cannot use .*a\.csv: IO Error: Cannot open/],
])('what the engine says of a file, %j, is %s', async (words, code, message) => {
  const out = join(root, 'a.csv');
  const failing = replaceFile(out, async (path) => {
    writeFileSync(path, 'half');
    throw new Error(words);
  });
  await expect(failing).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(readdirSync(root)).toEqual([]);
});
