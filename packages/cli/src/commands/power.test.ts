import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, PerwattError, type PowerSource } from '@perwatt/core';
import { powerSources } from '@perwatt/native-power';
import { readColumns, readSegment } from '@perwatt/records';
import {
  manualClock,
  powercapTree,
  type ScriptedSample,
  scriptedPowerSource,
  steadyPowerSource,
  testDomain,
} from '@perwatt/test-kit';
import { expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { powerCommand } from './power.js';

const pkg = testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' });
const dram = testDomain({ id: 'dram-0', source: 'rapl', provenance: 'counter', scope: 'dram' });
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
  note: 'estimated, not measured: P = TDP*u; TDP = 8 W',
});

const noAddon = powerSources().length === 0;
if (noAddon) process.stderr.write('tests with the addon skipped: it is not built\n');

interface Given {
  readonly columns?: number;
  readonly env?: Io['env'];
  /** Ctrl-C after so many waits. */
  readonly stopAfter?: number;
  /** Made on a clock that the command's own waiting moves. Without it: the host's. */
  readonly sources?: (clock: Clock) => readonly PowerSource[];
}

async function run(args: readonly string[], { columns, env = {}, stopAfter = Infinity, sources }: Given) {
  const stopping = new AbortController();
  let waits = 0;
  const { io, result } = recordedIo({ env, columns: columns ?? null, signal: stopping.signal });
  const clock = manualClock();
  const world = sources && {
    sources: () => sources(clock),
    clock,
    pause: async (ms: number) => {
      clock.advance(ms * 1e6);
      waits += 1;
      if (waits >= stopAfter) stopping.abort();
    },
  };
  await powerCommand(io, world).parseAsync(args, { from: 'user' });
  return result;
}

const steady = (domains: (typeof pkg)[], watts: readonly number[]) => (clock: Clock) => [
  steadyPowerSource({
    name: domains[0]?.source ?? '',
    domains,
    clock,
    watts: (d) => watts[d] ?? 0,
    ...(domains[0] === guess && { band: [0.25, 2] as const }),
  }),
];

test('sums what may be summed, and shows the rest beside it', async () => {
  const { out, err, code } = await run(['--duration', '2s'], {
    sources: steady([pkg, dram, psys], [40, 2.5, 61]),
  });
  expect(out.join('\n')).toMatchInlineSnapshot(`
    "package-0  package  40.00 W  80.000 J (79.920..80.080 J)  counter
    dram-0     dram     2.500 W  5.0000 J (4.9950..5.0050 J)  counter
    psys       system   61.00 W  122.00 J (121.88..122.12 J)  counter
    total               42.50 W  85.000 J (84.915..85.085 J)  counter
    not in the total: psys"
  `);
  expect(err.join('\n')).toMatchInlineSnapshot(`
    "1.0 s  package-0 40.00 W  dram-0 2.500 W  psys 61.00 W
    2.0 s  package-0 40.00 W  dram-0 2.500 W  psys 61.00 W"
  `);
  expect(code).toBe(0);
});

/** A source whose recorder has something to say. */
const outspoken = (clock: Clock): PowerSource => {
  const [source] = steady([pkg], [40])(clock);
  return {
    ...source!,
    start(options) {
      const recorder = source!.start(options);
      const flags = ['stale:package-0', 'psys<package'];
      return { ...recorder, status: () => ({ ...recorder.status(), flags, dropped: 3 }) };
    },
  };
};

test('what a recorder has to say is told in words, and explained for machines', async () => {
  const sources = (clock: Clock) => [outspoken(clock)];
  const { out } = await run(['--duration', '1s'], { sources });
  expect(out.slice(1).join('\n')).toMatchInlineSnapshot(`
    "flag: rapl: the counter of package-0 stood still for so long that it can't have been counting
          Read the device by another source, or reload its driver.
    flag: rapl: the platform counter fell below the packages inside it and is no longer believed
          Leave the platform counter out, or compare it with a wall meter.
    flag: rapl: 3 readings were dropped before anyone took them
          Read less often (\`power.period_ms\`), or free the processor."
  `);
  const { out: lines } = await run(['--duration', '1s', '--json'], { sources });
  expect(JSON.parse(lines.at(-1) ?? '').recorders[0].explained_flags).toMatchObject([
    { flag: 'stale:package-0', code: 'power_stale', domain: 'package-0' },
    { flag: 'psys<package', code: 'power_psys_low', domain: null },
    { flag: 'dropped:3', code: 'power_dropped', text: '3 readings were dropped before anyone took them' },
  ]);
});

test('an estimate is called one wherever its number stands', async () => {
  const { out, err } = await run(['--duration', '2s'], { sources: steady([guess], [5.4321]) });
  expect(out.join('\n')).toMatchInlineSnapshot(`
    "cpu  cpu  ~5.43 W (estimated)  10.9 J (2.71..21.7 J)  estimated
    estimated, not measured: P = TDP*u; TDP = 8 W"
  `);
  expect(err.every((line) => line.includes('(estimated)'))).toBe(true);
});

test('a terminal is redrawn in place twice a second, and cleared at the end', async () => {
  const { out, err, drawn } = await run(['--duration', '1s'], {
    columns: 20,
    sources: steady([pkg, dram], [40, 2.5]),
  });
  expect(drawn).toEqual([
    'package-0  40.00 W\ndram-0     2.500 W\n0.5 s\n',
    '\r\u001b[3A\u001b[0Jpackage-0  40.00 W\ndram-0     2.500 W\n1.0 s\n',
    '\r\u001b[3A\u001b[0J',
  ]);
  expect(err).toEqual([]);
  expect(out).toHaveLength(3);
});

test('where there is room, every domain has its last minute as bars', async () => {
  const watts = (elapsed_ns: number) => (elapsed_ns < 1e9 ? 10 : 80);
  const sources = (clock: Clock) => [
    steadyPowerSource({
      name: 'rapl',
      domains: [pkg, dram],
      clock,
      watts: (d, at) => (d === 0 ? watts(at) : 2),
    }),
  ];
  const { drawn } = await run(['--duration', '2500ms'], { columns: 40, sources });
  expect(drawn.at(-2)?.replace('\r\u001b[3A\u001b[0J', '')).toBe(
    'package-0  80.00 W                ▁▂███\ndram-0     2.000 W                █████\n2.5 s\n',
  );
  for (const frame of drawn) for (const line of frame.split('\n')) expect(line.length).toBeLessThan(60);
});

test('a terminal that cannot move its cursor gets plain lines', async () => {
  const { drawn, err } = await run(['--duration', '1s'], {
    columns: 80,
    env: { TERM: 'dumb' },
    sources: steady([pkg], [40]),
  });
  expect([drawn, err]).toEqual([[], ['1.0 s  package-0 40.00 W']]);
});

/** A source that reads a temperature, a clock and reasons to slow down beside its power. */
const withChannels = (clock: Clock): PowerSource => {
  const [source] = steady([pkg], [40])(clock);
  return {
    ...source!,
    start: (options) => ({
      ...source!.start(options),
      channels: [
        { device: 'gpu', channel: 'gpu_temp_c', unit: '°C' },
        { device: 'gpu', channel: 'sm_clock_hz', unit: 'Hz' },
        { device: 'gpu', channel: 'throttle_reasons', unit: 'bits' },
        { device: 'gpu', channel: 'fan_ratio', unit: '1' },
      ],
      drainChannels: () => ({
        at_ns: BigInt64Array.of(1n, 1n, 1n, 1n),
        channel: Uint16Array.of(0, 1, 2, 3),
        value: Float64Array.of(64, 1.98e9, 4, 0),
        value_valid: Uint8Array.of(1, 1, 1, 0),
        text: [null, null, 'sw_power_cap', null],
        missing_reason: [null, null, null, 'not supported'],
      }),
    }),
  };
};

test('temperature, clock and throttling stand below the watts, and what has no reading is left out', async () => {
  const sources = (clock: Clock) => [withChannels(clock)];
  const { drawn } = await run(['--duration', '500ms'], { columns: 80, sources });
  expect(drawn[0]?.split('\n')[1]).toBe(
    'gpu  gpu temp 64.0 °C  sm clock 1.98 GHz  throttle reasons sw_power_cap',
  );
  const { out } = await run(['--duration', '500ms', '--json'], { sources });
  expect(JSON.parse(out[0] ?? '').channels).toMatchObject([
    { channel: 'gpu_temp_c', value: 64 },
    { channel: 'sm_clock_hz', value: 1.98e9 },
    { channel: 'throttle_reasons', value: 4, text: 'sw_power_cap' },
    { channel: 'fan_ratio', value: null },
  ]);
});

test('machines get a line a refresh and a summary', async () => {
  const { out, err } = await run(['--duration', '1s', '--period', '500ms', '--json'], {
    columns: 80,
    sources: steady([guess], [4]),
  });
  const lines = out.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ kind }) => kind)).toEqual(['reading', 'reading', 'summary']);
  expect(lines[0]).toEqual({
    kind: 'reading',
    elapsed_ns: 5e8,
    domains: [
      { id: 'cpu', source: 'guess', scope: 'cpu', provenance: 'estimated', in_total: true, power_w: 4 },
    ],
    total_power_w: 4,
  });
  expect(lines[2]).toMatchObject({
    duration_ns: 1e9,
    estimated: true,
    domains: [
      {
        id: 'cpu',
        energy_j: 4,
        energy_lo_j: expect.closeTo(0.992, 9),
        energy_hi_j: expect.closeTo(8.008, 9),
        mean_power_w: 4,
        reason: null,
        note: guess.note,
      },
    ],
    total: { energy_j: 4, mean_power_w: 4 },
    recorders: [{ source: 'guess', state: 'stopped', missed_deadlines: 0 }],
  });
  expect(err).toEqual([]);
});

const at = (seconds: number, domain: number, booked_energy_j: number | null): ScriptedSample => ({
  at_ns: BigInt(seconds) * 1_000_000_000n,
  domain,
  booked_energy_j: booked_energy_j ?? 0,
  event: booked_energy_j === null ? 'missing' : 'ok',
});

test('a domain that is lost makes the total unknown, not smaller', async () => {
  const source = scriptedPowerSource({
    name: 'rapl',
    domains: [pkg, dram],
    readings: [0, 1, 2].map((s) => [at(s, 0, 10 * s), at(s, 1, s < 1 ? s : null)]),
  });
  const { out, err, code } = await run(['--duration', '2s'], { sources: () => [source] });
  expect(out.join('\n')).toMatchInlineSnapshot(`
    "package-0  package  10.00 W  20.000 J (19.980..20.020 J)  counter
    dram-0     dram     -        unknown: read only once
    total               -        unknown: a part is unknown"
  `);
  expect(err).toEqual(['1.0 s  package-0 - W  dram-0 - W', '2.0 s  package-0 10.00 W  dram-0 - W']);
  expect(code).toBe(1);
});

test('bounds hold the sensor’s edges and its scale error, as those of a run do', async () => {
  const coarse = { ...pkg, update_period_ns: 1e8, scale_error_ratio: 0.05 };
  const { out } = await run(['--duration', '2s', '--json'], { sources: steady([coarse], [40]) });
  const { domains, total } = JSON.parse(out.at(-1) ?? '');
  const [lo, hi] = [(80 - 2 * 4) * 0.95, (80 + 2 * 4) * 1.05];
  expect(domains).toMatchObject([
    { energy_j: 80, energy_lo_j: expect.closeTo(lo, 6), energy_hi_j: expect.closeTo(hi, 6) },
  ]);
  expect(total).toMatchObject({ energy_lo_j: expect.closeTo(lo, 6), energy_hi_j: expect.closeTo(hi, 6) });
});

test('readings that stayed away in the middle make the energy unknown too', async () => {
  const seconds = [0, 1, 2, 3, 9, 10];
  const source = scriptedPowerSource({
    domains: [pkg],
    readings: [seconds.map((s) => at(s, 0, 10 * s))],
  });
  const { out, code } = await run(['--duration', '10s', '--json'], { sources: () => [source] });
  expect(JSON.parse(out.at(-1) ?? '').domains).toMatchObject([
    { energy_j: null, reason: 'read in less than 95 % of the time' },
  ]);
  expect(code).toBe(1);
});

// biome-ignore format: a table is read in columns
test.each<[why: string, readings: readonly (readonly ScriptedSample[])[], failure: string | undefined, reason: string]>([
  ['never a number',          [[at(0, 0, null)], [at(2, 0, null)]],            undefined,   'nothing was read'],
  ['one number only',         [[at(0, 0, 1)], [at(1, 0, null)]],               undefined,   'read only once'],
  ['half of the time',        [[at(0, 0, 1)], [at(1, 0, 2)], [at(2, 0, null)]], undefined,  'read in only 50 % of the time'],
  ['the source broke down',   [[at(0, 0, 1)], [at(2, 0, 2)]],                  'unplugged', 'unplugged'],
])('no energy where it cannot be told: %s', async (_why, readings, failure, reason) => {
  const source = scriptedPowerSource({ domains: [pkg], readings, ...(failure && { failure }) });
  const { out, code } = await run(['--duration', '2s', '--json'], { sources: () => [source] });
  const summary = JSON.parse(out.at(-1) ?? '') as { domains: unknown[]; total: unknown };
  expect(summary.domains).toMatchObject([{ energy_j: null, energy_lo_j: null, mean_power_w: null, reason }]);
  expect(summary.total).toMatchObject({ energy_j: null, mean_power_w: null });
  expect(code).toBe(1);
});

test('what is shown can be kept as a segment that a run would read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-power-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'samples.arrows');
  await run(['--duration', '2s', '--out', path], { sources: steady([pkg, dram], [40, 2.5]) });
  const { series, info } = readColumns(path);
  expect(info.torn).toBeNull();
  expect(JSON.parse(info.metadata['domains'] ?? '')).toEqual([pkg, dram]);
  expect(series.get('package-0')?.booked_j.at(-1)).toBeCloseTo(80, 9);
  expect(series.get('dram-0')?.booked_j.at(-1)).toBeCloseTo(5, 9);
});

test('channels are kept in a file beside the samples; nothing is written where that one exists', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-power-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sources = (clock: Clock) => [withChannels(clock)];
  await run(['--duration', '500ms', '--out', join(folder, 'gpu.arrows')], { sources });
  const { rows } = readSegment(join(folder, 'gpu-channels.arrows'), 'channels');
  expect(rows.slice(0, 4)).toMatchObject([
    { device: 'gpu', channel: 'gpu_temp_c', value: 64, unit: '°C' },
    { channel: 'sm_clock_hz', value: 1.98e9 },
    { channel: 'throttle_reasons', text: 'sw_power_cap' },
    { channel: 'fan_ratio', value: null, missing_reason: 'not supported' },
  ]);
  rmSync(join(folder, 'gpu.arrows'));
  rmSync(join(folder, 'gpu-recorders.json'));
  const again = run(['--duration', '500ms', '--out', join(folder, 'gpu.arrows')], { sources });
  await expect(again).rejects.toThrow('gpu-channels.arrows exists already');
  expect(readdirSync(folder)).toEqual(['gpu-channels.arrows']);
});

test('a source that refuses stops those that already run', async () => {
  const first = steady([pkg], [1])(manualClock())[0]!;
  let stopped = false;
  const watched: PowerSource = {
    ...first,
    start(options) {
      const recorder = first.start(options);
      const stop = () => {
        stopped = true;
      };
      return { ...recorder, stop };
    },
  };
  const refusing: PowerSource = {
    ...first,
    start() {
      throw new PerwattError('POWER_PERMISSION', 'no permission to read energy_uj');
    },
  };
  await expect(run([], { sources: () => [watched, refusing] })).rejects.toThrow('no permission');
  expect(stopped).toBe(true);
});

test.skipIf(noAddon)('reads the real counters of the tree it is pointed at', async () => {
  const tree = powercapTree([{ zone: 'intel-rapl:0', name: 'package-0', energy_uj: 7 }]);
  onTestFinished(tree.remove);
  const { out } = await run(['--duration', '300ms', '--period', '100ms', '--json'], {
    env: { PERWATT_SYSFS_ROOT: tree.root, PERWATT_NVML_LIB: '/nowhere', PERWATT_AMDSMI_LIB: '/nowhere' },
  });
  const summary = JSON.parse(out.at(-1) ?? '') as { domains: unknown[]; recorders: unknown[] };
  expect(summary.domains).toMatchObject([{ id: 'rapl:0:package-0', energy_j: 0, provenance: 'counter' }]);
  expect(summary.recorders).toMatchObject([{ source: 'rapl-powercap', period_ns: 1e8 }]);
});

test.skipIf(noAddon)('measured and estimated sources are not mixed', async () => {
  const args = ['--source', 'rapl-powercap', 'estimate-cpu-load'];
  await expect(run(args, {})).rejects.toThrowError(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      message: 'measured and estimated sources cannot be mixed: rapl-powercap, estimate-cpu-load',
    }),
  );
});

test('waiting ends at once when the user has had enough, and what was measured is shown', async () => {
  const { out } = await run(['--duration', '1h'], { sources: steady([pkg], [3]), stopAfter: 4 });
  expect(out).toEqual(['package-0  package  3.000 W  12.000 J (11.994..12.006 J)  counter']);
});

test('a wrong duration is a wrong usage', async () => {
  await expect(run(['--duration', 'soon'], { sources: steady([pkg], [3]) })).rejects.toThrowError(
    expect.objectContaining({ code: 'USAGE', message: '"soon" is not a duration' }),
  );
});
