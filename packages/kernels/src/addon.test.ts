import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { addonPath, loadAddon } from './addon.js';
import { kernelCounts } from './kernel-counts.js';
import type { KernelOutcome } from './kernel-outcome.js';
import { kernelProgram } from './kernel-process.js';
import { type KernelSpec, specText } from './kernel-spec.js';
import { listDevices } from './list-devices.js';
import { runKernels } from './run-kernels.js';
import { checkSpecs } from './standard-specs.js';

const child = fileURLToPath(new URL('../dist/kernels-child.js', import.meta.url));
/** One that was built for tests, without optimisation, or the one that measures. */
const addon = process.env['PERWATT_KERNELS_ADDON'] ?? addonPath;
const missing = [addon, child].filter((file) => !existsSync(file));
const reason = `${missing.join(' and ')} not built (npm run build, npm run build:kernels)`;
if (missing.length > 0) process.stdout.write(`skipped: kernels on real devices: ${reason}\n`);

const place = () => ({
  program: kernelProgram(addon),
  env: process.env,
  deadline_ms: 60_000,
  signal: new AbortController().signal,
});

async function outcomesOf(specs: readonly KernelSpec[], check_only: boolean) {
  const outcomes: { readonly spec: KernelSpec; readonly outcome: KernelOutcome }[] = [];
  await runKernels(
    {
      device: 'cpu:0',
      specs,
      check_only,
      timing: { most_ns: 5e7, deviation_ratio: 0.5 },
      energy: null,
      power: { root: '/', libraries: {} },
      threads: 1,
    },
    { ...place(), onOutcome: (spec, outcome) => void outcomes.push({ spec, outcome }) },
  );
  return outcomes;
}

test('an addon that is not there is no exception', () => {
  const { binding, problem } = loadAddon(addon);
  expect((binding === null) === (problem !== null)).toBe(true);
});

describe.skipIf(missing.length > 0)('the addon in its process', () => {
  test('finds the processor, and says why other backends are not here', async () => {
    const { devices, absent } = await listDevices(
      checkSpecs({ kinds: ['gemm'], types: ['f32'] }, 1),
      place(),
    );
    const cpu = devices.find(({ device }) => device.id === 'cpu:0');
    expect(cpu?.supports.every(({ implementations }) => implementations.length > 0)).toBe(true);
    for (const { reason: why } of absent) expect(why).not.toBe('');
  });

  test('computes every kernel of the processor as the references do, and counts it as we do', async () => {
    const outcomes = await outcomesOf(
      checkSpecs({ types: ['f32', 'bf16', 'int8'] }, Date.now() % 2 ** 31),
      true,
    );
    const wrong = outcomes.filter(({ outcome: { status } }) => status !== 'ok' && status !== 'unsupported');
    expect(wrong).toEqual([]);
    expect(outcomes.filter(({ outcome }) => outcome.status === 'ok').length).toBeGreaterThan(20);
    for (const { spec, outcome } of outcomes)
      expect([specText(spec), outcome.flop, outcome.bytes]).toEqual([
        specText(spec),
        ...Object.values(kernelCounts(spec)),
      ]);
  });

  test('times a kernel', async () => {
    const outcomes = await outcomesOf([{ kind: 'triad', dtype: 'f32', n: 4096 }], false);
    const [{ outcome } = { outcome: null }] = outcomes;
    expect(outcome).toMatchObject({ status: 'ok', energy: null, energy_reason: 'it was not asked for' });
    expect(outcome?.time?.mean_ns).toBeGreaterThan(0);
  });
});
