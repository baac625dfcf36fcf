import type { Probe } from '@perwatt/core';
import { expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
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
