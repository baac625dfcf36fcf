import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe('nothing is merged', () => {
  const refused = (paths: readonly string[], message: RegExp) => {
    const out = join(root, 'both');
    expect(() => mergeRuns(paths, out)).toThrowError(
      expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) }),
    );
    expect(existsSync(out)).toBe(false);
  };

  test('of different matrices', () => {
    refused(
      [hostA().path, hostB({ matrix_sha256: '0'.repeat(64) }).path],
      /run-b is a run of another matrix than .*run-a$/,
    );
  });
  test('of a cell that two worked on', () => {
    refused(
      [hostA().path, hostB({ worked: ['a'] }).path],
      /^cell c-a was worked on in .*run-a and in .*run-b; 40 queries have rows in both$/,
    );
  });
  test('of one run, or one twice', () => {
    const { path } = hostA();
    refused([path], /^1 runs given/);
    refused([path, path], /^run run-a is given twice$/);
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
