import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MatrixFile } from '@perwatt/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mergeRuns } from './merge-runs.js';
import { openRun } from './run-folder.js';
import { type SmallRunOptions, smallRun } from './small-run.fixture.js';
import { verifyRun } from './verify-run.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-merge-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const cells = ['a', 'b', 'c'];
const hostA = (changes: SmallRunOptions = {}) =>
  smallRun(root, { run_id: 'run-a', cells, worked: ['a'], hostname: 'ha', boot_id: 'boot-a', ...changes });
const hostB = (changes: SmallRunOptions = {}) =>
  smallRun(root, { run_id: 'run-b', cells, worked: ['c'], hostname: 'hb', boot_id: 'boot-b', ...changes });

describe('runs of one matrix', () => {
  test('become one run that is whole, with every row and where it was made', () => {
    const [a, b] = [hostA(), hostB()];
    const out = join(root, 'both');
    expect(mergeRuns([a.path, b.path], out)).toMatchObject({ path: out, measured: 2, cells: 3 });
    const both = openRun(out);
    expect(both.manifest).toMatchObject({
      run_id: 'both',
      status: 'interrupted',
      order: ['c-a', 'c-c', 'c-b'],
      merged: [
        { run_id: 'run-a', host: { hostname: 'ha' }, cells: ['c-a'], clocks: [{ boot_id: 'boot-a' }] },
        { run_id: 'run-b', host: { hostname: 'hb' }, cells: ['c-c'], clocks: [{ boot_id: 'boot-b' }] },
      ],
    });
    expect(both.manifest.clocks.map((c) => c.boot_id)).toEqual(['boot-a', 'boot-b']);
    expect(both.cells().map(({ cell_id, run_id, status }) => [cell_id, run_id, status])).toEqual([
      ['c-a', 'run-a', 'done'],
      ['c-c', 'run-b', 'done'],
      ['c-b', 'run-a', 'planned'],
    ]);
    expect(both.readQueries('c-a').rows).toEqual(a.readQueries('c-a').rows);
    expect(both.readTexts('c-c').rows).toEqual(b.readTexts('c-c').rows);
    expect(readdirSync(both.powerFolder)).toEqual(['1-rapl-0.arrows', '2-rapl-0.arrows']);
    expect(both.powerSeries().map((p) => [p.boot_id, p.torn, p.series.size])).toEqual([
      ['boot-a', null, 1],
      ['boot-b', null, 1],
    ]);
    expect(verifyRun(out).findings).toEqual([]);
  });

  test('can be merged again with a third, and are done when every cell is', () => {
    const [a, b] = [hostA(), hostB()];
    const c = smallRun(root, { run_id: 'run-c', cells, worked: ['b'], boot_id: 'boot-c' });
    mergeRuns([a.path, b.path], join(root, 'two'));
    mergeRuns([join(root, 'two'), c.path], join(root, 'three'));
    const { manifest } = openRun(join(root, 'three'));
    expect(manifest.status).toBe('done');
    expect(manifest.merged?.map((m) => [m.run_id, m.cells])).toEqual([
      ['run-a', ['c-a']],
      ['run-b', ['c-c']],
      ['run-c', ['c-b']],
    ]);
    expect(verifyRun(join(root, 'three')).findings).toEqual([]);
  });
});

/** Gives a run another matrix, as if it had been made of it. */
function rewriteMatrix(path: string, matrix: MatrixFile): void {
  const file = join(path, 'run.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), matrix }));
}

describe('a cell that two runs measured', () => {
  const pair = () => {
    const [a, b] = [hostA(), hostB({ worked: ['a', 'c'] })];
    const observed = (run: typeof a, hash: string) =>
      run.writeCell({ ...run.readCell('c-a'), hashes: { declared: 'd', resolved: 'r', observed: hash } });
    return { a, b, observed };
  };

  test('is one with the repeats of both, every row and joule of theirs, and says so', () => {
    const { a, b, observed } = pair();
    observed(a, 'same');
    observed(b, 'same');
    const out = join(root, 'both');
    expect(mergeRuns([a.path, b.path], out)).toMatchObject({ measured: 2, cells: 3 });
    const both = openRun(out);
    const cell = both.readCell('c-a');
    expect(cell).toMatchObject({
      status: 'done',
      repeats: 2,
      run_id: 'run-a',
      merged_from: ['run-a', 'run-b'],
      hashes: { observed: 'same' },
    });
    expect(cell.sittings.map(({ sitting }) => sitting)).toEqual([0, 1]);
    const rows = both.readQueries('c-a').rows;
    expect(new Set(rows.map(({ query_id }) => query_id)).size).toBe(80);
    const parts = [a, b].map((run) => run.readQueries('c-a').rows);
    expect(rows.slice(0, 40)).toEqual(parts[0]);
    expect(rows.slice(40)).toEqual(
      parts[1]!.map((row) => ({ ...row, repeat: 1, sitting: 1, query_id: row.query_id.replace(/0$/, '1') })),
    );
    for (const key of ['queries_j', 'meter_j', 'unattributed_j'] as const) {
      const of = (run: typeof a) => run.readCell('c-a').ledgers[0]?.[key] ?? 0;
      expect(cell.ledgers[0]?.[key]).toBeCloseTo(of(a) + of(b), 9);
    }
    const queries = new Set(rows.map(({ query_id }) => query_id));
    for (const table of [both.readCalls('c-a').rows, both.readTexts('c-a').rows]) {
      expect(table).toHaveLength(80);
      expect(table.every(({ query_id }) => queries.has(query_id))).toBe(true);
    }
    const merged = cell.verdict?.reasons.find(({ code }) => code === 'merged');
    expect(merged?.text).toBe(
      'its repeats come from several runs: 1 of run-a on ha, 1 of run-b on hb; the same repeat of each was drawn with the same seed',
    );
    expect(cell.verdict).toMatchObject({
      state: 'flagged',
      reasons: [{ code: 'quick' }, { code: 'merged' }],
    });
    expect(both.manifest.merged?.map(({ run_id, cells: ids }) => [run_id, ids])).toEqual([
      ['run-a', ['c-a']],
      ['run-b', ['c-a', 'c-c']],
    ]);
    expect(verifyRun(out).findings).toEqual([]);
  });

  test('by other servers is flagged for it', () => {
    const { a, b, observed } = pair();
    observed(a, 'one');
    observed(b, 'other');
    mergeRuns([a.path, b.path], join(root, 'both'));
    const cell = openRun(join(root, 'both')).readCell('c-a');
    expect(cell.hashes).toEqual({ declared: 'd', resolved: 'r' });
    expect(cell.verdict?.reasons.find(({ code }) => code === 'drift')?.text).toBe(
      'what answered it differs between the runs: run-a one, run-b other',
    );
  });

  test('can be put together with those of a third', () => {
    const { a, b } = pair();
    const c = smallRun(root, { run_id: 'run-c', cells, worked: ['a'], boot_id: 'boot-c' });
    mergeRuns([a.path, b.path], join(root, 'two'));
    mergeRuns([join(root, 'two'), c.path], join(root, 'three'));
    const three = openRun(join(root, 'three'));
    expect(three.readCell('c-a')).toMatchObject({ repeats: 3, merged_from: ['run-a', 'run-b', 'run-c'] });
    expect(three.readQueries('c-a').rows.map(({ repeat }) => repeat)).toEqual(
      [0, 1, 2].flatMap((repeat) => Array(40).fill(repeat)),
    );
    expect(verifyRun(join(root, 'three')).findings).toEqual([]);
  });
});

describe('runs of several matrices', () => {
  test('become one whose axes are those of all, and which keeps the matrix of each', () => {
    const [a, b] = [hostA(), hostB({ worked: ['a', 'c'], matrix_sha256: '0'.repeat(64) })];
    const { axes } = b.manifest.matrix;
    const other: MatrixFile = {
      ...b.manifest.matrix,
      name: 'n',
      exclude: [{ model: 'x' }],
      axes: { ...axes, model: [{ id: 'm', when: { dataset: 'd' } }, { id: 'x' }] },
      endpoints: { e: { url: 'http://h/v1', api: 'chat', idle_timeout_s: 1, headers_timeout_s: 1 } },
    };
    rewriteMatrix(b.path, other);
    mergeRuns([a.path, b.path], join(root, 'both'));
    const { manifest } = openRun(join(root, 'both'));
    expect(manifest.matrix).toMatchObject({
      name: 'm+n',
      axes: { model: [{ id: 'm' }, { id: 'x' }], dataset: [{ id: 'd' }] },
      endpoints: other.endpoints,
    });
    expect(manifest.matrix).not.toHaveProperty('exclude');
    expect(manifest.matrix.axes.model[0]).toEqual({ id: 'm' });
    expect(manifest.matrix_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(manifest.merged?.map(({ matrix }) => matrix?.name)).toEqual(['m', 'n']);
    expect(openRun(join(root, 'both')).readCell('c-a').repeats).toBe(2);
    expect(verifyRun(join(root, 'both')).findings).toEqual([]);
  });
});

describe('nothing is merged', () => {
  const refused = (paths: readonly string[], message: RegExp) => {
    const out = join(root, 'both');
    expect(() => mergeRuns(paths, out)).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) }),
    );
    expect(existsSync(out)).toBe(false);
  };

  test('of matrices that hold different things for all cells, or call them by one name', () => {
    const other = (changes: Partial<MatrixFile>) => {
      const b = hostB({ matrix_sha256: '0'.repeat(64) });
      rewriteMatrix(b.path, { ...b.manifest.matrix, ...changes });
      return b.path;
    };
    const a = hostA().path;
    refused(
      [a, other({ protocol: 'quick' })],
      /^protocol of .*run-a is "standard", that of .*run-b "quick"$/,
    );
  });
  test('of matrices that differ deep within, told by the place alone', () => {
    const b = hostB({ matrix_sha256: '0'.repeat(64) });
    const simulate = (tokens: number) => ({ datasets: { d: { tokens, words: 'w'.repeat(500) } } });
    const a = hostA();
    rewriteMatrix(a.path, { ...a.manifest.matrix, simulate: simulate(1) } as never);
    rewriteMatrix(b.path, { ...b.manifest.matrix, simulate: simulate(2) } as never);
    refused([a.path, b.path], /^simulate\.datasets\.d\.tokens of \S+run-a is 1, that of \S+run-b 2$/);
  });
  test('of axis values that are one thing here and another there', () => {
    const b = hostB({ matrix_sha256: '0'.repeat(64) });
    const { axes } = b.manifest.matrix;
    rewriteMatrix(b.path, { ...b.manifest.matrix, axes: { ...axes, model: [{ id: 'm', path: '/w.gguf' }] } });
    refused([hostA().path, b.path], /^axes\.model "m" is one thing in .*run-a and another in .*run-b$/);
  });
  test('of equal cells that are not done, or were metered otherwise', () => {
    const [a, b] = [hostA(), hostB({ worked: ['a'] })];
    const cell = b.readCell('c-a');
    b.writeCell({ ...cell, status: 'running' });
    refused(
      [a.path, b.path],
      /^cell c-a was worked on in .*run-a and in .*run-b, but it is not done in .*run-b$/,
    );
    b.writeCell({ ...cell, ledgers: cell.ledgers.map((own) => ({ ...own, domain: 'nvml:0' })) });
    refused([a.path, b.path], /but it was metered by rapl:0:package-0 in .*run-a and by nvml:0 in .*run-b$/);
  });
  test('of one run, or one twice', () => {
    const { path } = hostA();
    refused([path], /^1 runs given/);
    refused([path, path], /^run run-a is given twice$/);
    mergeRuns([path, hostB().path], join(root, 'two'));
    refused([join(root, 'two'), path], /^run run-a is given twice$/);
  });
  test('of clocks that nobody can tell apart', () => {
    refused([hostA({ boot_id: null }).path, hostB({ boot_id: null }).path], /don't say which clock/);
  });
  test('over a run that exists', () => {
    const [a, b] = [hostA(), hostB()];
    const before = readFileSync(join(a.path, 'run.json'));
    expect(() => mergeRuns([a.path, b.path], a.path)).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID' }),
    );
    expect(readFileSync(join(a.path, 'run.json'))).toEqual(before);
  });
  test('of a run that is being made', () => {
    const [a, b] = [hostA(), hostB()];
    const release = b.lock();
    expect(() => mergeRuns([a.path, b.path], join(root, 'both'))).toThrowError(
      expect.objectContaining({ code: 'RUN_IN_USE' }),
    );
    release();
    expect(mergeRuns([a.path, b.path], join(root, 'both')).measured).toBe(2);
  });
});
