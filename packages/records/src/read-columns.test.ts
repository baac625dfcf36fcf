import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tables } from '@perwatt/core';
import { afterAll, describe, expect, test } from 'vitest';
import type { CellFile } from './manifest.js';
import { type ColumnContent, readCellColumns } from './read-columns.js';
import type { RunFolder } from './run-folder.js';
import { createScratch } from './scratch.js';
import { SegmentWriter } from './segment-writer.js';
import { smallRun } from './small-run.fixture.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-read-columns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const names = ['query_id', 'subject', 'score', 'start_ns', 'verdict', 'energy_gross_j'] as const;
type Read = ColumnContent<'queries', (typeof names)[number]>;

let made = 0;
/** A run of one cell whose second segment holds its first one's rows again, under other ids. */
function runOf(queries = 6): { run: RunFolder; cell: CellFile; folder: string; rows: number } {
  made += 1;
  const run = smallRun(root, { run_id: `run-${made}`, cells: ['a'], queries });
  const [cell] = run.cells();
  const folder = run.cellFolder(cell!.cell_id);
  const rows = run.readQueries(cell!.cell_id).rows;
  const writer = SegmentWriter.create({
    folder,
    file: 'queries-1.arrows',
    table: 'queries',
    sitting: 1,
    metadata: { run_id: run.manifest.run_id, cell_id: cell!.cell_id },
  });
  writer.append(
    rows.map((row) => ({ ...row, query_id: `${row.query_id}/again`, subject: 'other', score: null })),
  );
  const listed = { ...cell!, segments: [...cell!.segments, writer.close()] };
  run.writeCell(listed);
  return { run, cell: listed, folder, rows: rows.length };
}

const readAll = (
  { run, cell }: { run: RunFolder; cell: CellFile },
  scratch?: ReturnType<typeof createScratch>,
): Read =>
  readCellColumns(run, { cell, table: 'queries', ...(scratch === undefined ? {} : { scratch }) }, names);

/** The columns as plain values, one array a column. */
function valuesOf({ columns, rows }: Read) {
  const text = ({ offsets, bytes }: { offsets: Int32Array; bytes: Uint8Array }, row: number) =>
    Buffer.from(bytes).toString('utf8', offsets[row], offsets[row + 1]);
  const at = <T>(of: (row: number) => T) => Array.from({ length: rows }, (_, row) => of(row));
  const { query_id, subject, score, start_ns, verdict, energy_gross_j } = columns;
  const name = (own: { indices: ArrayLike<number>; names: readonly string[]; valid?: Uint8Array | null }) =>
    at((row) => (own.valid?.[row] === 0 ? null : own.names[own.indices[row] ?? -1]));
  const number = (own: { values: ArrayLike<number>; valid?: Uint8Array | null }) =>
    at((row) => (own.valid?.[row] === 0 ? null : own.values[row]));
  return {
    query_id: at((row) => text(query_id, row)),
    subject: name(subject),
    score: number(score),
    start_ns: at((row) => start_ns.values[row]),
    verdict: name(verdict),
    energy_gross_j: number(energy_gross_j),
  };
}

describe('columns of a cell', () => {
  test('hold what its rows hold, over all segments in order', () => {
    const own = runOf();
    const read = readAll(own);
    const rows = own.run.readQueries(own.cell.cell_id).rows;
    expect(read).toMatchObject({ rows: 12, torn: [], present: true, unlisted: [] });
    expect(read.segments).toEqual(['queries-0.arrows', 'queries-1.arrows']);
    for (const name of names) expect(valuesOf(read)[name]).toEqual(rows.map((row) => row[name]));
  });

  test('are the same out of memory that is given out again, whatever was in it', () => {
    const [one, two] = [runOf(6), runOf(9)];
    const scratch = createScratch();
    scratch.float64(100).fill(Number.NaN);
    scratch.int32(100).fill(7);
    scratch.uint16(100).fill(7);
    for (const own of [one, two, one]) {
      scratch.reset();
      expect(valuesOf(readAll(own, scratch))).toEqual(valuesOf(readAll(own)));
    }
  });

  test('of a table that the cell never had are empty', () => {
    const own = runOf();
    rmSync(join(own.folder, 'texts-0.arrows'), { force: true });
    const cell = { ...own.cell, segments: own.cell.segments.filter(({ table }) => table !== 'texts') };
    expect(readCellColumns(own.run, { cell, table: 'texts' }, ['kind'])).toMatchObject({
      rows: 0,
      present: false,
      torn: [],
    });
  });
});

const flip = (path: string, at: (bytes: number) => number) => {
  const bytes = readFileSync(path);
  const place = at(bytes.length);
  bytes[place] = (bytes[place] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
};

describe('a segment that is not whole is named, and the others are used', () => {
  // biome-ignore format: a table is read in columns
  test.each<[why: string, damage: (path: string) => void, reason: RegExp]>([
    ['cut inside its batch',        (path) => truncateSync(path, readFileSync(path).length - 400),             /cut inside a message|wrong checksum/],
    ['cut inside its schema',       (path) => truncateSync(path, 40),                                          /cut inside a message/],
    ['empty',                       (path) => truncateSync(path, 0),                                           /the file is empty/],
    ['a bit flipped in its body',   (path) => flip(path, (bytes) => bytes - 100),                              /wrong checksum/],
    ['a bit flipped in its schema', (path) => flip(path, () => 60),                                            /./],
    ['of another maker',            (path) => writeFileSync(path, 'a picture of a cat'),                       /no Arrow message|cut inside/],
    ['missing',                     (path) => rmSync(path),                                                    /the file is missing/],
  ])('%s', (_, damage, reason) => {
    const own = runOf();
    damage(join(own.folder, 'queries-1.arrows'));
    const read = readAll(own);
    expect(read.torn).toEqual([{ file: 'queries-1.arrows', reason: expect.stringMatching(reason), rows: 0 }]);
    expect(read.rows).toBe(own.rows);
    expect(valuesOf(read).query_id).toEqual(own.run.readQueries(own.cell.cell_id).rows.map(({ query_id }) => query_id));
  });

  test('whatever the place of the cut: no row is made up, and none of the other segment is lost', () => {
    const own = runOf(3);
    const path = join(own.folder, 'queries-1.arrows');
    const whole = readFileSync(path);
    const first = valuesOf(readAll(own)).query_id.slice(0, own.rows);
    for (let length = whole.length - 1; length >= 0; length -= 397) {
      writeFileSync(path, whole.subarray(0, length));
      const { query_id } = valuesOf(readAll(own));
      expect(query_id.slice(0, own.rows)).toEqual(first);
      expect([own.rows, 2 * own.rows]).toContain(query_id.length);
    }
  });

  test('and one that the cell does not list is told', () => {
    const own = runOf();
    const cell = {
      ...own.cell,
      segments: own.cell.segments.filter(({ file }) => file !== 'queries-1.arrows'),
    };
    expect(readAll({ run: own.run, cell })).toMatchObject({ rows: 12, unlisted: ['queries-1.arrows'] });
  });

  test('every column of the table can be read so', () => {
    const own = runOf(2);
    for (const name of Object.keys(tables.queries) as (keyof typeof tables.queries)[])
      expect(readCellColumns(own.run, { cell: own.cell, table: 'queries' }, [name]).rows).toBe(4);
  });
});
