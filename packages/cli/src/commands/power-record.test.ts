import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock, PowerSource } from '@perwatt/core';
import { clock, powerSources } from '@perwatt/native-power';
import { readColumns } from '@perwatt/records';
import { powercapTree, scriptedPowerSource, steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Io } from '../io.js';
import { powerCommand } from './power.js';

const pkg = testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' });
const psys = testDomain({
  id: 'psys',
  source: 'rapl',
  provenance: 'counter',
  scope: 'system',
  in_total: false,
});
const guess = testDomain({
  id: 'cpu',
  source: 'guess',
  scope: 'cpu',
  kind: 'estimate',
  provenance: 'estimated',
  note: 'estimated, not measured: P = TDP*u',
});

const noAddon = powerSources().length === 0;
if (noAddon) process.stderr.write('tests with the addon skipped: it is not built\n');

/** Draws watts on the host's clock, ten readings a second. */
const steady = (domains: (typeof pkg)[], watts: readonly number[]) => (own: Clock) => [
  steadyPowerSource({
    name: domains[0]?.source ?? '',
    domains,
    clock: own,
    watts: (d) => watts[d] ?? 0,
  }),
];

function world(sources: (own: Clock) => readonly PowerSource[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const stopping = new AbortController();
  let code = 0;
  const io: Io = {
    print: (line) => void out.push(line),
    printError: (line) => void err.push(line),
    draw: () => {},
    stdin: Readable.from([]),
    env: process.env,
    cwd: tmpdir(),
    columns: null,
    wallTime: () => new Date(0),
    signal: stopping.signal,
    setExitCode: (value) => {
      code = value;
    },
  };
  const pause = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  const run = (args: readonly string[]) =>
    new Command('perwatt')
      .addCommand(powerCommand(io, { sources: () => sources(clock), clock, pause }))
      .parseAsync(['power', 'record', ...args], { from: 'user' });
  return { run, out, err, stopping, code: () => code };
}

const node = (script: string) => ['--', process.execPath, '-e', script];
const wait = (ms: number) => node(`setTimeout(() => {}, ${ms})`);

interface Summary {
  readonly kind: string;
  readonly duration_ns: number;
  readonly domains: readonly Readonly<Record<string, unknown>>[];
  readonly total: Readonly<Record<string, number | null>>;
}

const summaryOf = (out: readonly string[]) => JSON.parse(out.at(-1) ?? '') as Summary;

test('a steady draw is accounted for: gross, and net of the idle host', async () => {
  const { run, out, err, code } = world(steady([pkg, psys], [40, 61]));
  await run(['--baseline', '500ms', '--json', ...wait(300)]);
  const { kind, duration_ns, domains, total } = summaryOf(out);
  expect(kind).toBe('record');
  expect(duration_ns).toBeGreaterThan(300e6);
  const expected = (40 * duration_ns) / 1e9;
  expect(domains[0]).toMatchObject({ id: 'package-0', provenance: 'counter', reason: null });
  expect(domains[0]?.['gross_energy_j']).toBeCloseTo(expected, 6);
  expect(domains[0]?.['gross_lo_j']).toBeLessThan(expected);
  expect(domains[0]?.['gross_hi_j']).toBeGreaterThan(expected);
  expect(domains[0]?.['net_energy_j']).toBeCloseTo(0, 6);
  expect(domains[0]?.['baseline_power_w']).toBeCloseTo(40, 6);
  expect(domains[0]?.['mean_power_w']).toBeCloseTo(40, 6);
  expect(domains[0]?.['peak_power_w']).toBeCloseTo(40, 6);
  expect(total['gross_energy_j']).toBeCloseTo(expected, 6);
  expect(err).toEqual([]);
  expect(code()).toBe(0);
});

test('people get one line a domain on standard error; an estimate is called one', async () => {
  const { run, out, err } = world(steady([guess], [5.4321]));
  await run(['--baseline', '0s', ...wait(150)]);
  expect(out).toEqual([]);
  expect(err[0]).toMatch(/^\d+\.\d+ s, exit code 0; no baseline, so no net energy$/);
  expect(err[1]).toMatch(
    /^cpu {2}cpu {2}gross [\d.]+ J \([\d.]+\.\.[\d.]+ J\) {2}net - {2}mean 5\.43 W {2}peak 5\.43 W {2}estimated$/,
  );
  expect(err[2]).toBe(guess.note);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, command: readonly string[], code: number, said: RegExp]>([
  ['its own code',            node('process.exit(7)'),                          7,   /exit code 7/],
  ['a signal that ended it',  node('process.kill(process.pid, "SIGKILL")'),     137, /ended by SIGKILL/],
  ['no such command',         ['--', 'no-such-command-anywhere'],               127, /no command is called no-such-command-anywhere/],
  ['not a command',           ['--', tmpdir()],                                 126, /cannot run/],
])('the exit code is handed on: %s', async (_why, command, wanted, said) => {
  const { run, err, code } = world(steady([pkg], [1]));
  await run(['--baseline', '0s', ...command]);
  expect(code()).toBe(wanted);
  expect(err[0]).toMatch(said);
});

test('a signal to us reaches the command, and its own answer counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-record-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ready = join(folder, 'ready');
  const { run, err, stopping, code } = world(steady([pkg], [1]));
  const script = `process.on('SIGTERM', () => process.exit(3)); require('node:fs').writeFileSync(${JSON.stringify(ready)}, ''); setInterval(() => {}, 1000);`;
  const running = run(['--baseline', '0s', ...node(script)]);
  await vi.waitFor(() => expect(existsSync(ready)).toBe(true), { timeout: 20_000 });
  stopping.abort(new Error('SIGTERM'));
  await running;
  expect(code()).toBe(3);
  expect(err[0]).toMatch(/exit code 3/);
});

test('a baseline that is too short for a source is said to be', async () => {
  const { run, err } = world(steady([pkg], [1]));
  await run(['--baseline', '1ms', ...wait(100)]);
  expect(err[0]).toMatch(/exit code 0; the baseline was too short for net energy$/);
});

test('options of the command are its own', async () => {
  const { run, out, code } = world(steady([pkg], [1]));
  await run([
    '--baseline',
    '0s',
    '--json',
    '--',
    process.execPath,
    '-e',
    'process.exit(process.argv.length)',
    '--',
    '--json',
    '-j8',
  ]);
  expect(summaryOf(out).kind).toBe('record');
  expect(code()).toBe(3);
});

test('interrupted while it watches the idle host, it runs nothing', async () => {
  const { run, out, stopping, code } = world(steady([pkg], [1]));
  stopping.abort(new Error('SIGINT'));
  await run(['--baseline', '1h', '--json', ...wait(0)]);
  expect([out, code()]).toEqual([[], 130]);
});

test('a domain that stops being read makes its energy and the total unknown', async () => {
  const dram = testDomain({ id: 'dram-0', source: 'rapl', provenance: 'counter', scope: 'dram' });
  const origin = clock.now();
  const source = scriptedPowerSource({
    name: 'rapl',
    domains: [pkg, dram],
    readings: [-0.02, 0, 100].map((s) =>
      [0, 1].map((domain) => ({
        at_ns: origin + BigInt(Math.round(s * 1e9)),
        domain,
        booked_energy_j: 10 * (s + 1),
        event: domain === 1 && s > 0 ? ('missing' as const) : ('ok' as const),
      })),
    ),
  });
  const { run, out } = world(() => [source]);
  await run(['--baseline', '0s', '--json', ...wait(600)]);
  const { domains, total } = summaryOf(out);
  expect(domains[1]).toMatchObject({ id: 'dram-0', gross_energy_j: null, reason: expect.any(String) });
  expect(total['gross_energy_j']).toBeNull();
});

test('a platform that shows less than its package is not believed', async () => {
  const { run, out } = world(steady([pkg, psys], [99, 0.006]));
  await run(['--baseline', '0s', '--json', ...wait(200)]);
  const [package0, system] = summaryOf(out).domains;
  expect(package0?.['reason']).toBeNull();
  expect(system).toMatchObject({ gross_energy_j: null, reason: 'less than the packages inside it' });
});

test('samples are kept as a segment that a run would read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-record-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'samples.arrows');
  const { run, out } = world(steady([pkg], [40]));
  await run(['--baseline', '0s', '--json', '--out', path, ...wait(200)]);
  const { series, info } = readColumns(path);
  expect(info.torn).toBeNull();
  const booked = series.get('package-0')?.booked_j ?? new Float64Array();
  expect(booked.at(-1)).toBeGreaterThanOrEqual(summaryOf(out).total['gross_energy_j'] ?? Number.NaN);
  await expect(run(['--baseline', '0s', '--out', path, ...wait(0)])).rejects.toThrow(
    `${path} exists already`,
  );
});

test.skipIf(noAddon)('reads the real counters of the tree it is pointed at', async () => {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 7 }]);
  onTestFinished(tree.remove);
  const { run, out } = world(() => powerSources({ root: tree.root }).slice(0, 1));
  await run(['--baseline', '0s', '--json', ...wait(50)]);
  expect(summaryOf(out).domains).toMatchObject([{ id: 'rapl:0:package-0', gross_energy_j: 0 }]);
});
