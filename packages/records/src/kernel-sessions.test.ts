import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type KernelRow, kernels } from '@perwatt/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type KernelSessionFacts, kernelsOf, openKernelSession, readKernels } from './kernel-sessions.js';
import { openTables } from './run-tables.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kernels-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const facts: KernelSessionFacts = {
  phase: 'alone',
  perwatt_version: '0.1.0',
  wall_time: '2026-11-30T11:00:00.000Z',
  host: null,
  devices: [],
  absent: [{ backend: 'cuda', reason: 'no driver' }],
  steps: [],
};

/** A row of nothing but what it must have. */
function row(change: Partial<KernelRow> = {}): KernelRow {
  const filled = Object.entries(kernels).map(([name, { type, nullable }]) => [
    name,
    nullable ? null : type === 'name' ? name : 0,
  ]);
  return { ...(Object.fromEntries(filled) as KernelRow), ...change };
}

test('sessions follow one another in one folder, and their rows are read in order', () => {
  for (const session of [0, 1]) {
    const writer = openKernelSession(folder, facts);
    expect(writer.session).toBe(session);
    writer.append([row({ session, kernel: 'copy' })]);
    writer.append([row({ session, kernel: 'triad' })]);
    writer.close('done');
    writer.close('done');
  }
  const read = kernelsOf(folder);
  expect(read.rows.map((r) => [r.session, r.kernel])).toEqual([
    [0, 'copy'],
    [0, 'triad'],
    [1, 'copy'],
    [1, 'triad'],
  ]);
  expect(read.run_id).toBe(basename(folder));
  expect(read.sessions).toMatchObject([
    { ...facts, session: 0, ended: 'done', segment: { rows: 2 } },
    { session: 1, segment: { rows: 2 } },
  ]);
  expect(read.torn).toEqual([]);
});

test('rows of a session that was killed are read, and the next one leaves them alone', () => {
  openKernelSession(folder, facts).append([row({ kernel: 'gemm' })]);
  const next = openKernelSession(folder, facts);
  next.append([row({ session: 1 })]);
  next.close('done');
  const read = kernelsOf(folder);
  expect(read.rows.map(({ kernel }) => kernel)).toEqual(['gemm', 'kernel']);
  expect(read.sessions.map(({ segment }) => segment?.rows ?? null)).toEqual([null, 1]);
});

test('a segment that was cut gives its whole batches and is told', () => {
  const writer = openKernelSession(folder, facts);
  writer.append([row()]);
  writer.append([row()]);
  writer.close('done');
  truncateSync(join(folder, 'kernels/kernels-0.arrows'), kernelsOf(folder).sessions[0]!.segment!.bytes - 40);
  const read = kernelsOf(folder);
  expect(read.rows.length).toBeLessThan(2);
  expect(read.torn).toMatchObject([{ file: 'kernels-0.arrows' }]);
});

test('a folder without kernel runs has none, and asking for them says where they would be', () => {
  expect(readKernels(folder)).toBeNull();
  expect(() => kernelsOf(folder)).toThrow(`no kernel runs at ${folder}`);
});

test('a broken file is named', () => {
  openKernelSession(folder, facts).close('done');
  const file = join(folder, 'kernels/kernels.json');
  appendFileSync(file, '}');
  expect(() => kernelsOf(folder)).toThrow(`${file} is not JSON`);
  writeFileSync(file, JSON.stringify({ schema_version: 1, run_id: 'r', sessions: [{ session: -1 }] }));
  expect(() => openKernelSession(folder, facts)).toThrow(`${file} is not valid`);
});

test('SQL sees the rows of a folder of sessions, and those of a session that was killed', async () => {
  const writer = openKernelSession(folder, facts);
  writer.append([row({ kernel: 'gemm', flop: 8, time_mean_ns: 2 }), row({ kernel: 'copy' })]);
  writer.close('done');
  openKernelSession(folder, facts).append([row({ session: 1, kernel: 'gemv' })]);
  const opened = await openTables(folder);
  try {
    expect(opened.views).toEqual(['kernels']);
    const sql = 'SELECT kernel, flop / time_mean_ns FROM kernels ORDER BY kernel';
    const rows = (await opened.db.connection.runAndReadAll(sql)).getRows();
    expect(rows).toEqual([
      ['copy', null],
      ['gemm', 4],
      ['gemv', null],
    ]);
  } finally {
    opened.close();
  }
});
