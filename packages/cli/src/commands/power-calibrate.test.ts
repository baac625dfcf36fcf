import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Calibration, type Clock, instant, type PowerSource } from '@perwatt/core';
import { manualClock, steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { calibrationsHere, storedCalibrations } from '../calibration-store.js';
import { recordedIo } from '../io.fixture.js';
import { powerCommand } from './power.js';

/** A host whose processor draws 10 W idle and 60 W busy; a wall meter sees 1.2 times that and 20 W more. */
function host({ stopAfter = Number.POSITIVE_INFINITY }: { readonly stopAfter?: number } = {}) {
  const config = mkdtempSync(join(tmpdir(), 'perwatt-config-'));
  onTestFinished(() => rmSync(config, { recursive: true, force: true }));
  const stopping = new AbortController();
  const clock = manualClock();
  let load = 0;
  let pauses = 0;
  const cpu = () => 10 + 50 * load;
  const meters: Readonly<Record<string, () => PowerSource>> = {
    rapl: () => meter(clock, 'rapl', cpu),
    wall: () =>
      meter(clock, 'wall', () => 20 + 1.2 * cpu(), { provenance: 'external', scale_error_ratio: 0.01 }),
    guess: () => meter(clock, 'guess', cpu, { provenance: 'estimated', kind: 'estimate' }),
    fixed: () => meter(clock, 'fixed', () => 33),
    inverse: () => meter(clock, 'inverse', () => 100 - cpu()),
    early: () => meter(stoppedClock(clock), 'early', cpu),
  };
  const world = {
    clock,
    host: 'here',
    sources: ({ names = ['rapl'] }: { readonly names?: readonly string[] }) =>
      names.map((name) => meters[name]?.() ?? expect.fail(`no source ${name}`)),
    load: () => ({
      set: (ratio: number) => {
        load = ratio;
      },
      stop: () => {},
    }),
    pause: async (ms: number) => {
      clock.advance(ms * 1e6);
      pauses += 1;
      if (pauses >= stopAfter) stopping.abort();
    },
  };
  const run = async (...args: string[]) => {
    const { io, result } = recordedIo({
      env: { PERWATT_CONFIG: config },
      cwd: config,
      signal: stopping.signal,
      wallTime: () => new Date('2026-11-30T12:00:00Z'),
    });
    await new Command('perwatt')
      .addCommand(powerCommand(io, world, '1.2.3'))
      .parseAsync(['power', 'calibrate', ...args], { from: 'user' });
    return result;
  };
  return { run, env: { env: { PERWATT_CONFIG: config } }, config };
}

const meter = (
  clock: Clock,
  name: string,
  watts: () => number,
  domain: Partial<ReturnType<typeof testDomain>> = {},
): PowerSource =>
  steadyPowerSource({
    name,
    domains: [testDomain({ id: `${name}:0`, source: name, provenance: 'counter', ...domain })],
    clock,
    watts,
  });

/** A clock that no longer moves from when it is first asked. */
const stoppedClock = (clock: Clock): Clock => {
  const at = clock.now();
  return { now: () => instant(at) };
};

test('scale and offset are found by stepping the load, stored with all that they rest on, and told', async () => {
  const { run, env } = host();
  const { out, err } = await run('--against', 'wall');
  expect(err.slice(0, 3)).toEqual(['0 % load for 24.0 s', '50.0 % load for 24.0 s', '100 % load for 24.0 s']);
  expect(out).toMatchInlineSnapshot(`
    [
      "rapl against wall (external)",
      "scale   1.200 (1.199..1.201)",
      "offset  20.0 W (20.0..20.0 W): told, never booked",
      "50 windows, 0.00 W about the line, the reference 0 s behind",
      "error of rapl in bounds: 21.3 %, before: none; the reference's own: 1.00 %",
    ]
  `);
  const [stored] = storedCalibrations(env);
  expect(stored?.calibration).toMatchObject({
    host: 'here',
    date: '2026-11-30T12:00:00.000Z',
    perwatt_version: '1.2.3',
    source: 'rapl',
    domains: ['rapl:0'],
    against: { source: 'wall', domains: ['wall:0'], provenance: 'external', scale_error_ratio: 0.01 },
    n: 50,
  });
  const { scale, offset_w, scale_lo, scale_hi, scale_error_ratio } = stored!.calibration;
  expect(scale).toBeCloseTo(1.2, 6);
  expect(offset_w).toBeCloseTo(20, 4);
  expect(scale_error_ratio).toBeCloseTo(0.2 + (scale_hi - scale_lo) / 2 + 1.2 * 0.01, 6);
  expect(calibrationsHere(env, 'here')).toHaveLength(1);
  expect(calibrationsHere(env, 'elsewhere')).toEqual([]);
});

test('a calibration is listed, replaced by the next and removed', async () => {
  const { run, env } = host();
  await run('--against', 'wall');
  await run('--against', 'wall', '--duration', '3m');
  expect((await run('--list')).out[0]).toBe(
    'rapl on here: against wall on 2026-11-30, scale 1.200, offset 20.0 W, error 21.2 %',
  );
  expect(JSON.parse((await run('--list', '--json')).out[0] ?? '')).toHaveLength(1);
  expect((await run('--remove', 'rapl')).out[0]).toMatch(/^removed .*here-rapl\.json$/);
  expect(storedCalibrations(env)).toEqual([]);
  expect((await run('--list')).out).toEqual(['no calibration is stored']);
  await expect(run('--remove', 'rapl')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
});

test('with --out it is written there and not applied', async () => {
  const { run, env, config } = host();
  const { err, out } = await run('--against', 'wall', '--out', 'mine.json', '--json');
  expect(err.at(-1)).toBe(`written, not applied: ${join(config, 'mine.json')}`);
  const written = JSON.parse(readFileSync(join(config, 'mine.json'), 'utf8')) as Calibration;
  expect(JSON.parse(out[0] ?? '')).toEqual(written);
  expect(calibrationsHere(env, 'here')).toEqual([]);
});

test('an estimator may be calibrated, for its bounds; by it nothing can be', async () => {
  const { run } = host();
  expect((await run('--source', 'guess', '--against', 'wall')).out[0]).toBe('guess against wall (external)');
  await expect(run('--against', 'guess')).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: 'guess estimates, and an estimate is no reference',
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [['--against', 'rapl'],                                  'rapl cannot be calibrated against itself',         'the same source'],
  [[],                                                     'no better meter was given',                        'no reference'],
  [['--against', 'wall', '--duration', '5s'],              /only 0 windows that both rapl and wall cover/,     'too short'],
  [['--against', 'early'],                                 'rapl and early were never read at the same time',  'overlapping nothing'],
  [['--source', 'fixed', '--against', 'wall'],             /fixed shows the same power throughout: 33\.0\.\.33\.0 W/, 'nothing moves'],
  [['--against', 'inverse'],                               /inverse doesn't rise with rapl \(10\.0\.\.60\.0 W\)/, 'a slope below 0'],
])('%j is refused: %s: %s', async (...[args, message]) => {
  const { run, env } = host();
  await expect(run(...args)).rejects.toMatchObject({
    name: 'PerwattError',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
  expect(storedCalibrations(env)).toEqual([]);
});

test('stopped before the end, nothing is stored', async () => {
  const { run, env } = host({ stopAfter: 30 });
  expect((await run('--against', 'wall')).code).toBe(130);
  expect(storedCalibrations(env)).toEqual([]);
});

test('a stored file that was changed, or is none, is one clear error with its path', async () => {
  const { run, env, config } = host();
  await run('--against', 'wall');
  const { file } = storedCalibrations(env)[0]!;
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/"scale": 1\.[12]\d*/, '"scale": 1'));
  expect(() => calibrationsHere(env, 'here')).toThrowError(
    `calibration ${file} was changed since it was made`,
  );
  writeFileSync(file, text.replace('"n": 50,', ''));
  expect(() => calibrationsHere(env, 'here')).toThrowError(/is not valid: n: /);
  writeFileSync(file, '{');
  expect(() => calibrationsHere(env, 'here')).toThrowError(`calibration ${file} cannot be read`);
  expect(existsSync(join(config, 'calibrations'))).toBe(true);
});
