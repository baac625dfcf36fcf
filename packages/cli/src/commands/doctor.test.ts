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

test('prints the same findings as JSON', async () => {
  expect(JSON.parse(await output(['--json']))).toEqual([...probes, engine]);
});

test('nothing tried is said, not an error', async () => {
  expect(await output([], [])).toBe('0 of 0 usable');
  expect(await output(['--json'], [])).toBe('[]');
});
