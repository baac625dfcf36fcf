import type { Probe } from '@perwatt/core';
import { scriptedPowerSource, testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { type TrialWorld, tryPowerSources } from '../power-trials.js';
import { doctorCommand } from './doctor.js';

const probes: readonly Probe[] = [
  {
    name: 'rapl-powercap',
    area: 'power',
    usable: false,
    detail: 'no permission to read /sys/class/powercap/intel-rapl:0/energy_uj',
    fix: 'sudo chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj',
  },
  { name: 'hwmon', area: 'device', usable: false, detail: 'no sensor', fix: null },
];
const engine: Probe = {
  name: 'llama.cpp',
  area: 'engine',
  usable: true,
  detail: 'CPU, 2 threads',
  fix: null,
};

const output = async (args: string[], found = [async () => probes, async () => [engine]]) => {
  const { io, result } = recordedIo();
  await doctorCommand(io, found).parseAsync(args, { from: 'user' });
  return result.out.join('\n');
};

test('shows by area what can be used, and what would enable the rest', async () => {
  expect(await output([])).toMatchInlineSnapshot(`
    "Power sources
      no   rapl-powercap  no permission to read /sys/class/powercap/intel-rapl:0/energy_uj
                          fix: sudo chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj

    Devices
      no   hwmon          no sensor

    Engines
      yes  llama.cpp      CPU, 2 threads

    1 of 3 usable"
  `);
});

test('what fails for the same reason, with nothing that would help, shares a row', async () => {
  const absent = (name: string, detail: string, fix: string | null = null): Probe => {
    return { name, area: 'power', usable: false, detail, fix };
  };
  const found = [
    absent('a', 'no such folder'),
    absent('b', 'no such file'),
    absent('c', 'no such folder'),
    absent('d', 'no such folder', 'make it'),
    absent('e', 'no such folder'),
  ];
  expect(await output([], [async () => found])).toMatchInlineSnapshot(`
    "Power sources
      no   a  no such folder
              likewise: c, e
      no   b  no such file
      no   d  no such folder
              fix: make it

    0 of 5 usable"
  `);
  expect(JSON.parse(await output(['--json'], [async () => found]))).toEqual(found);
});

test('prints the same findings as JSON', async () => {
  expect(JSON.parse(await output(['--json']))).toEqual([...probes, engine]);
});

test('nothing tried is said, not an error', async () => {
  expect(await output([], [])).toBe('0 of 0 usable');
  expect(await output(['--json'], [])).toBe('[]');
});

const found = (name: string, usable: boolean, detail: string, fix: string | null = null): Probe => ({
  name,
  area: 'power',
  usable,
  detail,
  fix,
});

const rapl = scriptedPowerSource({
  name: 'rapl',
  domains: [
    testDomain({ id: 'package-0', provenance: 'counter', scale_error_ratio: 0.05 }),
    testDomain({ id: 'dram-0', provenance: 'counter', scope: 'dram', in_total: false }),
  ],
  readings: [
    [
      { at_ns: 1n, booked_energy_j: 0 },
      { at_ns: 1n, domain: 1, booked_energy_j: 0, event: 'missing' },
    ],
    [{ at_ns: 2n, booked_energy_j: 1 }],
  ],
});
const refusing = {
  ...rapl,
  name: 'refusing',
  start: () => {
    throw new Error('the driver went away');
  },
};

const world: TrialWorld = {
  probes: [
    found('rapl', true, '2 zones'),
    found('other', true, '1 sensor; used only when named: it shows the same energy'),
    found('refusing', true, '1 device'),
    found('nvml', false, 'no permission', 'sudo usermod -aG render $USER'),
  ],
  sources: [rapl, { ...rapl, name: 'other' }, refusing],
  used: ['rapl'],
};

const powerOutput = async (args: string[], tried: TrialWorld) => {
  const { io, result } = recordedIo();
  await doctorCommand(io, [], () => tryPowerSources(tried)).parseAsync(['--power', ...args], {
    from: 'user',
  });
  return result.out.join('\n');
};

test('with --power every source is read once and has a verdict, the reason, and the fix', async () => {
  expect(await powerOutput([], world)).toMatchInlineSnapshot(`
    "rapl: usable, and used
      2 zones
      package-0: package, counter, in the total, renewed every 1.00 ms, ± 5.00 %
      dram-0: dram, counter, beside the total, renewed every 1.00 ms, gives no number: missing
    other: usable when named
      1 sensor; used only when named: it shows the same energy
      package-0: package, counter, in the total, renewed every 1.00 ms, ± 5.00 %
      dram-0: dram, counter, beside the total, renewed every 1.00 ms, gives no number: missing
    refusing: not usable
      1 device, but it can't be started: the driver went away
    nvml: not usable
      no permission
      fix: sudo usermod -aG render $USER
    used unless others are named: rapl"
  `);
});

test('the same verdicts as JSON; nothing usable is said', async () => {
  const trials = JSON.parse(await powerOutput(['--json'], world));
  expect(trials.map(({ name, verdict }: Record<string, unknown>) => [name, verdict])).toEqual([
    ['rapl', 'used'],
    ['other', 'usable'],
    ['refusing', 'unusable'],
    ['nvml', 'unusable'],
  ]);
  expect(trials[0].domains[1]).toMatchObject({ id: 'dram-0', problem: 'missing' });
  expect(await powerOutput([], { ...world, probes: [], used: [] })).toBe('nothing can be measured');
});
