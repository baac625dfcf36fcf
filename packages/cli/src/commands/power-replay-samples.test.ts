import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MatrixFile } from '@perwatt/core';
import { SegmentWriter } from '@perwatt/records';
import { Command } from 'commander';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { openMeters, recordedSource } from '../meters.js';
import { recordedDomains, writeRecording } from '../recorded-samples.fixture.js';
import { powerCommand } from './power.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-replay-test-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

async function replay(...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: folder });
  const program = new Command('perwatt').addCommand(powerCommand(io));
  await program.parseAsync(['power', 'replay', ...args], { from: 'user' });
  return result;
}

const account = async (...args: readonly string[]) => {
  const { out, err } = await replay(...args, '--json');
  expect(out).toHaveLength(1);
  return { err, ...JSON.parse(out[0]!) };
};

test('every domain is accounted for as when it was recorded, and called replayed', async () => {
  writeRecording(join(folder, 'power.arrows'));
  const { domains, total, ...rest } = await account('power.arrows');
  expect(rest).toMatchObject({
    kind: 'replay',
    provenance: 'replayed',
    torn: null,
    from_ns: 0,
    duration_ns: 10e9,
  });
  expect(domains).toMatchObject([
    {
      id: 'package-0',
      provenance: 'replayed',
      recorded_provenance: 'counter',
      mean_power_w: 20,
      reason: null,
    },
    { id: 'core', provenance: 'replayed', in_total: false, gross_energy_j: 40, coverage_ratio: 1 },
  ]);
  expect(domains[0].gross_energy_j).toBeCloseTo(200, 9);
  expect(domains[0].gross_lo_j).toBeLessThanOrEqual(200);
  expect(domains[0].gross_hi_j).toBeGreaterThanOrEqual(200);
  expect(domains[0].peak_power_w).toBeCloseTo(30, 9);
  expect(total.gross_energy_j).toBeCloseTo(200, 9);
  expect(rest.events).toEqual([{ domain: 'package-0', event: 'gap', at_ns: 8e9, since_ns: 2e9 }]);
});

// biome-ignore format: a table is read in columns
test.each<[window: string, joules: number | null, events: number, why: string]>([
  ['0,5',          50,   0, 'before the load'],
  ['5,10',         150,  1, 'the load'],
  ['500ms,2500ms', 20,   0, 'between readings, in units'],
  ['2s,4',         20,   0, 'with and without unit'],
  ['5,20',         null, 1, 'beyond the last reading'],
])('a window of %s has %s J and %i events: %s', async (window, joules, events) => {
  writeRecording(join(folder, 'power.arrows'));
  const { domains, ...rest } = await account('power.arrows', '--window', window);
  if (joules === null) expect(domains[0]).toMatchObject({ gross_energy_j: null, reason: 'not read at both ends' });
  else expect(domains[0].gross_energy_j).toBeCloseTo(joules, 6);
  expect(rest.events).toHaveLength(events);
});

test('for people: a line a domain, what is not summed, and what happened', async () => {
  writeRecording(join(folder, 'power.arrows'));
  const { out } = await replay('power.arrows');
  expect(out[0]).toBe('10.00 s, from 0 s on, replayed');
  expect(out[1]).toMatch(
    /^package-0 {2}package {2}200\.00 J \(.*\) {2}mean 20\.00 W {2}peak 30\.00 W {2}covered 100\.0 % {2}replayed \(counter\)$/,
  );
  expect(out.slice(-3)).toEqual([
    'not in the total: core',
    'events: package-0: gap × 1',
    'gap: package-0 at 8.000 s, 2.000 s after the last reading',
  ]);
});

test('a torn file is read as far as it is whole, and says so', async () => {
  const path = join(folder, 'power.arrows');
  writeRecording(path);
  truncateSync(path, readFileSync(path).length - 200);
  const { domains, torn, err } = await account('power.arrows');
  expect(domains[0].gross_energy_j).toBeCloseTo(40, 9);
  expect(torn).toEqual(expect.any(String));
  expect(err).toEqual([expect.stringMatching(/^warning: power\.arrows: .*; the rest was read$/)]);
  expect(() => recordedSource(path, 'tape')).toThrowError(
    expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringContaining('is torn') }),
  );
});

describe('one clear error', () => {
  const calls = (path: string) => {
    const place = { folder: join(path, '..'), file: 'calls.arrows', sitting: 0 };
    SegmentWriter.create({ ...place, table: 'calls', metadata: {} }).close();
  };
  // biome-ignore format: a table is read in columns
  test.each<[why: string, file: string, write: (path: string) => void, code: string, message: RegExp]>([
    ['no file',            'gone.arrows',  () => {},                                       'RUN_INVALID',   /gone\.arrows cannot be read/],
    ['not Arrow',          'text.arrows',  (path) => writeFileSync(path, 'hello, world'),  'INPUT_INVALID', /text\.arrows holds no samples: /],
    ['empty',              'empty.arrows', (path) => writeFileSync(path, ''),              'INPUT_INVALID', /holds no samples: the file is empty/],
    ['another table',      'calls.arrows', calls,                                          'RUN_INVALID',   /holds table "calls", not "samples"/],
    ['unnamed domains',    'odd.arrows',   (path) => writeRecording(path, [{ ...recordedDomains[0]!, scope: 'moon' as never }, recordedDomains[1]!]), 'INPUT_INVALID', /doesn't say what its domains are/],
  ])('%s', async (_why, file, write, code, message) => {
    write(join(folder, file));
    await expect(replay(file)).rejects.toThrowError(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test.each(['5', '5,2', '1,2,3', 'a,b'])('a window of "%s" is a wrong usage', async (window) => {
    await expect(replay('x.arrows', '--window', window)).rejects.toThrowError(
      expect.objectContaining({ code: 'USAGE' }),
    );
  });

  test('a window of fixtures is a wrong usage', async () => {
    writeFileSync(join(folder, 'cases.json'), '[]');
    await expect(replay('cases.json', '--window', '0,1')).rejects.toThrowError(
      expect.objectContaining({ code: 'USAGE' }),
    );
  });
});

test('a recording is a source of replayed energy, with what its own total summed', () => {
  writeRecording(join(folder, 'power.arrows'));
  const source = recordedSource(join(folder, 'power.arrows'), 'tape');
  const recorder = source.start();
  onTestFinished(() => recorder.stop());
  expect(source).toMatchObject({ name: 'tape', provenance: 'replayed', default_period_ns: 1e9 });
  expect(recorder.domains).toMatchObject([
    { id: 'tape:package-0', provenance: 'replayed', in_total: true },
    { id: 'tape:core', provenance: 'replayed', in_total: false },
  ]);
  expect([...recorder.drain().booked_energy_j]).toEqual([0, 0]);
});

test('an estimate is not played back as if it had been measured, and its account says what it is', async () => {
  const guess = { kind: 'estimate', provenance: 'estimated', note: 'estimated: two curves' } as const;
  writeRecording(
    join(folder, 'power.arrows'),
    recordedDomains.map((domain) => ({ ...domain, ...guess })),
  );
  expect(() => recordedSource(join(folder, 'power.arrows'), 'tape')).toThrowError(
    expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringContaining('holds an estimate') }),
  );
  const { out } = await replay('power.arrows');
  expect(out[1]).toContain('replayed (estimated)');
  expect(out).toContain('estimated: two curves');
});

test('a file of several sources is named source by source, and is no meter', async () => {
  const other = { ...recordedDomains[1]!, source: 'gpu', in_total: true, scope: 'gpu' as const };
  writeRecording(join(folder, 'power.arrows'), [recordedDomains[0]!, other]);
  const { sources, total } = await account('power.arrows');
  expect(sources.map(({ source }: { source: string }) => source)).toEqual(['rapl', 'gpu']);
  expect(total.gross_energy_j).toBeCloseTo(240, 9);
  expect(() => recordedSource(join(folder, 'power.arrows'), 'tape')).toThrowError(
    'holds several sources: rapl, gpu',
  );
});

test('domains of two provenances are not summed: the first tier is, as in a run', () => {
  const gauge = { ...recordedDomains[1]!, provenance: 'integrated' as const, in_total: true };
  writeRecording(join(folder, 'power.arrows'), [recordedDomains[0]!, gauge]);
  const recorder = recordedSource(join(folder, 'power.arrows'), 'tape').start();
  onTestFinished(() => recorder.stop());
  expect(recorder.domains.map(({ in_total }) => in_total)).toEqual([true, false]);
});

test('what the recorder observed widens the bounds; without it the declared period stands, and it is said', async () => {
  const path = join(folder, 'power.arrows');
  writeRecording(path);
  const width = ({ gross_hi_j, gross_lo_j }: { gross_hi_j: number; gross_lo_j: number }) =>
    gross_hi_j - gross_lo_j;
  const known = await account('power.arrows');
  expect(known.domains[0].update_period_ns).toBe(50e6);
  rmSync(join(folder, 'power-recorders.json'));
  const declared = await account('power.arrows');
  expect(declared.domains[0].update_period_ns).toBe(1e6);
  expect(width(known.domains[0])).toBeGreaterThan(5 * width(declared.domains[0]));
  expect([known, declared].map(({ sources }) => sources[0].recorder_known)).toEqual([true, false]);
  expect((await replay('power.arrows')).out.at(-1)).toMatch(/^rapl: how it was recorded is not known/);
  writeFileSync(join(folder, 'power-recorders.json'), '[7]');
  await expect(replay('power.arrows')).rejects.toThrowError("isn't what a recording left");
});

test('a file of a run is read with what its manifest says', async () => {
  const golden = new URL('../../golden/run-1.json.gz', import.meta.url);
  const files: Record<string, string> = JSON.parse(gunzipSync(readFileSync(golden)).toString());
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'old', path)), { recursive: true });
    writeFileSync(join(folder, 'old', path), Buffer.from(bytes, 'base64'));
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'old/run.json'), 'utf8'));
  const [kept] = manifest.power;
  const [{ id }] = kept.domains;
  kept.status = {
    state: 'stopped',
    reason: null,
    reads: 1,
    missed_deadlines: 0,
    read_ns: 0,
    flags: [`cross-check:${id}`],
  };
  writeFileSync(join(folder, 'old/run.json'), JSON.stringify(manifest));
  const { domains, sources, torn } = await account(`old/power/${kept.file}`);
  expect(torn).toBeNull();
  expect(domains[0]).toMatchObject({
    id,
    provenance: 'replayed',
    recorded_provenance: kept.domains[0].provenance,
  });
  expect(domains[0].gross_energy_j).toBeGreaterThan(0);
  expect(sources).toMatchObject([
    {
      source: kept.source,
      period_ns: kept.period_ns,
      explained_flags: [{ code: 'power_cross_check', domain: id }],
    },
  ]);
});

test('a matrix names a recording as a meter, from its own folder, and it is replayed energy', async () => {
  mkdirSync(join(folder, 'tapes'));
  writeRecording(join(folder, 'tapes/power.arrows'));
  const { power } = MatrixFile.parse({
    name: 'm',
    axes: { model: ['m'], dataset: ['d'] },
    power: { sources: ['tape'], meters: [{ id: 'tape', kind: 'replay', path: 'tapes/power.arrows' }] },
  });
  const opened = await openMeters(power!, { io: recordedIo().io, base: folder });
  expect(opened).toMatchObject([{ name: 'tape', provenance: 'replayed' }]);
});

test('a file in a folder called power is read without a run, too', async () => {
  mkdirSync(join(folder, 'power'));
  writeRecording(join(folder, 'power', 'loose.arrows'));
  expect((await account('power/loose.arrows')).domains).toHaveLength(2);
});
