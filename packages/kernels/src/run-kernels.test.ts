import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KernelScript, scriptedKernels } from '@perwatt/test-kit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KernelOutcome } from './kernel-outcome.js';
import type { KernelProgram } from './kernel-process.js';
import type { KernelSpec } from './kernel-spec.js';
import { listDevices } from './list-devices.js';
import { type KernelJob, type KernelProgress, runKernels } from './run-kernels.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kernels-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const copy: KernelSpec = { kind: 'copy', dtype: 'f32', n: 8 };
const triad: KernelSpec = { kind: 'triad', dtype: 'f32', n: 8 };
const norm: KernelSpec = { kind: 'rms_norm', dtype: 'f32', rows: 1, width: 8 };

const job = (specs: readonly KernelSpec[]): KernelJob => ({
  device: 'cpu:0',
  specs,
  check_only: false,
  timing: { most_ns: 1e9, deviation_ratio: 0.01 },
  energy: null,
  power: { root: '/', libraries: {} },
  threads: null,
});

/** Silence that programs which hang are allowed, ms: long against the start of a process. */
const PATIENCE_MS = 5000;
const patienceWith = (deed: string): number => (deed === 'hang' ? PATIENCE_MS : 30_000);

async function outcomesOf(script: KernelScript, specs: readonly KernelSpec[], patience = 30_000) {
  const outcomes: (KernelOutcome & { readonly kind: string })[] = [];
  await runKernels(job(specs), {
    program: scriptedKernels(folder, script),
    env: {},
    deadline_ms: patience,
    signal: new AbortController().signal,
    onOutcome: (spec, outcome) => void outcomes.push({ kind: spec.kind, ...outcome }),
  });
  return outcomes;
}

const brief = (outcomes: readonly (KernelOutcome & { readonly kind: string })[]) =>
  outcomes.map(({ kind, implementation, status, error_code }) => [kind, implementation, status, error_code]);

test('every implementation of every kernel gives its result, in order', async () => {
  const outcomes = await outcomesOf({ kernels: { copy: ['ok', 'wrong'], triad: ['ok'] } }, [copy, triad]);
  expect(brief(outcomes)).toEqual([
    ['copy', 'ok0-1.0', 'ok', null],
    ['copy', 'wrong1-1.0', 'wrong', 'KERNEL_WRONG'],
    ['triad', 'ok0-1.0', 'ok', null],
  ]);
  expect(outcomes[0]).toMatchObject({ time: { mean_ns: 50 }, energy: null, energy_reason: 'no counter' });
});

describe('a process that comes to grief makes a row, and the rest goes on', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['abort',      'crashed',   'KERNEL_KILLED',  /signal SIGABRT.*munmap_chunk/s,     'a library aborts'],
    ['kill',       'crashed',   'KERNEL_KILLED',  /signal SIGKILL/,                    'the kernel of the system kills it'],
    ['exit',       'crashed',   'KERNEL_KILLED',  /exit code 3\): no luck/,            'a driver exits'],
    ['silent_end', 'crashed',   'KERNEL_KILLED',  /ended early \(exit code 0\)/,       'it says nothing and ends'],
    ['babble',     'crashed',   'KERNEL_KILLED',  /what is no event: a library says/,  'a library writes where events go'],
    ['hang',       'timed_out', 'KERNEL_TIMEOUT', /nothing was heard of it for 5 s/, 'a driver hangs'],
  ] as const)('%s', async (deed, status, code, reason, _why) => {
    const script: KernelScript = { kernels: { copy: ['ok', deed, 'ok'], triad: ['ok'] } };
    const outcomes = await outcomesOf(script, [copy, triad], patienceWith(deed));
    expect(brief(outcomes)).toEqual([
      ['copy', 'ok0-1.0', 'ok', null],
      ['copy', `${deed}1`, status, code],
      ['copy', 'ok2-1.0', 'ok', null],
      ['triad', 'ok0-1.0', 'ok', null],
    ]);
    expect(outcomes[1]?.reason).toMatch(reason);
    expect(outcomes[1]).toMatchObject({ flop: 0, bytes: 64, time: null, energy: null });
  });
});

test('an implementation that is run again although it was to be left out does not go on for ever', async () => {
  const outcomes = await outcomesOf({ kernels: { copy: ['kill'], triad: ['ok'] }, deaf: true }, [
    copy,
    triad,
  ]);
  expect(outcomes.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'copy crashed',
    'copy crashed',
    'triad ok',
  ]);
});

test('a lost device is opened by another process, and the rest goes on', async () => {
  const script: KernelScript = { kernels: { copy: ['ok', 'lost', 'ok'], triad: ['ok', 'lost'] } };
  expect(brief(await outcomesOf(script, [copy, triad]))).toEqual([
    ['copy', 'ok0-1.0', 'ok', null],
    ['copy', 'lost1-1.0', 'failed', 'KERNEL_DEVICE_LOST'],
    ['copy', 'ok2-1.0', 'ok', null],
    ['triad', 'ok0-1.0', 'ok', null],
    ['triad', 'lost1-1.0', 'failed', 'KERNEL_DEVICE_LOST'],
  ]);
  const deaf = await outcomesOf({ kernels: { copy: ['lost'], triad: ['ok'] }, deaf: true }, [copy, triad]);
  expect(deaf.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    'copy failed',
    'copy failed',
    'triad ok',
  ]);
});

// biome-ignore format: a table is read in columns
test.each([
  ['refused', 'failed',    'KERNEL_NO_DEVICE', 'no device cpu:9',           'the device says no'],
  ['abort',   'crashed',   'KERNEL_KILLED',    'SIGABRT',                   'its driver aborts when it is opened'],
  ['hang',    'timed_out', 'KERNEL_TIMEOUT',   'nothing was heard of it',   'its driver hangs when it is opened'],
] as const)('a device that cannot be opened (%s) is tried once and makes every kernel a row', async (opens, status, code, reason, _why) => {
  const outcomes = await outcomesOf({ opens }, [copy, triad, norm], patienceWith(opens));
  expect(brief(outcomes)).toEqual(['copy', 'triad', 'rms_norm'].map((kind) => [kind, 'none', status, code]));
  for (const outcome of outcomes) expect(outcome.reason).toContain(reason);
});

test('a program that cannot be started makes every kernel a row', async () => {
  const outcomes: KernelOutcome[] = [];
  await runKernels(job([copy, triad]), {
    program: { file: join(folder, 'nothing'), args: [] },
    env: {},
    deadline_ms: 30_000,
    signal: new AbortController().signal,
    onOutcome: (_, outcome) => void outcomes.push(outcome),
  });
  expect(outcomes.map(({ status, reason }) => [status, /ENOENT/.test(reason ?? '')])).toEqual([
    ['crashed', true],
    ['crashed', true],
  ]);
});

describe('an interruption', () => {
  const interrupted = async (program: KernelProgram) => {
    const stopping = new AbortController();
    const outcomes: KernelOutcome[] = [];
    const seen: KernelProgress[] = [];
    const running = runKernels(job([copy, triad]), {
      program,
      env: {},
      deadline_ms: 60_000,
      signal: stopping.signal,
      onOutcome: (_, outcome) => void outcomes.push(outcome),
      onProgress: (progress) => void seen.push(progress),
    });
    await vi.waitFor(() => expect(seen).toHaveLength(2), 10_000);
    stopping.abort();
    await running;
    return { outcomes, seen };
  };

  test('ends the work at once, keeps what was done and says what was not', async () => {
    const { outcomes, seen } = await interrupted(
      scriptedKernels(folder, { kernels: { copy: ['ok', 'hang'] } }),
    );
    expect(outcomes.map(({ implementation, status }) => [implementation, status])).toEqual([
      ['ok0-1.0', 'ok'],
      ['hang1', 'interrupted'],
    ]);
    expect(seen[1]).toEqual({ index: 0, spec: copy, implementation: 'hang1', phase: 'time' });
  });
});

test('what the receiver of an outcome throws ends the work and is thrown on', async () => {
  const full = new Error('disk full');
  const running = runKernels(job([copy]), {
    program: scriptedKernels(folder, { kernels: { copy: ['ok', 'hang'] } }),
    env: {},
    deadline_ms: 60_000,
    signal: new AbortController().signal,
    onOutcome: () => {
      throw full;
    },
  });
  await expect(running).rejects.toBe(full);
});

describe('the list of devices', () => {
  const listed = (script: KernelScript, deadline_ms = 30_000) =>
    listDevices([copy], {
      program: scriptedKernels(folder, script),
      env: {},
      deadline_ms,
      signal: new AbortController().signal,
    });

  test('has every device with what it does with the kernels, and why a backend has none', async () => {
    const { devices, absent } = await listed({
      kernels: { copy: ['ok'] },
      backends: { cpu: 'ok', cuda: 'absent' },
    });
    expect(devices.map(({ device: { id }, supports }) => [id, supports])).toEqual([
      ['cpu:0', [{ spec: copy, implementations: ['ok'], reason: null }]],
    ]);
    expect(absent).toEqual([{ backend: 'cuda', error_code: 'KERNEL_NO_LOADER', reason: 'no library' }]);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['abort', 'KERNEL_KILLED',  'a driver aborts'],
    ['hang',  'KERNEL_TIMEOUT', 'a driver hangs'],
  ] as const)('a backend that comes to grief (%s) hides no other', async (deed, code, _why) => {
    const { devices, absent } = await listed({ backends: { cpu: 'ok', wgpu: deed, cuda: 'ok' } }, patienceWith(deed));
    expect(devices.map(({ device: { id } }) => id)).toEqual(['cpu:0', 'cuda:0']);
    expect(absent).toMatchObject([{ backend: 'wgpu', error_code: code }]);
  });

  test('ends although a program looks again where it should not', async () => {
    const { absent } = await listed({ backends: { wgpu: 'kill' }, deaf: true });
    expect(absent.map(({ backend }) => backend)).toEqual(['wgpu', 'wgpu']);
  });
});
