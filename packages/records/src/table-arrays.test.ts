import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as property } from '@fast-check/vitest';
import { type RowOf, type TableName, type TextRow, tables } from '@perwatt/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { arraysOf } from './arrays.fixture.js';
import { anyTable } from './rows.fixture.js';
import { readSegment } from './segment-reader.js';
import { BATCH_ROWS, SegmentWriter } from './segment-writer.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-arrays-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const create = <T extends TableName>(table: T, file = `${readdirSync(folder).length}.arrows`) =>
  SegmentWriter.create({ folder, file, table, sitting: 3, metadata: { run_id: 'r1' } });

const textRow = (query_id: string, changes: Partial<TextRow> = {}): TextRow => ({
  run_id: 'r1',
  cell_id: 'c1',
  query_id,
  call_id: null,
  sitting: 3,
  kind: 'answer',
  text: `text of ${query_id}`,
  detail: null,
  ...changes,
});

describe('arrays', () => {
  property.prop([anyTable], { numRuns: 60, seed: 11 })(
    'of every table are read as the rows they stand for, with any order of their names',
    async ([table, flushes]) => {
      const writer = create(table);
      for (const [i, rows] of flushes.entries()) {
        const before = i % 2 === 0 ? [] : ['other', 'never used', 'a'];
        writer.appendArrays(arraysOf(table, rows, before));
        expect(writer.pendingRows).toBe(rows.length);
        expect(writer.flush()).toBe(rows.length);
      }
      const entry = await writer.closeLater();
      const { rows, info } = readSegment(writer.path, table, entry);
      expect(rows).toEqual(flushes.flat());
      expect(info).toMatchObject({ torn: null, closed: true, verified: true });
    },
  );

  property.prop([anyTable], { numRuns: 20, seed: 12 })(
    'and rows make the same bytes, closed at once or later',
    async ([table, flushes]) => {
      const rows = flushes.flat();
      const [byRow, byArray] = [create(table, 'a.arrows'), create(table, 'b.arrows')];
      try {
        byRow.append(rows as RowOf<(typeof tables)[TableName]>[]);
        byArray.appendArrays(arraysOf(table, rows));
        expect({ ...(await byArray.closeLater()), file: 'a.arrows' }).toEqual(byRow.close());
      } finally {
        for (const { path } of [byRow, byArray]) rmSync(path);
      }
    },
  );

  test('beyond 65,536 rows go into several batches, and so do very long texts', () => {
    const many = Array.from({ length: BATCH_ROWS + 3 }, (_, i) => textRow(`q${i}`, { kind: `k${i % 7}` }));
    const long = ['x', 'y', 'z'].map((c) => textRow(c, { text: c.repeat(30 * 1024 * 1024) }));
    const writer = create('texts');
    writer.appendArrays(arraysOf('texts', many));
    writer.appendArrays(arraysOf('texts', long));
    const entry = writer.close();
    expect(entry).toMatchObject({ rows: BATCH_ROWS + 6, batches: 4 });
    const { rows } = readSegment(writer.path, 'texts', entry);
    expect(rows.length).toBe(BATCH_ROWS + 6);
    expect(rows.slice(BATCH_ROWS - 1, BATCH_ROWS + 3)).toEqual(many.slice(BATCH_ROWS - 1));
    expect(rows.slice(-3).map((r) => [r.text?.length, r.text?.[0]])).toEqual(
      ['x', 'y', 'z'].map((c) => [30 * 1024 * 1024, c]),
    );
  });

  test('may be reused after a flush', () => {
    const writer = create('samples');
    const row = {
      at_ns: 1n,
      read_ns: 1,
      domain: 'd',
      raw: 4n,
      unit: 'uj',
      event: 'ok',
      booked_energy_j: 1,
      booked_lo_j: 1,
      booked_hi_j: 1,
      power_w: null,
    };
    const arrays = arraysOf('samples', [row]);
    writer.appendArrays(arrays);
    writer.flush();
    arrays.at_ns.values[0] = 2n;
    writer.appendArrays(arrays);
    expect(readSegment(writer.path, 'samples').rows.map((r) => r.at_ns)).toEqual([1n]);
    writer.close();
    expect(readSegment(writer.path, 'samples').rows.map((r) => r.at_ns)).toEqual([1n, 2n]);
  });

  test('wait apart from rows, and a segment that is being closed takes nothing', async () => {
    const writer = create('texts');
    writer.append([textRow('q0')]);
    expect(() => writer.appendArrays(arraysOf('texts', [textRow('q1')]))).toThrow(
      /flush the rows before you append arrays$/,
    );
    writer.flush();
    writer.appendArrays(arraysOf('texts', [textRow('q1')]));
    expect(() => writer.append([textRow('q2')])).toThrow(/flush the arrays before you append rows$/);
    const closing = writer.closeLater();
    expect(() => writer.flush()).toThrow(/is being closed$/);
    const entry = await closing;
    expect(entry.rows).toBe(2);
    expect(await writer.closeLater()).toBe(entry);
    expect(() => writer.appendArrays(arraysOf('texts', []))).toThrow(/is closed$/);
  });
});

describe('wrong arrays are refused whole:', () => {
  type Columns = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const good = () => arraysOf('calls', [callRow(), callRow()]);
  const callRow = () =>
    Object.fromEntries(
      Object.entries(tables.calls).map(([name, { type, nullable }]) => {
        const values = {
          name: 'n',
          text: 't',
          int64: 1n,
          uint64: 1n,
          bool: true,
          list_float64: [1],
        } as const;
        return [
          name,
          nullable && type !== 'list_float64' ? null : type in values ? values[type as 'name'] : 1,
        ];
      }),
    );

  // biome-ignore format: a table is read in columns
  test.each<[string, (a: Columns) => object, RegExp]>([
    ['a missing column',            (a) => ({ ...a, status: undefined }),                                      /column "status" is missing$/],
    ['an unknown column',           (a) => ({ ...a, x: a['seq'] }),                                               /column "x" is unknown$/],
    ['columns of unequal length',   (a) => ({ ...a, seq: { values: Uint32Array.of(1) } }),                     /"seq" has 1 rows, the first column has 2$/],
    ['another kind of number',      (a) => ({ ...a, seq: { values: Int32Array.of(1, 2) } }),                   /"seq" is no Uint32Array$/],
    ['a name that is none',         (a) => ({ ...a, role: { indices: Uint8Array.of(0, 1), names: ['a'] } }),   /"role" has name 1 of 1 at row 1$/],
    ['no number',                   (a) => ({ ...a, top_p: { values: Float64Array.of(1, NaN) } }),             /"top_p" must be a finite number, not NaN at row 1$/],
    ['null where none may be',      (a) => ({ ...a, seq: { ...a['seq'], valid: Uint8Array.of(1, 0) } }),          /"seq" is null at row 1, but must have a value$/],
    ['too few valid marks',         (a) => ({ ...a, seed: { ...a['seed'], valid: Uint8Array.of(1) } }),           /"seed" has 1 entries in valid for 2 rows$/],
    ['offsets beyond the bytes',    (a) => ({ ...a, query_id: { ...a['query_id'], offsets: Int32Array.of(0, 1, 9) } }), /"query_id" has offset 9 at row 2, not 1 to 2$/],
    ['offsets that fall',           (a) => ({ ...a, query_id: { ...a['query_id'], offsets: Int32Array.of(0, 2, 1) } }), /"query_id" has offset 1 at row 2, not 2 to 2$/],
    ['a list with an infinity',     (a) => ({ ...a, icl_ns: { ...a['icl_ns'], values: Float64Array.of(1, Infinity) } }), /"icl_ns" must be a finite number, not Infinity at row 1$/],
  ])('%s', (_, wrong, message) => {
    const writer = create('calls');
    expect(() => writer.appendArrays(wrong(good() as unknown as Columns) as ReturnType<typeof good>)).toThrow(message);
    expect(writer.pendingRows).toBe(0);
    writer.appendArrays(good());
    expect(writer.close().rows).toBe(2);
    expect(readFileSync(writer.path).length).toBeGreaterThan(0);
  });
});
