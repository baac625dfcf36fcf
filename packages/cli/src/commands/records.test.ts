import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MatrixFile, SCHEMA_VERSION, type TextRow } from '@perwatt/core';
import { type CellFile, createRun, type RunManifest, SegmentWriter } from '@perwatt/records';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { exportCommand } from './export.js';
import { mergeCommand } from './merge.js';
import { queryCommand } from './query.js';
import { verifyCommand } from './verify.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-cli-records-'));
  makeRun('one', 'c-a');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const answerRow = (run_id: string, cell_id: string, i: number): TextRow => ({
  run_id,
  cell_id,
  query_id: `${cell_id}/item ${i}/0`,
  call_id: null,
  sitting: 0,
  kind: 'answer',
  text: i === 0 ? '=1+1' : `a long answer, number ${i}: ${'word '.repeat(60)}`,
  detail: null,
});

/** A run of two planned cells, one of them with texts. */
function makeRun(run_id: string, worked: string): string {
  const manifest: RunManifest = {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: 1,
    run_id,
    perwatt_version: '0.1.0',
    status: 'interrupted',
    matrix: MatrixFile.parse({ name: 'm', axes: { model: ['m'], dataset: ['d'] } }),
    matrix_sha256: 'f'.repeat(64),
    order: ['c-a', 'c-b'],
    host: {
      hostname: `host of ${run_id}`,
      os: 'linux',
      kernel: '6',
      cpu: null,
      arch: 'x64',
      cores: null,
      threads: 2,
      memory_bytes: 1,
      virtual_machine: null,
      governor: null,
      node: 'v20',
    },
    clocks: [],
    left_out: [],
    power: [],
  };
  const run = createRun(root, manifest);
  for (const [position, cell_id] of ['c-a', 'c-b'].entries()) {
    const cell: CellFile = {
      schema_version: SCHEMA_VERSION,
      run_id,
      cell_id,
      point: { model: 'm', accelerator: 'x', dataset: 'd', strategy: 's', load: 'c1' },
      position,
      seed: 1,
      repeats: 1,
      concurrency: 1,
      max_tokens: 8,
      status: 'planned',
      failure: null,
      verdict: null,
      provenance: null,
      sittings: [],
      ledgers: [],
      segments: [],
    };
    run.writeCell(cell);
    if (cell_id !== worked) continue;
    const writer = SegmentWriter.create({
      folder: run.cellFolder(cell_id),
      file: 'texts-0.arrows',
      table: 'texts',
      sitting: 0,
      metadata: { run_id, cell_id },
    });
    writer.append([0, 1, 2].map((i) => answerRow(run_id, cell_id, i)));
    run.writeCell({ ...cell, status: 'done', segments: [writer.close()] });
  }
  return run.path;
}

async function perwatt(command: (io: Io) => Command, args: readonly string[], world: Partial<Io> = {}) {
  const { io, result } = recordedIo({ cwd: root, ...world });
  const quiet = command(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const error = await quiet.parseAsync([...args], { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { ...result, error };
}

const sql = 'SELECT query_id, sitting, text FROM texts ORDER BY query_id';

describe('perwatt query', () => {
  test('prints a table no wider than the terminal', async () => {
    const { out, error } = await perwatt(queryCommand, ['one', sql], { columns: 60 });
    expect(error).toBeNull();
    expect(out.every((line) => line.length <= 60)).toBe(true);
    expect(out[0]).toMatch(/^query_id +sitting +text$/);
    expect(out[2]).toMatch(/^c-a\/item 0\/0 +0 +=1\+1$/);
    expect(out[3]).toMatch(/ a long answer, number 1: .*…$/);
    expect(out.at(-1)).toBe('3 rows');
  });

  test('gives a row a block where its columns have no room', async () => {
    const { out } = await perwatt(queryCommand, ['one', 'SELECT * FROM cells LIMIT 1'], { columns: 60 });
    expect(out.every((line) => line.length <= 60)).toBe(true);
    expect(out).toContainEqual(expect.stringMatching(/^cell_id +c-a$/));
    expect(out).toContainEqual(expect.stringMatching(/^meter_j +–$/));
  });

  test('prints CSV and JSON for machines', async () => {
    const csv = await perwatt(queryCommand, ['one', '--csv', 'SELECT text, sitting FROM texts LIMIT 1']);
    expect(csv.out).toEqual(['text,sitting', "'=1+1,0"]);
    const json = await perwatt(queryCommand, [
      'one',
      '--json',
      'SELECT count(*) AS n, NULL AS nothing FROM texts',
    ]);
    expect(json.out).toEqual(['{"n":3,"nothing":null}']);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['wrong SQL',            ['one', 'SELEC 1'],                         { code: 'SQL_INVALID' }],
    ['no such run',          ['none', 'SELECT 1'],                       { code: 'RUN_NOT_FOUND' }],
    ['two kinds of output',  ['one', '--csv', '--json', 'SELECT 1'],     { code: 'commander.conflictingOption' }],
    ['no number of threads', ['one', '--threads', '0', 'SELECT 1'],      { code: 'commander.invalidArgument' }],
    ['no SQL',               ['one'],                                    { code: 'commander.missingArgument' }],
  ])('refuses %s', async (_, args, error) => {
    expect((await perwatt(queryCommand, args)).error).toMatchObject(error);
  });

  test('warns of what could not be read', async () => {
    const path = makeRun('torn', 'c-a');
    writeFileSync(join(path, 'cells', 'c-a', 'texts-1.arrows'), 'x');
    const { out, err } = await perwatt(queryCommand, ['torn', '--csv', 'SELECT count(*) AS n FROM texts']);
    expect(err).toEqual([
      expect.stringMatching(/^warning: cells\/c-a\/texts-1\.arrows: .*; 0 rows were read$/),
    ]);
    expect(out).toEqual(['n', '3']);
  });
});

describe('perwatt export', () => {
  test('writes the tables asked for and says so', async () => {
    const { out, error } = await perwatt(exportCommand, [
      'one',
      '--format',
      'csv',
      '--out',
      'sheets',
      '--table',
      'texts',
      '--table',
      'cells',
    ]);
    expect(error).toBeNull();
    expect(readdirSync(join(root, 'sheets')).sort()).toEqual(['cells.csv', 'texts.csv']);
    expect(out[0]).toMatch(/^sheets\/texts\.csv: 3 rows, \d+ bytes$/);
    expect(readFileSync(join(root, 'sheets', 'texts.csv'), 'utf8')).toContain("'=1+1");
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['another format', ['one', '--format', 'xls', '--out', 'x'],                     'commander.invalidArgument'],
    ['another table',  ['one', '--format', 'csv', '--out', 'x', '--table', 'users'], 'commander.invalidArgument'],
    ['no folder',      ['one', '--format', 'csv'],                                   'commander.missingMandatoryOptionValue'],
    ['no run',         ['none', '--format', 'csv', '--out', 'x'],                    'RUN_NOT_FOUND'],
  ])('refuses %s', async (_, args, code) => {
    expect((await perwatt(exportCommand, args)).error).toMatchObject({ code });
    expect(existsSync(join(root, 'x'))).toBe(false);
  });
});

describe('perwatt verify', () => {
  test('says that a run is whole', async () => {
    const { out, code, error } = await perwatt(verifyCommand, ['one']);
    expect(error).toBeNull();
    expect(code).toBe(0);
    expect(out).toEqual([
      expect.stringMatching(/^2 cells, 1 segments, 1 batches, 3 rows, \d+ bytes read$/),
      'whole and unchanged',
    ]);
  });

  test('lists every problem and fails, as text and as JSON', async () => {
    const path = makeRun('spoilt', 'c-a');
    writeFileSync(join(path, 'cells', 'c-a', 'x.arrows'), '');
    writeFileSync(join(path, 'power', 'y.arrows'), '');
    const { out, code } = await perwatt(verifyCommand, ['spoilt']);
    expect(code).toBe(1);
    expect(out).toEqual([
      'problem file_foreign: cells/c-a/x.arrows: not the name of a segment of a cell',
      'problem file_unlisted: power/y.arrows: run.json knows nothing of the file',
      expect.stringMatching(/^2 cells/),
      '2 problems',
    ]);
    const json = await perwatt(verifyCommand, ['spoilt', '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out.join('\n'))).toMatchObject({ run_id: 'spoilt', problems: 2, cells: 2 });
  });
});

describe('perwatt merge', () => {
  test('puts two hosts together and says whose cells they are', async () => {
    makeRun('two', 'c-b');
    const { out, error } = await perwatt(mergeCommand, ['one', 'two', '--out', 'both']);
    expect(error).toBeNull();
    expect(out).toEqual([
      'one (host of one): 1 cells',
      'two (host of two): 1 cells',
      'both: 2 of 2 cells measured',
    ]);
    const rows = await perwatt(queryCommand, [
      'both',
      '--csv',
      'SELECT run_id, count(*) AS n FROM texts GROUP BY run_id ORDER BY run_id',
    ]);
    expect(rows.out).toEqual(['run_id,n', 'one,3', 'two,3']);
    expect((await perwatt(verifyCommand, ['both'])).code).toBe(0);
  });

  test('refuses one run', async () => {
    expect((await perwatt(mergeCommand, ['one', '--out', 'x'])).error).toMatchObject({
      code: 'INPUT_INVALID',
    });
  });
});

test('the engine of SQL is loaded by nothing that does not ask for it', () => {
  const main = join(import.meta.dirname, '..', '..', 'bin', 'perwatt.js');
  const script = `process.argv.splice(2, 9, '--version'); await import(${JSON.stringify(main)});
    const used = process.report.getReport().sharedObjects.filter((f) => /duckdb/.test(f)); console.log(used.length);`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(out.trim().split('\n').at(-1)).toBe('0');
});
