import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openRun, readSegment, SegmentWriter } from '@perwatt/records';
import { unpackBundle } from '@perwatt/reports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { bundleCommand } from './bundle.js';

const golden = fileURLToPath(new URL('../../../../reports/golden/run.tgz', import.meta.url));
const VERSION = '0.1.0-test';

let root = '';
let run = '';
/** Version that packed the golden run: a check by the same one is strict. */
let packedBy = '';
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-bundle-'));
  await unpackBundle(golden, { into: join(root, 'golden'), most_bytes: 1e9 });
  run = join(root, 'golden/run');
  packedBy = openRun(run).manifest.perwatt_version;
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const bundle = (...args: readonly string[]) => bundleAs(VERSION, ...args);

/** The same as a version would do it. */
async function bundleAs(version: string, ...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: root });
  await bundleCommand(io, version)
    .exitOverride()
    .parseAsync([...args], { from: 'user' });
  return { code: result.code, out: result.out.join('\n'), err: result.err.join('\n') };
}

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** A bundle of the golden run with something changed, its manifest made to fit unless told otherwise. */
function changed(name: string, change: (folder: string) => void, { honest = false } = {}): string {
  const folder = join(root, name);
  cpSync(join(root, 'golden'), folder, { recursive: true });
  execFileSync('tar', ['xzf', golden, '-C', folder, 'bundle.json']);
  change(folder);
  const manifest = JSON.parse(readFileSync(join(folder, 'bundle.json'), 'utf8'));
  if (honest)
    for (const file of manifest.files) {
      file.bytes = statSync(join(folder, file.path)).size;
      file.sha256 = sha256(join(folder, file.path));
    }
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
  const out = join(root, `${name}.tgz`);
  const paths = ['bundle.json', ...manifest.files.map(({ path }: { path: string }) => path)];
  execFileSync('tar', ['czf', out, '--format=ustar', '-C', folder, ...paths]);
  return out;
}

const cellsOf = (folder: string) => openRun(join(folder, 'run')).cells();

type Row = Record<string, unknown>;

/** Writes a segment of the first cell anew with other rows, its listing in `cell.json` made to fit. */
function rewrite(folder: string, table: 'queries' | 'calls', change: (rows: Row[]) => Row[]): void {
  const opened = openRun(join(folder, 'run'));
  const [cell] = opened.cells();
  const file = `${table}-0.arrows`;
  const place = opened.cellFolder(cell!.cell_id);
  const { rows } = readSegment(join(place, file), table);
  rmSync(join(place, file));
  const metadata = { run_id: cell!.run_id, cell_id: cell!.cell_id };
  const writer = SegmentWriter.create({ folder: place, file, table, sitting: 0, metadata });
  writer.append(change(rows as unknown as Row[]) as never);
  const entry = writer.close();
  opened.writeCell({ ...cell!, segments: cell!.segments.map((one) => (one.file === file ? entry : one)) });
}

/** Changes the samples of the run's only power file, its listing in `run.json` made to fit. */
function rewriteSamples(folder: string, change: (rows: Row[]) => Row[]): void {
  const opened = openRun(join(folder, 'run'));
  const [power] = opened.manifest.power;
  const { rows } = readSegment(join(opened.powerFolder, power!.file), 'samples');
  rmSync(join(opened.powerFolder, power!.file));
  const writer = SegmentWriter.create({
    folder: opened.powerFolder,
    file: power!.file,
    table: 'samples',
    sitting: 0,
    metadata: {},
  });
  writer.append(change(rows as unknown as Row[]) as never);
  opened.updateManifest({ power: [{ ...power!, segment: writer.close() }] });
}

function editResults(
  folder: string,
  edit: (results: { cells: { metrics: { ipj_per_j: { value: number } } }[] }) => void,
): void {
  const file = join(folder, 'results.json');
  const results = JSON.parse(readFileSync(file, 'utf8'));
  edit(results);
  writeFileSync(file, JSON.stringify(results));
}

const oneJoule = (rows: Row[]) =>
  rows.map((row, i) =>
    i === 3 ? { ...row, energy_gross_j: Number(row['energy_gross_j']) + 1, energy_hi_j: null } : row,
  );

describe('a bundle', () => {
  test('of a run holds, and is the same bytes again', async () => {
    const [a, b] = [await bundle(run, '--out', 'a.tgz'), await bundle(run, '--out', 'b.tgz')];
    expect([a.code, b.code]).toEqual([0, 0]);
    expect(readFileSync(join(root, 'a.tgz')).equals(readFileSync(join(root, 'b.tgz')))).toBe(true);
    const checked = await bundle('check', 'a.tgz');
    expect(checked.out).toMatch(/48 queries in 2 sittings from the samples[\s\S]*everything holds$/);
    expect(checked.code).toBe(0);
    expect(execFileSync('tar', ['tzf', join(root, 'a.tgz')], { encoding: 'utf8' }).split('\n')[0]).toBe(
      'bundle.json',
    );
  });

  test('is not written over another, and asks for what is missing', async () => {
    writeFileSync(join(root, 'taken.tgz'), 'mine');
    await expect(bundle(run, '--out', 'taken.tgz')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await expect(bundle(run)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(bundle('--out', 'x.tgz')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(bundle('check', 'nowhere.tgz')).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test('of a damaged run is refused', async () => {
    const copy = join(root, 'damaged');
    cpSync(run, copy, { recursive: true });
    const [cell = ''] = readdirSync(join(copy, 'cells'));
    rmSync(join(copy, 'cells', cell, 'calls-0.arrows'));
    await expect(bundle(copy, '--out', 'damaged.tgz')).rejects.toMatchObject({
      code: 'RUN_INVALID',
      message: expect.stringContaining('calls-0.arrows'),
    });
  });
});

describe('a check finds', () => {
  // biome-ignore format: a table is read in columns
  test.each<[string, (folder: string) => void, boolean, RegExp]>([
    ['one changed joule of a query',  (f) => rewrite(f, 'queries', oneJoule),                       true,  /energy: cell c-\w+, sitting 0: query c-\S+ has [\d.]+ J, its samples give/],
    ['one changed joule of a meter',  (f) => rewriteSamples(f, (rows) => rows.map((row, i) => (i < 40 ? row : { ...row, booked_energy_j: Number(row['booked_energy_j']) + 1, booked_lo_j: Number(row['booked_lo_j']) + 1, booked_hi_j: Number(row['booked_hi_j']) + 1 }))), true, /results: .*claimed, .* comes out/],
    ['one dropped row',               (f) => rewrite(f, 'queries', (rows) => rows.slice(1)),        true,  /results: .*attempted: 24 is claimed, 23 comes out|results: /],
    ['one changed answer',            (f) => rewrite(f, 'queries', (rows) => rows.map((row) => ({ ...row, score: 1, verdict: 'correct' }))), true, /results: cells\.c-\w+\.metrics\.accuracy/],
    ['one edited result',             (f) => editResults(f, (results) => { results.cells[0]!.metrics.ipj_per_j.value = 9.99; }), true, /results: cells\.c-\w+\.metrics\.ipj_per_j\.value: 9\.99 is claimed/],
    ['a file of other bytes',         (f) => writeFileSync(join(f, 'run/run.json'), readFileSync(join(f, 'run/run.json'), 'utf8').replace('edge', 'Edge')), false, /archive: run\/run\.json has sha256/],
  ])('%s', async (name, change, honest, wanted) => {
    const file = changed(name.replaceAll(' ', '-'), change, { honest });
    const { code, out } = await bundle('check', file);
    expect(out).toMatch(wanted);
    expect(code).toBe(1);
  });

  test('a changed result that is not among its own kind, when told to be strict', async () => {
    const { io, result } = recordedIo({ cwd: root });
    const file = changed(
      'extra',
      (folder) => {
        const results = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
        results.cells[0].better_than_all = true;
        writeFileSync(join(folder, 'results.json'), JSON.stringify(results));
      },
      { honest: true },
    );
    await bundleCommand(io, VERSION).parseAsync(['check', file, '--json'], { from: 'user' });
    expect(JSON.parse(result.out.join('')).problems).toEqual([
      expect.stringContaining('better_than_all: true is claimed, nothing comes out'),
    ]);
    expect(cellsOf(join(root, 'extra'))).toHaveLength(2);
  });
});

describe('a claim that says less', () => {
  type Claim = {
    cells: {
      metrics: Record<string, unknown>;
      by_repeat: { values: Record<string, unknown> }[];
      verdict?: unknown;
    }[];
  };
  const without = (metric: string, cells: Claim['cells']) => {
    for (const cell of cells) {
      delete cell.metrics[metric];
      for (const { values } of cell.by_repeat) delete values[metric];
    }
  };

  // biome-ignore format: a table is read in columns
  test.each<[string, (claim: Claim) => void, number, RegExp, string]>([
    ['without a metric',               ({ cells }) => without('calls_per_query', cells),             0, /^note metrics that come out here and are not claimed: calls_per_query$/m, 'an earlier state of the version had none of it'],
    ['without a metric of one cell',   ({ cells }) => without('calls_per_query', cells.slice(0, 1)), 1, /calls_per_query: nothing is claimed/,   'what is claimed of some is missed in others'],
    ['without a verdict',              ({ cells }) => { delete cells[0]!.verdict; },                 1, /verdict\.\w+: nothing is claimed|verdict: nothing is claimed/, 'no figure'],
    ['without a cell',                 (claim) => { claim.cells.pop(); },                            1, /nothing is claimed/,                    'cells are never left out unseen'],
  ])('%s ends with the code it should: %s', async (name, edit, wanted, text) => {
    const file = changed(`less-${name.replaceAll(' ', '-')}`, (folder) => editResults(folder, edit as never), { honest: true });
    const { code, out } = await bundleAs(packedBy, 'check', file);
    expect(out).toMatch(text);
    expect(code).toBe(wanted);
  });
});

/** A gzipped tar by hand: what no honest program would make. */
function tarOf(
  entries: readonly { path: string; body?: string; type?: string; size?: number; sum?: number }[],
): Buffer {
  const blocks = entries.flatMap(({ path, body = '', type = '0', size = Buffer.byteLength(body), sum }) => {
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write('0000644\0', 100);
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    header.write(' '.repeat(8), 148);
    header.write(type, 156);
    header.write('ustar\u000000', 257);
    const real = header.reduce((total, byte) => total + byte, 0);
    header.write(`${(sum ?? real).toString(8).padStart(6, '0')}\0 `, 148);
    const padded = Buffer.alloc(Math.ceil(Buffer.byteLength(body) / 512) * 512);
    padded.write(body);
    return [header, padded];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const manifestWith = (files: readonly { path: string; bytes: number }[]) =>
  JSON.stringify({
    bundle_version: 1,
    run_id: 'r',
    perwatt_version: '0',
    metric_spec_version: 1,
    rewritten: [],
    files: files.map((file) => ({ ...file, sha256: 'a'.repeat(64) })),
    redacted: { hosts: 0, users: 0, home_paths: 0, secrets: 0, texts: false },
  });

describe('an archive is refused, with nothing written outside its folder,', () => {
  // biome-ignore format: a table is read in columns
  test.each<[string, () => Buffer, RegExp]>([
    ['when it climbs out',               () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: '../evil', bytes: 1 }]) }, { path: '../evil', body: 'x' }]), /files\.0\.path: a path must stay/],
    ['when a path is absolute',          () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: '/tmp/evil', bytes: 1 }]) }]),      /files\.0\.path/],
    ['when a path has a backslash',      () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'a\\..\\b', bytes: 1 }]) }]),       /files\.0\.path/],
    ['when a path hides',                () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'run/.git', bytes: 1 }]) }]),       /files\.0\.path/],
    ['when it holds a link',             () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'run', bytes: 0 }]) }, { path: 'run', type: '2' }]), /no plain file \(type "2"\)/],
    ['when a file is not listed',        () => tarOf([{ path: 'bundle.json', body: manifestWith([]) }, { path: 'evil', body: 'x' }]),        /"evil", which its manifest does not list/],
    ['when a file is longer than listed', () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'a', bytes: 1 }]) }, { path: 'a', body: 'xx' }]), /2 bytes, where its manifest lists 1/],
    ['when a file comes twice',          () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'a', bytes: 1 }]) }, { path: 'a', body: 'x' }, { path: 'a', body: 'y' }]), /twice/],
    ['when it would fill the disk',      () => tarOf([{ path: 'bundle.json', body: manifestWith([{ path: 'a', bytes: 2 ** 50 }]) }]),        /unpacks to 1125899906842624 bytes/],
    ['when a size lies',                 () => tarOf([{ path: 'bundle.json', body: '{}', size: 10_000 }]),                                   /ends in the middle/],
    ['when a header is damaged',         () => tarOf([{ path: 'bundle.json', body: '{}', sum: 1 }]),                                         /damaged header/],
    ['when it is no archive',            () => Buffer.from('hello'),                                                                         /cannot be unpacked/],
    ['when it is a bomb of zeros',       () => gzipSync(Buffer.alloc(50_000_000)),                                                           /is empty/],
    ['when it does not begin with its manifest', () => tarOf([{ path: 'a', body: 'x' }]),                                                    /does not begin with bundle\.json/],
  ])('%s', async (name, make, wanted) => {
    const [file, into] = [join(root, `${name.replaceAll(' ', '-')}.tgz`), join(root, 'cage', name.replaceAll(' ', '-'))];
    mkdirSync(into, { recursive: true });
    writeFileSync(file, make());
    await expect(bundle('check', file, '--into', into)).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringMatching(wanted) });
    expect(readdirSync(root)).not.toContain('evil');
    expect(readdirSync(join(root, 'cage'))).not.toContain('evil');
  });

  test('when its folder holds something', async () => {
    const into = join(root, 'full');
    mkdirSync(into);
    symlinkSync('/tmp', join(into, 'run'));
    await expect(bundle('check', golden, '--into', into)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });
});
