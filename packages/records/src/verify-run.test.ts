import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng, type KernelRow, SCHEMA_VERSION } from '@perwatt/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKernelSession } from './kernel-sessions.js';
import type { CellFile } from './manifest.js';
import type { RunFolder } from './run-folder.js';
import { rowOf, segment, smallRun } from './small-run.fixture.js';
import { verifyRun } from './verify-run.js';

let root = '';
let run: RunFolder;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-verify-'));
  run = smallRun(root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const inCell = (file: string) => join(run.cellFolder('c-a'), file);
const change = (changes: (cell: CellFile) => Partial<CellFile>) => {
  const cell = run.readCell('c-a');
  run.writeCell({ ...cell, ...changes(cell) });
};
const flip = (path: string, fromEnd: number) => {
  const bytes = readFileSync(path);
  bytes[bytes.length - fromEnd] = (bytes[bytes.length - fromEnd] ?? 0) ^ 1;
  writeFileSync(path, bytes);
};
const ledger = (key: string, factor: number) => () =>
  change(({ ledgers }) => ({
    ledgers: ledgers.map((l) => ({ ...l, [key]: (l[key as 'meter_j'] ?? 0) * factor })),
  }));

/** Adds a segment of rows to the cell as if it had always been there. */
const add = (given: object) => () =>
  change((cell) => {
    const row = rowOf('queries', createRng(1), { ...firstRow(), ...given });
    return { segments: [...cell.segments, segment(run, cell, 'queries', [row])], ledgers: [] };
  });
const firstRow = () => ({ ...run.readQueries('c-a').rows[0], item_id: 'new', query_id: 'c-a/new/0' });

test('a run as it was written has no findings', () => {
  expect(verifyRun(run.path)).toMatchObject({
    run_id: 'small',
    cells: 2,
    segments: 7,
    rows: 270,
    findings: [],
  });
});

test('a segment without rows that nobody lists, as a kill between its opening and its first row leaves it, is none', () => {
  segment(run, run.readCell('c-a'), 'calls', []);
  expect(verifyRun(run.path)).toMatchObject({ segments: 8, rows: 270, findings: [] });
});

describe('a problem is', () => {
  // biome-ignore format: a table is read in columns
  test.each<[string, () => void, string, string, RegExp]>([
    ['a flipped bit',                 () => flip(inCell('calls-0.arrows'), 900),                     'segment_damaged', 'cells/c-a/calls-0.arrows',   /^wrong checksum of the batch at byte \d+; 30 rows/],
    ['a truncated segment',           () => truncateSync(inCell('texts-0.arrows'), 3000),            'segment_damaged', 'cells/c-a/texts-0.arrows',   /^cut inside a message/],
    ['a segment cut after a batch',   () => truncateSync(inCell('texts-0.arrows'), readFileSync(inCell('texts-0.arrows')).length - 8), 'segment_damaged', 'cells/c-a/texts-0.arrows', /bytes found where/],
    ['bytes behind the end',          () => appendFileSync(inCell('queries-0.arrows'), 'x'),         'segment_damaged', 'cells/c-a/queries-0.arrows', /follow the end mark/],
    ['another checksum',              () => change(({ segments }) => ({ segments: segments.map((s) => ({ ...s, sha256: '0'.repeat(64) })) })), 'segment_damaged', 'cells/c-a/queries-0.arrows', /^sha256 is/],
    ['a missing segment',             () => rmSync(inCell('calls-0.arrows')),                        'file_missing',    'cells/c-a/calls-0.arrows',   /missing/],
    ['a missing power file',          () => rmSync(join(run.powerFolder, 'rapl-0.arrows')),          'file_missing',    'power/rapl-0.arrows',        /missing/],
    ['a segment of another table',    () => copyFileSync(inCell('calls-0.arrows'), inCell('queries-1.arrows')), 'file_foreign', 'cells/c-a/queries-1.arrows', /holds table "calls"/],
    ['a segment that nobody lists',   () => copyFileSync(inCell('calls-0.arrows'), inCell('calls-1.arrows')),   'file_unlisted', 'cells/c-a/calls-1.arrows',  /40 rows of a closed sitting/],
    ["another cell's segment",        () => copyFileSync(join(run.cellFolder('c-b'), 'calls-0.arrows'), inCell('calls-1.arrows')), 'rows_foreign', 'cells/c-a/calls-1.arrows', /cell_id is "c-b" where c-a is wanted/],
    ['a file with a strange name',    () => writeFileSync(inCell('notes.arrows'), ''),               'file_foreign',    'cells/c-a/notes.arrows',     /not the name/],
    ['a power file that nobody lists', () => writeFileSync(join(run.powerFolder, 'x-0.arrows'), ''), 'file_unlisted',   'power/x-0.arrows',           /knows nothing/],
    ['a cell without a file',         () => rmSync(inCell('cell.json')),                             'json_invalid',    'cells/c-a',                  /cell\.json is missing/],
    ['a cell without a folder',       () => rmSync(run.cellFolder('c-a'), { recursive: true }),      'cell_missing',    'cells/c-a',                  /has no file/],
    ['a cell that was not planned',   () => run.updateManifest({ order: ['c-b'] }),                  'file_unlisted',   'cells/c-a',                  /not in the order/],
    ['a segment in another folder',   () => change(({ segments }) => ({ segments: segments.map((s) => ({ ...s, file: '../../../x' })) })), 'json_invalid', 'cells/c-a',               /segments\[?\.?0\]?\.file: expected the name of a file/],
    ['a broken manifest',             () => writeFileSync(join(run.path, 'run.json'), '{'),          'json_invalid',    'run.json',                   /is not JSON/],
    ['a meter that says more',        ledger('meter_j', 1 + 1e-8),                                   'conservation',    'cells/c-a',                  /are not the [\d.]+ J of the meter$/],
    ['a ledger that rows do not make', () => change(({ ledgers }) => ({ ledgers: ledgers.map((l) => ({ ...l, queries_j: (l.queries_j ?? 0) + 1, unattributed_j: (l.unattributed_j ?? 0) - 1 })) })), 'conservation', 'cells/c-a', /^40 rows hold [\d.]+ J, the ledgers/],
    ['a query with two rows',         add({ item_id: 'item 0', query_id: 'c-a/item%200/0' }),        'duplicate_query', 'cells/c-a',                  /c-a\/item%200\/0$/],
    ['a row of another model',        add({ model: 'other' }),                                       'rows_foreign',    'cells/c-a/queries-1.arrows', /model is "other" where model a is wanted/],
    ['a query that ends first',       add({ end_ns: 1n }),                                           'window',          'cells/c-a',                  /ends before it starts: c-a\/new\/0$/],
    ['energy beyond its bounds',      add({ energy_hi_j: 1 }),                                       'energy_bounds',   'cells/c-a',                  /outside its own bounds: c-a\/new\/0$/],
  ])('%s', (_, spoil, code, where, text) => {
    spoil();
    const problems = verifyRun(run.path).findings;
    expect(problems).toContainEqual({ level: 'problem', code, where, text: expect.stringMatching(text) });
  });

  test('every one of several', () => {
    flip(inCell('calls-0.arrows'), 900);
    rmSync(inCell('texts-0.arrows'));
    writeFileSync(join(run.cellFolder('c-b'), 'x.arrows'), '');
    expect(
      verifyRun(run.path)
        .findings.map(({ code }) => code)
        .sort(),
    ).toEqual(['file_foreign', 'file_missing', 'segment_damaged']);
  });
});

test('the cut tail of a sitting that crashed is a note, a flipped bit in it is not', () => {
  const bytes = readFileSync(inCell('queries-0.arrows'));
  writeFileSync(inCell('calls-1.arrows'), readFileSync(inCell('calls-0.arrows')).subarray(0, -300));
  change(({ sittings }) => ({ sittings: [...sittings, { ...sittings[0]!, sitting: 1, state: 'crashed' }] }));
  expect(verifyRun(run.path).findings).toEqual([
    {
      level: 'note',
      code: 'segment_torn',
      where: 'cells/c-a/calls-1.arrows',
      text: expect.stringMatching(/30 rows can be read$/),
    },
  ]);
  const { length } = readFileSync(inCell('calls-1.arrows'));
  flip(inCell('calls-1.arrows'), Math.floor(length * 0.4));
  expect(verifyRun(run.path).findings).toMatchObject([{ level: 'problem', code: 'segment_damaged' }]);
  expect(readFileSync(inCell('queries-0.arrows'))).toEqual(bytes);
});

test('a run of a newer version, or none, is refused', () => {
  expect(() => verifyRun(join(root, 'none'))).toThrowError(
    expect.objectContaining({ code: 'RUN_NOT_FOUND' }),
  );
  const file = join(run.path, 'run.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...manifest, schema_version: SCHEMA_VERSION + 1 }));
  expect(() => verifyRun(run.path)).toThrowError(expect.objectContaining({ code: 'RUN_SCHEMA_NEWER' }));
});

test('rows of kernels that were run beside the cells are checked too', () => {
  const facts = {
    phase: 'after' as const,
    perwatt_version: '0',
    wall_time: '',
    host: null,
    devices: [],
    absent: [],
    steps: [],
  };
  const writer = openKernelSession(run.path, facts);
  writer.append([rowOf('kernels', createRng(1), {}) as KernelRow]);
  writer.close('done');
  expect(verifyRun(run.path)).toMatchObject({ segments: 8, rows: 271, findings: [] });
  flip(join(run.path, 'kernels/kernels-0.arrows'), 200);
  expect(verifyRun(run.path).findings).toMatchObject([
    { level: 'problem', where: 'kernels/kernels-0.arrows' },
  ]);
  writeFileSync(join(run.path, 'kernels/kernels.json'), '{');
  expect(verifyRun(run.path).findings).toMatchObject([
    { code: 'json_invalid', where: 'kernels/kernels.json' },
  ]);
});
