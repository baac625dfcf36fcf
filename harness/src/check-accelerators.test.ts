import { readdirSync } from 'node:fs';
import { type Expect, PerwattError } from '@perwatt/core';
import type { DeviceFacts } from '@perwatt/records';
import { expect, test } from 'vitest';
import { mismatch } from './check-accelerators.js';
import { parseMatrix } from './parse-matrix.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const gib = (n: number) => n * 2 ** 30;

const device = (more: Partial<DeviceFacts> = {}): DeviceFacts => ({
  kind: 'gpu',
  name: 'NVIDIA H100 PCIe',
  memory_bytes: gib(80),
  power_limit_w: 350,
  driver: '570.1',
  ...more,
});

const pcie = device();
const sxm = device({ name: 'NVIDIA H100 80GB HBM3 SXM5', power_limit_w: 700 });
const cpu = device({ kind: 'cpu', name: 'Xeon', power_limit_w: null });

// biome-ignore format: a table is read in columns
test.each<[wanted: Expect, devices: DeviceFacts[], problem: string | null, why: string]>([
  [{ name: 'H100.*SXM' },                    [sxm],        null, 'the variant that is expected'],
  [{ name: 'H100.*SXM' },                    [pcie],       'expects /H100.*SXM/, but here is "NVIDIA H100 PCIe" (80.0 GiB, power limit 350 W)', 'another variant of the same chip'],
  [{ name: 'H100.*SXM' },                    [pcie, sxm],  null, 'one of several'],
  [{ name: 'H100.*SXM', count: 2 },          [sxm, pcie],  'expects 2 × /H100.*SXM/', 'fewer than wanted'],
  [{ name: 'H100', count: 2 },               [sxm, pcie],  null, 'as many as wanted'],
  [{ memory_gib: { min: 90 } },              [sxm],        'expects at least 90 GiB', 'too little memory'],
  [{ memory_gib: { min: 70, max: 81 } },     [sxm],        null, 'memory in a range'],
  [{ power_limit_w: { max: 600 } },          [sxm],        'expects at most 600 W', 'a power limit that is too high'],
  [{ name: 'SXM', power_limit_w: { min: 700, max: 700 } }, [sxm], null, 'name and limit'],
  [{ name: 'SXM', power_limit_w: { min: 300, max: 400 } }, [sxm, pcie], 'expects /SXM/ with 300 to 400 W', 'no single device is both'],
  [{ power_limit_w: { max: 600 } },          [device({ power_limit_w: null })], 'power limit not known', 'what is not known does not fit'],
  [{ name: 'Xeon' },                         [cpu],        'no device that is known', 'a CPU is no GPU'],
  [{ name: 'H100' },                         [],           'no device that is known', 'nothing'],
])('%j is checked: %#', (wanted, devices, problem) => {
  const found = mismatch({ id: 'gpu0', kind: 'gpu', expect: wanted }, devices);
  if (problem === null) expect(found).toBeNull();
  else expect(found).toContain(problem);
});

test('a CPU is looked for among the CPUs', () => {
  expect(mismatch({ id: 'host', kind: 'cpu', expect: { name: 'Xeon' } }, [pcie, cpu])).toBeNull();
  expect(mismatch({ id: 'host', kind: 'cpu', expect: { name: 'EPYC' } }, [pcie, cpu])).toContain('"Xeon"');
  expect(mismatch({ id: 'host', kind: 'cpu' }, [])).toBeNull();
});

const never = new AbortController().signal;

const matrix = (more = 'endpoints: {}') => `
name: t
protocol: quick
axes:
  model: [m1]
  accelerator: [{ id: gpu0, kind: gpu, expect: { name: 'H100.*SXM' } }]
  dataset: [d1]
${more}`;

test('a run on another device is refused before anything is measured or written; so is its resume', async () => {
  const { deps } = virtualWorld();
  const root = temporaryFolder();
  const on = (...devices: DeviceFacts[]) => ({ ...deps, devices: async () => devices });
  const plan = await quickPlan(matrix(), deps);
  await expect(runPlan(plan, on(pcie), { root, signal: never })).rejects.toThrowError(
    expect.objectContaining({
      code: 'ACCELERATOR_MISMATCH',
      message: expect.stringContaining('accelerator gpu0 expects /H100.*SXM/'),
    }),
  );
  expect(readdirSync(root)).toEqual([]);
  const { run } = await runPlan(plan, on(sxm), { root, signal: never });
  const [cell] = run.cells();
  run.writeCell({ ...cell!, status: 'running' });
  await expect(
    resumeRun(run, null, { deps: on(pcie), options: { root, signal: never } }),
  ).rejects.toThrowError(PerwattError);
});

// biome-ignore format: a table is read in columns
test.each<[model: string, more: string, place: string]>([
  ['{ id: m1, endpoint: e }', 'endpoints: { e: { url: "http://gpu-box:8000/v1" } }', 'runs at http://gpu-box:8000/v1'],
  ['{ id: m1, engine: e }',   'engines: { e: { kind: agent, agent: a, engine: x } }\npower: { agents: [{ id: a, url: "http://gpu-box:9", token_env: T }] }', 'runs by agent a'],
])('the devices of another host cannot be checked, and that is said: %s', async (model, more, place) => {
  const { deps } = virtualWorld();
  const plan = await quickPlan(matrix(more).replace('[m1]', `[${model}]`), deps);
  await expect(
    runPlan(plan, { ...deps, devices: async () => [sxm] }, { root: temporaryFolder(), signal: never }),
  ).rejects.toThrowError(expect.objectContaining({ code: 'ACCELERATOR_MISMATCH', message: expect.stringContaining(place) }));
});

// biome-ignore format: a table is read in columns
test.each<[wanted: string, problem: string]>([
  ['{ name: "H100(" }',                   'expect.name "H100(": not a regular expression'],
  ['{ count: 2 }',                        'give name, memory_gib or power_limit_w'],
  ['{ memory_gib: { min: 9, max: 8 } }',  '`max` is below `min`'],
  ['{ memory_gb: 80 }',                      'unknown key axes.accelerator[0].expect.memory_gb; did you mean "memory_gib"?'],
])('expect: %s is refused', (wanted, problem) => {
  const text = `name: t\naxes:\n  model: [m]\n  dataset: [d]\n  accelerator: [{ id: g, kind: gpu, expect: ${wanted} }]\n`;
  expect(() => parseMatrix(text, 'm.yaml')).toThrowError(expect.objectContaining({ message: expect.stringContaining(problem) }));
});
