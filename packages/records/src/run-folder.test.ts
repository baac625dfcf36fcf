import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hints, type QueryRow, SCHEMA_VERSION, type TextRow } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { completedQueries } from './completed-queries.js';
import type { PowerFile } from './manifest.js';
import { createRun, openRun, type RunFolder } from './run-folder.js';
import { SegmentWriter } from './segment-writer.js';
import { plainCell, plainManifest } from './small-run.fixture.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-runs-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const manifest = plainManifest;
const cell = plainCell;

const problem = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'PerwattError', code, message: expect.stringMatching(message) });

describe('a run', () => {
  test('is made with its folders and read back as it was written', () => {
    const run = createRun(join(root, 'deep', 'runs'), manifest);
    expect(run.path).toBe(join(root, 'deep', 'runs', 'run-1'));
    expect(readdirSync(run.path).sort()).toEqual(['cells', 'power', 'run.json']);
    expect(openRun(run.path).manifest).toEqual(manifest);
  });

  test('is never made over another, nor outside its root', () => {
    createRun(root, manifest);
    expect(() => createRun(root, { ...manifest, status: 'done' })).toThrowError(
      problem('INPUT_INVALID', /run-1 exists already$/),
    );
    expect(openRun(join(root, 'run-1')).manifest.status).toBe('running');
    for (const run_id of ['../x', '', '.', 'a/b', '.hidden', 'a\0b', 'x'.repeat(300)]) {
      expect(() => createRun(root, { ...manifest, run_id }), run_id).toThrowError(
        problem('INPUT_INVALID', /^run id/),
      );
    }
    expect(readdirSync(root)).toEqual(['run-1']);
  });

  test('keeps what its manifest was patched with', () => {
    const run = createRun(root, manifest);
    run.updateManifest({ status: 'done' });
    run.updateManifest({ order: ['c1'] });
    const expected = { ...manifest, status: 'done', order: ['c1'] };
    expect(run.manifest).toEqual(expected);
    expect(openRun(run.path).manifest).toEqual(expected);
    expect(readdirSync(run.path).sort()).toEqual(['cells', 'power', 'run.json']);
  });

  test('keeps keys of its manifest that this version does not know', () => {
    const { path } = createRun(root, manifest);
    writeFileSync(join(path, 'run.json'), JSON.stringify({ ...manifest, later: { a: 1 } }));
    openRun(path).updateManifest({ status: 'interrupted' });
    expect(JSON.parse(readFileSync(join(path, 'run.json'), 'utf8'))).toMatchObject({
      later: { a: 1 },
      status: 'interrupted',
    });
  });

  test('is locked by one at a time', () => {
    const run = createRun(root, manifest);
    const release = run.lock();
    expect(() => openRun(run.path).lock()).toThrowError(problem('RUN_IN_USE', /held by process \d+/));
    release();
    openRun(run.path).lock()();
  });
});

describe('what is no run', () => {
  const broken = (text: string) => {
    const { path } = createRun(root, manifest);
    writeFileSync(join(path, 'run.json'), text);
    return path;
  };
  const changed = (change: object) => JSON.stringify({ ...manifest, ...change });

  // biome-ignore format: a table is read in columns
  test.each<[string, string, string, RegExp]>([
    ['cut JSON',                 '{"run_id": "ru',                             'RUN_INVALID',      /run\.json is not JSON: /],
    ['an empty file',            '',                                           'RUN_INVALID',      /run\.json is not JSON: /],
    ['another shape',            '[]',                                         'RUN_INVALID',      /run\.json is not valid: the whole: /],
    ['a missing field',          changed({ order: undefined }),                'RUN_INVALID',      /run\.json is not valid: order: /],
    ['two wrong fields',         changed({ status: 'x', power: {} }),          'RUN_INVALID',      /status: .*; power: /],
    ['a newer schema',           changed({ schema_version: SCHEMA_VERSION + 1 }), 'RUN_SCHEMA_NEWER', /run\.json has schema version 2; this version reads up to 1$/],
    ['a newer, other shape',     `{"schema_version": ${SCHEMA_VERSION + 1}}`,  'RUN_SCHEMA_NEWER', /version 2/],
  ])('with %s is named', (_, text, code, message) => {
    expect(() => openRun(broken(text))).toThrowError(problem(code, message));
  });

  test('for want of a folder or a manifest is named', () => {
    expect(() => openRun(join(root, 'none'))).toThrowError(problem('RUN_NOT_FOUND', /^no run at .*none: /));
    expect(() => openRun(root)).toThrowError(problem('RUN_NOT_FOUND', /run\.json is missing$/));
    writeFileSync(join(root, 'file'), '');
    expect(() => openRun(join(root, 'file'))).toThrowError(problem('FILE_UNREADABLE', /ENOTDIR/));
  });
});

describe('cells', () => {
  test('are written whole and listed in the order of execution', () => {
    const run = createRun(root, manifest);
    run.writeCell(cell('c1', { position: 1 }));
    run.writeCell(cell('c2', { position: 0 }));
    run.writeCell(cell('c1', { position: 1, status: 'done' }));
    mkdirSync(join(run.path, 'cells', 'without-a-file'));
    expect(run.cells().map((c) => [c.cell_id, c.status])).toEqual([
      ['c2', 'planned'],
      ['c1', 'done'],
    ]);
    expect(run.readCell('c1')).toEqual(cell('c1', { position: 1, status: 'done' }));
    expect(readdirSync(run.cellFolder('c1'))).toEqual(['cell.json']);
  });

  test('keep their old file when the new one cannot be written', () => {
    const run = createRun(root, manifest);
    run.writeCell(cell('c1'));
    mkdirSync(join(run.cellFolder('c1'), '.cell.json.tmp'));
    expect(() => run.writeCell(cell('c1', { status: 'done' }))).toThrowError(
      problem('FILE_UNREADABLE', /cell\.json/),
    );
    expect(run.readCell('c1').status).toBe('planned');
  });

  test('that are missing, broken or of a newer schema are named', () => {
    const run = createRun(root, manifest);
    expect(() => run.readCell('c9')).toThrowError(problem('RUN_INVALID', /c9\/cell\.json is missing$/));
    run.writeCell(cell('c1'));
    const file = join(run.cellFolder('c1'), 'cell.json');
    writeFileSync(file, JSON.stringify({ ...cell('c1'), status: 'lost' }));
    expect(() => run.cells()).toThrowError(problem('RUN_INVALID', /c1\/cell\.json is not valid: status: /));
    writeFileSync(file, JSON.stringify({ ...cell('c1'), schema_version: SCHEMA_VERSION + 1 }));
    expect(() => run.readCell('c1')).toThrowError(problem('RUN_SCHEMA_NEWER', /cell\.json/));
  });

  test('stay in their folder', () => {
    const run = createRun(root, manifest);
    for (const id of ['../power', '..', 'a/b', '/etc', '']) {
      expect(() => run.writeCell(cell(id)), id).toThrowError(problem('INPUT_INVALID', /^cell id/));
      expect(() => run.cellFolder(id), id).toThrowError(problem('INPUT_INVALID', /^cell id/));
      expect(() => run.readCalls(id), id).toThrowError(problem('INPUT_INVALID', /^cell id/));
    }
    expect(() => run.nextSegment(run.powerFolder, '../x')).toThrowError(
      problem('INPUT_INVALID', /^segment prefix/),
    );
  });
});

test('segments are numbered behind the highest, and only by their own prefix', () => {
  const run = createRun(root, manifest);
  const folder = run.powerFolder;
  expect(run.nextSegment(folder, 'rapl')).toBe(0);
  expect(run.nextSegment(join(folder, 'none'), 'rapl')).toBe(0);
  for (const file of [
    'rapl-0.arrows',
    'rapl-10.arrows',
    'rapl-9.arrows',
    'rapl-x.arrows',
    'rapl-011.arrows',
    'rapl-12.parquet',
    'rapl-2-50.arrows',
  ]) {
    writeFileSync(join(folder, file), '');
  }
  expect(run.nextSegment(folder, 'rapl')).toBe(11);
  expect(run.nextSegment(folder, 'rapl-2')).toBe(51);
});

const textRow = (query_id: string, changes: Partial<TextRow> = {}): TextRow => ({
  run_id: 'run-1',
  cell_id: 'c1',
  query_id,
  call_id: null,
  sitting: 0,
  kind: 'answer',
  text: `answer to ${query_id}`,
  detail: '{"status":"answered"}',
  ...changes,
});

const queryRow = (query_id: string, sitting: number): QueryRow => ({
  run_id: 'run-1',
  cell_id: 'c1',
  query_id,
  item_id: 'i',
  repeat: 0,
  sitting,
  dataset: 'd',
  subject: null,
  strategy: 's',
  model: 'a',
  accelerator: 'x',
  scheduled_ns: null,
  start_ns: 1n,
  end_ns: 2n,
  calls: 1,
  rounds: 1,
  prompt_tokens: null,
  completion_tokens: null,
  cached_tokens: null,
  reasoning_tokens: null,
  sequential_tokens: null,
  token_source: null,
  status: 'answered',
  error_code: null,
  verdict: 'correct',
  score: 1,
  extracted: null,
  rule: null,
  grader: 'exact',
  grader_version: 1,
  energy_gross_j: null,
  energy_net_j: null,
  energy_lo_j: null,
  energy_hi_j: null,
  energy_method: 'none',
});

/** Writes a segment of the cell `c1` and leaves it unclosed, as a killed process does, or closes and lists it. */
function segment(
  run: RunFolder,
  table: 'texts' | 'queries',
  rows: readonly (TextRow | QueryRow)[],
  end: 'close' | 'kill' = 'close',
) {
  const folder = run.cellFolder('c1');
  const number = run.nextSegment(folder, table);
  const writer = SegmentWriter.create({
    folder,
    file: `${table}-${number}.arrows`,
    table,
    sitting: number,
    metadata: {},
  });
  writer.append(rows as never);
  writer.flush();
  if (end === 'kill') return;
  const entry = writer.close();
  const before = existsSync(join(folder, 'cell.json')) ? run.readCell('c1') : cell('c1');
  run.writeCell({ ...before, segments: [...before.segments, entry] });
}

describe('tables of a cell', () => {
  test('are read over all segments in the order of their numbers', () => {
    const run = createRun(root, manifest);
    for (let i = 0; i < 12; i++) segment(run, 'texts', [textRow(`q${i}`)], i === 3 ? 'kill' : 'close');
    const { rows, segments, torn } = run.readTexts('c1');
    expect(rows.map((r) => r.query_id)).toEqual(Array.from({ length: 12 }, (_, i) => `q${i}`));
    expect(segments.map((s) => s.sitting)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    expect(segments.filter((s) => !s.verified).map((s) => s.file)).toEqual(['texts-3.arrows']);
    expect(torn).toEqual([]);
    expect(run.readQueries('c1')).toEqual({ rows: [], segments: [], torn: [] });
    expect(run.readCalls('never-written').rows).toEqual([]);
  });

  test('name what is torn or missing and keep the rest', () => {
    const run = createRun(root, manifest);
    for (const id of ['a', 'b', 'c']) segment(run, 'texts', [textRow(id)]);
    const folder = run.cellFolder('c1');
    truncateSync(
      join(folder, 'texts-0.arrows'),
      readFileSync(join(folder, 'texts-0.arrows')).byteLength - 20,
    );
    unlinkSync(join(folder, 'texts-1.arrows'));
    const { rows, torn } = run.readTexts('c1');
    expect(rows.map((r) => r.query_id)).toEqual(['c']);
    expect(torn).toEqual([
      { file: 'texts-0.arrows', reason: expect.stringMatching(/^cut inside a message/), rows: 0 },
      { file: 'texts-1.arrows', reason: 'the file is missing', rows: 0 },
    ]);
  });
});

describe('completed queries', () => {
  test('are those with an answer; their details come parsed', () => {
    const run = createRun(root, manifest);
    segment(run, 'texts', [
      textRow('q0', { kind: 'completion', call_id: 'x' }),
      textRow('q1'),
      textRow('q2', { text: null, detail: '{' }),
    ]);
    const { answered, settled, duplicates, torn } = completedQueries(run, 'c1');
    expect([...answered.values()]).toEqual([
      { query_id: 'q1', sitting: 0, text: 'answer to q1', detail: { status: 'answered' } },
      { query_id: 'q2', sitting: 0, text: null, detail: null },
    ]);
    expect([settled.size, duplicates, torn]).toEqual([0, [], []]);
  });

  test('count once: the first written row wins and the others are named', () => {
    const run = createRun(root, manifest);
    segment(run, 'texts', [textRow('q0')], 'kill');
    segment(run, 'texts', [textRow('q0', { sitting: 1, text: 'late' }), textRow('q1', { sitting: 1 })]);
    segment(run, 'queries', [queryRow('q0', 0)]);
    segment(run, 'queries', [queryRow('q0', 1), queryRow('q1', 1)]);
    const { answered, settled, duplicates } = completedQueries(run, 'c1');
    expect(answered.get('q0')?.text).toBe('answer to q0');
    expect([...answered.keys()]).toEqual(['q0', 'q1']);
    expect([...settled.values()].map((q) => [q.query_id, q.sitting])).toEqual([
      ['q0', 0],
      ['q1', 1],
    ]);
    expect(duplicates).toEqual([
      { query_id: 'q0', table: 'texts', kept_sitting: 0, dropped_sitting: 1 },
      { query_id: 'q0', table: 'queries', kept_sitting: 0, dropped_sitting: 1 },
    ]);
  });
});

describe('power', () => {
  const domain = testDomain({ id: 'd0', source: 'rapl', provenance: 'counter' });
  const facts = {
    source: 'rapl',
    provenance: 'counter',
    period_ns: 1e8,
    domains: [domain],
    boot_id: 'b',
  } as const;
  const file = (run: RunFolder, at: readonly bigint[], end: 'close' | 'kill'): PowerFile => {
    const name = `rapl-${run.nextSegment(run.powerFolder, 'rapl')}.arrows`;
    const writer = SegmentWriter.create({
      folder: run.powerFolder,
      file: name,
      table: 'samples',
      sitting: 0,
      metadata: {},
    });
    writer.append(
      at.map((at_ns) => ({
        at_ns,
        read_ns: 1,
        domain: 'd0',
        raw: null,
        unit: 'uJ',
        event: 'ok',
        booked_energy_j: Number(at_ns),
        booked_lo_j: Number(at_ns) - 1,
        booked_hi_j: Number(at_ns) + 1,
        power_w: null,
      })),
    );
    writer.flush();
    return { ...facts, file: name, segment: end === 'close' ? writer.close() : null };
  };

  test('has readings beside it, with what is torn or missing', () => {
    const run = createRun(root, manifest);
    const writer = SegmentWriter.create({
      folder: run.powerFolder,
      file: 'rapl-channels-0.arrows',
      table: 'channels',
      sitting: 0,
      metadata: {},
    });
    const row = { device: 'cpu', channel: 'package_temp_c', unit: '°C', text: null, missing_reason: null };
    writer.append([{ ...row, at_ns: 3n, value: 51 }]);
    writer.flush();
    const none = { ...facts, file: 'rapl-0.arrows', segment: null };
    const power: PowerFile[] = [
      { ...none, channels: { file: 'rapl-channels-0.arrows', segment: writer.close() } },
      none,
      { ...none, channels: null },
      { ...none, channels: { file: 'gone-channels-0.arrows', segment: null } },
    ];
    run.updateManifest({ power });
    expect(run.nextSegment(run.powerFolder, 'rapl')).toBe(0);
    const about = { source: 'rapl', boot_id: 'b' };
    expect(openRun(run.path).channelReadings()).toEqual([
      { ...about, file: 'rapl-channels-0.arrows', rows: [{ ...row, at_ns: 3n, value: 51 }], torn: null },
      { ...about, file: 'gone-channels-0.arrows', rows: [], torn: 'the file is missing' },
    ]);
  });

  test('is read file by file, by domain, with what is torn or missing', () => {
    const run = createRun(root, manifest);
    const power = [
      file(run, [1n, 2n], 'kill'),
      file(run, [7n], 'close'),
      { ...facts, file: 'gone-0.arrows', segment: null },
    ];
    run.updateManifest({ power });
    const found = openRun(run.path).powerSeries();
    expect(found.map((f) => f.file)).toEqual(['rapl-0.arrows', 'rapl-1.arrows', 'gone-0.arrows']);
    expect(found[0]).toMatchObject({ ...facts, torn: null });
    expect(found[0]?.series.get('d0')).toEqual({
      at_ns: BigInt64Array.of(1n, 2n),
      booked_j: Float64Array.of(1, 2),
      lo_j: Float64Array.of(0, 1),
      hi_j: Float64Array.of(2, 3),
    });
    expect(found[1]?.series.get('d0')?.at_ns).toEqual(BigInt64Array.of(7n));
    expect(found[2]).toMatchObject({ torn: 'the file is missing', series: new Map() });
  });

  test('files named in the manifest cannot lie elsewhere', () => {
    const run = createRun(root, manifest);
    run.updateManifest({ power: [{ ...facts, file: '../../x.arrows', segment: null }] });
    expect(() => run.powerSeries()).toThrowError(problem('INPUT_INVALID', /^power file/));
  });
});

test('the error of a run that exists tells how to go on', () => {
  createRun(root, manifest);
  expect(() => createRun(root, manifest)).toThrowError(
    expect.objectContaining({ hint: expect.not.stringMatching(hints.INPUT_INVALID) }),
  );
});
