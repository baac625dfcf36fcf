import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Column, type KernelRow, kernels } from '@perwatt/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyRun } from './copy-run.js';
import { kernelsOf, openKernelSession } from './kernel-sessions.js';
import { writeRecordsParquet } from './records-parquet.js';
import { openRun, type RunFolder } from './run-folder.js';
import { smallRun } from './small-run.fixture.js';
import { openDatabase } from './sql-engine.js';
import { verifyRun } from './verify-run.js';

let root = '';
let run: RunFolder;
let target = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-copy-'));
  run = smallRun(root, { hostname: 'lab-7' });
  target = join(root, 'copies');
  mkdirSync(target);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const same = (text: string) => text;
const nameColumns = Object.entries<Column>(kernels).flatMap(([name, { type, nullable }]) =>
  type === 'name' && !nullable ? [name] : [],
);
const kernelRow = (name: string): KernelRow =>
  Object.fromEntries(
    Object.entries<Column>(kernels).map(([column, { type, nullable }]) => [
      column,
      nullable ? null : type === 'name' ? name : 0,
    ]),
  ) as KernelRow;
const numbersOf = (of: RunFolder) =>
  of.cells().map(({ cell_id }) => of.readQueries(cell_id).rows.map((row) => row.energy_gross_j));
const bytesBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .join('\n');

describe('a copy of a run', () => {
  test('with nothing to change has the same segments, byte for byte, and nothing that is derived', () => {
    const { run: copy, rewritten } = copyRun(run, { root: target, change: same, texts: 'keep' });
    expect(rewritten).toEqual([]);
    expect(copy.cells()).toEqual(run.cells());
    expect(copy.manifest).toEqual(run.manifest);
    for (const { cell_id, segments } of run.cells())
      for (const { file } of segments)
        expect(
          readFileSync(join(copy.cellFolder(cell_id), file)).equals(
            readFileSync(join(run.cellFolder(cell_id), file)),
          ),
        ).toBe(true);
    expect(verifyRun(copy.path).findings).toEqual([]);
  });

  test('has texts changed everywhere, and the same numbers', () => {
    const change = (text: string) =>
      text.replaceAll('model a', 'model z').replaceAll('lab-7', 'host-1').replaceAll('ß', 'ss');
    const { run: copy, rewritten } = copyRun(run, { root: target, change, texts: 'keep' });
    expect(bytesBelow(copy.path)).not.toMatch(/model a|lab-7|\u00c3\u009f/);
    expect(copy.manifest.host.hostname).toBe('host-1');
    expect(numbersOf(copy)).toEqual(numbersOf(run));
    expect(copy.readTexts('c-a').rows[1]?.text).toBe('text, "1"\nss');
    expect(rewritten.map(({ file }) => file)).toContain('cells/c-a/queries-0.arrows');
    expect(rewritten.every(({ original_sha256 }) => /^[0-9a-f]{64}$/.test(original_sha256 ?? ''))).toBe(true);
    const { findings, rows } = verifyRun(copy.path);
    expect(findings).toEqual([]);
    expect(rows).toBe(verifyRun(run.path).rows);
    expect(
      openRun(copy.path)
        .readCell('c-a')
        .segments.find(({ table }) => table === 'queries')?.batches,
    ).toBe(3);
  });

  test('without texts has none, nor parts of them in other tables', () => {
    const { run: copy } = copyRun(run, { root: target, change: same, texts: 'drop' });
    expect(readdirSync(copy.cellFolder('c-a')).filter((file) => file.startsWith('texts'))).toEqual([]);
    expect(copy.readQueries('c-a').rows.every(({ extracted }) => extracted === null)).toBe(true);
    expect(run.readQueries('c-a').rows.some(({ extracted }) => extracted !== null)).toBe(true);
    expect(numbersOf(copy)).toEqual(numbersOf(run));
    expect(verifyRun(copy.path).findings).toEqual([]);
  });

  test('leaves out bytes that no reader takes, and does not hide that something is wrong', () => {
    appendFileSync(join(run.cellFolder('c-a'), 'calls-0.arrows'), 'behind the end: SECRET');
    const { run: copy } = copyRun(run, { root: target, change: same, texts: 'keep' });
    expect(bytesBelow(copy.path)).not.toContain('SECRET');
    expect(verifyRun(copy.path).findings.map(({ where }) => where)).toEqual(['cells/c-a/calls-0.arrows']);
  });

  test('has the kernels that were run beside the cells, with their names changed', () => {
    const facts = {
      phase: 'before',
      perwatt_version: '0.1.0',
      wall_time: '2026-11-30T11:00:00.000Z',
      host: run.manifest.host,
      devices: [],
      absent: [{ backend: 'cuda', reason: 'no driver on lab-7' }],
      steps: [],
    } as const;
    const writer = openKernelSession(run.path, facts);
    writer.append([kernelRow('lab-7')]);
    writer.close('done');
    const { run: copy } = copyRun(run, {
      root: target,
      change: (text) => text.replaceAll('lab-7', 'host-1'),
      texts: 'keep',
    });
    expect(bytesBelow(copy.path)).not.toContain('lab-7');
    const { rows, sessions, torn } = kernelsOf(copy.path);
    expect(torn).toEqual([]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject(Object.fromEntries(nameColumns.map((name) => [name, 'host-1'])));
    expect(sessions[0]?.absent).toEqual([{ backend: 'cuda', reason: 'no driver on host-1' }]);
  });

  test('leaves nothing behind when it fails', () => {
    const change = (text: string) => {
      if (text.startsWith('text, ')) throw new Error('no');
      return text;
    };
    expect(() => copyRun(run, { root: target, change, texts: 'keep' })).toThrow('no');
    expect(existsSync(join(target, 'small'))).toBe(false);
  });
});

test('records as Parquet keep every number and text, and give the same bytes again', async () => {
  const records = [
    { name: "it's", x: 0.1 + 0.2, ok: true, mixed: 1, none: null },
    { name: 'a\u0000b', x: 5e-324, ok: null, mixed: 'two', none: null, late: -1.7976931348623157e308 },
  ];
  const [a, b] = [join(root, 'a.parquet'), join(root, 'b.parquet')];
  await writeRecordsParquet(a, records);
  await writeRecordsParquet(b, records);
  expect(readFileSync(a).equals(readFileSync(b))).toBe(true);
  const db = await openDatabase(join(root, 'spill'));
  try {
    const rows = (await db.connection.runAndReadAll(`SELECT * FROM read_parquet('${a}')`)).getRows();
    expect(rows).toEqual([
      ["it's", 0.1 + 0.2, true, '1', null, null],
      ['a\u0000b', 5e-324, null, 'two', null, -1.7976931348623157e308],
    ]);
  } finally {
    db.close();
  }
});
