import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KernelRow, kernels as kernelColumns, PerwattError } from '@perwatt/core';
import { parseMatrix } from '@perwatt/harness';
import { shippedCatalogue } from '@perwatt/metrics';
import { type KernelSessionFacts, kernelsOf, openKernelSession } from '@perwatt/records';
import { energyFits } from '@perwatt/reports';
import { type KernelScript, scriptedKernels } from '@perwatt/test-kit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { kernelsCommand } from './kernels.js';
import { countList, stepsOf } from './kernels-flags.js';
import { matrixSteps } from './kernels-matrix.js';
import type { KernelsWorld } from './kernels-world.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kernels-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const blank = Object.fromEntries(
  Object.entries(kernelColumns).map(([name, { type, nullable }]) => [
    name,
    nullable ? null : type === 'name' ? name : 0,
  ]),
) as KernelRow;

const sessionFacts: KernelSessionFacts = {
  phase: 'alone',
  perwatt_version: '0',
  wall_time: '2026-11-30T00:00:00Z',
  host: null,
  devices: [],
  absent: [],
  steps: [],
};

const everything: KernelScript = {
  kernels: {
    copy: ['ok'],
    triad: ['ok'],
    fma: ['ok'],
    gemm: ['ok'],
    gemv: ['ok'],
    int4_gemv: ['ok'],
    decode: ['ok'],
    rms_norm: ['ok'],
    softmax: ['ok'],
  },
  backends: { cpu: 'ok', cuda: 'absent' },
};

const weightFile: KernelsWorld['weightFile'] = (id) =>
  id === 'smollm2-135m' ? 'SmolLM2-135M-Instruct.Q4_1.gguf' : null;

const worldOf = (script: KernelScript): KernelsWorld => {
  const program = scriptedKernels(folder, script);
  return {
    ensure: async () => false,
    program: () => program,
    hostFacts: () => null,
    freshSeed: () => 7,
    weightFile,
    version: '0.1.0',
  };
};

async function kernels(
  args: readonly string[],
  script: KernelScript = everything,
  world: Partial<KernelsWorld> = {},
) {
  const { io, result } = recordedIo({ cwd: folder });
  await kernelsCommand(io, { ...worldOf(script), ...world }).parseAsync([...args], { from: 'user' });
  return result;
}

test('list shows devices with what they have, and what is not here and why', async () => {
  const { out, code } = await kernels(['list', '--kernel', 'gemm,prefill', '--dtype', 'f32']);
  expect(out).toEqual([
    'cpu:0  A processor  cpu, 8.00 GiB, cache 32.0 MiB',
    '  gemm           f32 (ok)',
    '  prefill        no f32',
    '',
    'not here: cuda: no library',
  ]);
  expect(code).toBe(0);
});

describe('run', () => {
  test('keeps the rows of a session with its ceilings, and prints them', async () => {
    const { out, code } = await kernels([
      'run',
      '--kernel',
      'gemv',
      '--dtype',
      'f32',
      '--out',
      'a',
      '--quiet',
    ]);
    expect(code).toBe(0);
    const kept = out.at(-1)?.replace('kept in ', '') ?? '';
    const { rows, sessions } = kernelsOf(join(kept, '..'));
    expect(
      rows.map(({ kernel, status, roofline_ratio }) => [kernel, status, roofline_ratio !== null]),
    ).toEqual([
      ['copy', 'ok', true],
      ['triad', 'ok', true],
      ['gemm', 'ok', true],
      ['gemv', 'ok', true],
    ]);
    expect(sessions).toMatchObject([{ phase: 'alone', ended: 'done', absent: [{ backend: 'cuda' }] }]);
    expect(out[0]).toBe('cpu:0: A processor');
    expect(out.join('\n')).toMatch(/gemv +f32 +m4096 k4096 b1 +ok0-1\.0 +50\.0 ns/);
  });

  test('says what a model takes by its kernels, and goes on in one folder', async () => {
    const args = [
      'run',
      '--model',
      'smollm2-135m-instruct',
      '--weights',
      'int8',
      '--run',
      'b',
      '--json',
      '--quiet',
    ];
    const { out, code } = await kernels([...args, '--batch', '1,8']);
    const { predictions, rows } = JSON.parse(out.join('\n'));
    expect(code).toBe(0);
    expect(predictions).toMatchObject([
      {
        step: { batch: 1, weights: 'int8', activations: 'f16' },
        time_ns: (61 + 60 + 60 + 30 + 60 + 30 + 1) * 50,
      },
      { step: { batch: 8 }, energy_j: null },
    ]);
    expect(rows.every((row: { status: string }) => row.status === 'ok')).toBe(true);
    await kernels([...args]);
    expect(kernelsOf(join(folder, 'b')).sessions.map(({ session }) => session)).toEqual([0, 1]);
  });

  test('a driver that crashes is a row, the rest goes on, and the exit code says so', async () => {
    const { out, code } = await kernels(['run', '--spec', 'gemv f32 m=8 k=8', '--run', 'c', '--quiet'], {
      ...everything,
      kernels: { ...everything.kernels, triad: ['abort', 'ok'] },
    });
    expect(code).toBe(1);
    expect(out.join('\n')).toMatch(/crashed: its process ended early/);
    const statuses = kernelsOf(join(folder, 'c')).rows.map(({ kernel, status }) => `${kernel} ${status}`);
    expect(statuses).toEqual(['copy ok', 'triad crashed', 'triad ok', 'gemm ok', 'gemv ok']);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['compile',   'failed',  'KERNEL_COMPILE',       /failed: kernel stream does not compile/, 'a shader that its driver refuses'],
    ['no_memory', 'failed',  'KERNEL_OUT_OF_MEMORY', /failed: out of memory: buffer a/,        'buffers that do not fit'],
    ['kill',      'crashed', 'KERNEL_KILLED',        /crashed: its process ended/,              'a process that the system ends'],
  ] as const)('%s is a row of its own, the rest goes on, and the exit code says so', async (deed, status, error_code, words, _why) => {
    const script: KernelScript = { ...everything, kernels: { ...everything.kernels, gemv: [deed, 'ok'] } };
    const { out, code } = await kernels(['run', '--spec', 'gemv f32 m=8 k=8', '--run', `e-${deed}`, '--quiet'], script);
    expect(code).toBe(1);
    expect(out.join('\n')).toMatch(words);
    const { rows, sessions } = kernelsOf(join(folder, `e-${deed}`));
    expect(rows.filter(({ kernel }) => kernel === 'gemv').map((row) => [row.status, row.error_code, row.time_mean_ns !== null])).toEqual([
      [status, error_code, false],
      ['ok', null, true],
    ]);
    expect(sessions).toMatchObject([{ ended: 'done' }]);
    const shown = await kernels(['roofline', `e-${deed}`]);
    expect(shown.code).toBe(0);
  });

  test('an interruption keeps what was measured', async () => {
    const stopping = new AbortController();
    const { io, result } = recordedIo({ cwd: folder, signal: stopping.signal });
    const script: KernelScript = { ...everything, kernels: { ...everything.kernels, gemv: ['hang'] } };
    const running = kernelsCommand(io, worldOf(script)).parseAsync(
      ['run', '--spec', 'gemv f32 m=8 k=8', '--run', 'd'],
      { from: 'user' },
    );
    await vi.waitFor(() => expect(result.err.join()).toContain('gemv f32'), 20_000);
    stopping.abort(new Error('SIGINT'));
    await running;
    expect(result.code).toBe(130);
    expect(result.err.at(-1)).toContain('interrupted; what was measured is kept in');
    const { rows, sessions } = kernelsOf(join(folder, 'd'));
    expect(rows.map(({ kernel, status }) => `${kernel} ${status}`)).toEqual([
      'copy ok',
      'triad ok',
      'gemm ok',
      'gemv interrupted',
    ]);
    expect(sessions).toMatchObject([{ ended: 'interrupted' }]);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['run', '--device', 'cuda:0'],                     'there is no device "cuda:0"; there is cpu:0; cuda: no library', 'a device whose backend is not here'],
    [['run', '--device', 'cpu:9'],                      'there is no device "cpu:9"; there is cpu:0',                  'a device that is not here'],
    [['run', '--model', 'qwen3-9b'],                    'no kernels of model "qwen3-9b"',                              'a model that nobody knows'],
    [['run', '--model', 'granite-4.0-h-tiny'],          'has state-space layers',                                      'layers without a kernel'],
    [['run', '--spec', 'gem f32'],                      'no kernel is called "gem"',                                   'a slip'],
    [['run', '--sweep', '--dtype', 'int8'],             'there is no sweep in int8',                                   'multiply-adds are of floating numbers'],
  ])('%o is refused: %s', async (args, message, _why) => {
    await expect(kernels(args)).rejects.toThrow(message);
  });

  test('a model of unknown sizes is answered with those that are known', async () => {
    const failure = await kernels(['run', '--model', 'qwen3-9b']).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PerwattError);
    expect((failure as PerwattError).hint).toMatch(/^Name one of .*qwen3-8b.*smollm2-135m-instruct/);
  });

  test('where nothing can be built, nothing is run', async () => {
    const ensure = async () => {
      throw new PerwattError('KERNELS_MISSING', 'the kernel runners could not be built: no cargo');
    };
    await expect(kernels(['run'], everything, { ensure })).rejects.toThrow('no cargo');
  });
});

describe('a sweep', () => {
  test('is run alone, in single precision unless told, after the ceilings', async () => {
    const { out, code } = await kernels(['run', '--sweep', '--run', 'sweep', '--quiet']);
    const { rows, sessions } = kernelsOf(join(folder, 'sweep'));
    const swept = rows.filter(({ kernel }) => kernel === 'fma');
    expect(swept.map(({ dtype, n, k }) => [dtype, n, k])).toEqual(
      [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256].map((k) => ['f32', 2 ** 24, k]),
    );
    expect(rows.filter(({ kernel }) => kernel !== 'fma').map(({ kernel }) => kernel)).toEqual([
      'copy',
      'triad',
      'gemm',
    ]);
    expect(code).toBe(0);
    expect([sessions[0]?.ended, sessions[0]?.fits]).toEqual(['done', undefined]);
    expect(out.join('\n')).toContain('fma ');
  });

  test('is run beside other kernels in the types that are asked for', async () => {
    await kernels([
      'run',
      '--sweep',
      '--dtype',
      'bf16,f16',
      '--kernel',
      'softmax',
      '--run',
      'sweep-2',
      '--quiet',
    ]);
    const { rows } = kernelsOf(join(folder, 'sweep-2'));
    const kinds = rows.map(({ kernel, dtype }) => `${kernel} ${dtype}`);
    expect(kinds.filter((kind) => kind === 'fma bf16')).toHaveLength(12);
    expect(kinds.filter((kind) => kind === 'fma f16')).toHaveLength(12);
    const peaks = rows.map(({ kernel, peak_flop_per_s }) => `${kernel} ${peak_flop_per_s === null}`);
    expect(new Set(peaks.filter((peak) => /^(fma|softmax)/.test(peak)))).toEqual(
      new Set(['softmax false', 'fma true']),
    );
    expect(kinds.filter((kind) => kind.startsWith('softmax'))).toEqual(['softmax f16', 'softmax bf16']);
  });
});

describe('fit', () => {
  /** Keeps a sweep whose energy is 10 pJ a FLOP, 100 pJ a byte and 30 W. */
  function keepSweep(name: string, change: Partial<KernelRow> = {}): void {
    const steps = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    const writer = openKernelSession(join(folder, name), sessionFacts);
    const rows = steps.map((k): KernelRow => {
      const [flop, bytes] = [2e6 * k, 8e6];
      const time_s = Math.max(flop / 50e9, bytes / 10e9);
      return {
        ...blank,
        kernel: 'fma',
        dtype: 'f32',
        device: 'cpu:0',
        implementation: 'cpu/own-chain',
        status: 'ok',
        k,
        flop,
        bytes,
        energy_gross_j: 10e-12 * flop + 100e-12 * bytes + 30 * time_s,
        energy_windows: 3,
        energy_window_ns: 5e9,
        energy_launches: 15 / time_s,
        energy_scope: 'package',
        energy_provenance: 'counter',
        ...change,
      };
    });
    writer.append(rows);
    writer.close('done', energyFits(rows, writer.session));
  }

  test('is worked out from the rows, and is what the session kept', async () => {
    keepSweep('fit-1');
    const { out, code } = await kernels(['fit', 'fit-1']);
    expect(code).toBe(0);
    expect(out[0]).toContain(
      'fit of cpu:0 f32 by cpu/own-chain (package, gross, 9 intensities, not a hardware constant)',
    );
    expect(out[0]).toContain('10.0 ± ');
    expect(out[0]).toContain('30.0 ± ');
    expect(out.join('\n')).toMatch(/0\.250 +0\.800 +0\.0248 J +0\.0248 J/);
    const json = await kernels(['fit', 'fit-1', '--json']);
    const { fits } = JSON.parse(json.out.join('\n'));
    const { points, ...told } = fits[0];
    expect(points).toHaveLength(9);
    expect(points[0]).toMatchObject({ flop_per_byte: 0.25, duration_s: expect.closeTo(8e-4, 9) });
    expect(kernelsOf(join(folder, 'fit-1')).sessions[0]?.fits).toEqual([told]);
  });

  test('that is none says why, and the exit code too', async () => {
    keepSweep('fit-2', { energy_gross_j: null, energy_reason: 'no counter' });
    const { out, code } = await kernels(['fit', 'fit-2']);
    expect(out).toEqual(['fit of cpu:0 f32 by cpu/own-chain: none; no energy: no counter']);
    expect(code).toBe(1);
  });

  test('of a session without a sweep is refused', async () => {
    await kernels(['run', '--kernel', 'softmax', '--dtype', 'f32', '--run', 'fit-3', '--quiet']);
    await expect(kernels(['fit', 'fit-3'])).rejects.toThrow('session 0 has no sweep over intensities');
    await expect(kernels(['fit', 'fit-3', '--session', '4'])).rejects.toThrow(
      'there is no session 4; there is 0',
    );
  });
});

describe('selftest', () => {
  test('compares everything on every device, and tells the seed', async () => {
    const { out, code } = await kernels(['selftest', '--kernel', 'copy,softmax', '--dtype', 'f32']);
    expect(out.slice(-3)).toEqual([
      '4 right, 0 not, 0 that a device has not',
      'not here: cuda: no library',
      'seed 7',
    ]);
    expect(code).toBe(0);
  });

  test('fails where a kernel is wrong', async () => {
    const { out, code } = await kernels(['selftest', '--kernel', 'copy', '--dtype', 'f32', '--json'], {
      ...everything,
      kernels: { copy: ['ok', 'wrong'] },
    });
    expect(code).toBe(1);
    expect(JSON.parse(out.join('\n')).checks).toMatchObject([
      { status: 'ok', error_ratio: 2e-7 },
      { status: 'wrong', error_code: 'KERNEL_WRONG', reason: 'too far off' },
      { status: 'ok' },
      { status: 'wrong' },
    ]);
  });
});

test('roofline sets the datasheet beside the ceilings where the catalogue knows the device', async () => {
  const writer = openKernelSession(join(folder, 'sheet'), sessionFacts);
  const h200 = { device: 'cuda:0', device_name: 'NVIDIA H200', peak_implementation: 'cuda/cublaslt' };
  const ceilings = { peak_flop_per_s: 791.52e12, bandwidth_bytes_per_s: 4.32e12 };
  writer.append([
    { ...blank, ...h200, ...ceilings, kernel: 'gemm', dtype: 'bf16', status: 'ok' },
    {
      ...blank,
      device: 'cpu:0',
      device_name: 'A processor',
      ...ceilings,
      kernel: 'gemm',
      dtype: 'f32',
      status: 'ok',
    },
  ]);
  writer.close('done');
  const { out } = await kernels(['roofline', 'sheet', '--json']);
  expect(JSON.parse(out.join('\n')).ceilings).toMatchObject([
    {
      peak_datasheet_ratio: expect.closeTo(0.8, 6),
      bandwidth_datasheet_ratio: expect.closeTo(0.9, 6),
      datasheet: { accelerator: 'nvidia-h200-sxm', peak_flop_per_s: 989.4e12, reason: null },
    },
    { peak_datasheet_ratio: null, datasheet: { accelerator: null, source: null } },
  ]);
  const text = (await kernels(['roofline', 'sheet'])).out.join('\n');
  expect(text).toMatch(/datasheet of cuda:0, bf16: nvidia-h200-sxm of the catalogue, by .*; never a ceiling/);
  expect(text).toContain('datasheet of cpu:0: the catalogue does not know it');
});

test('roofline shows kernels that were kept beside the ceilings', async () => {
  await kernels(['run', '--kernel', 'softmax', '--dtype', 'f32', '--run', 'e', '--quiet']);
  const { out } = await kernels(['roofline', 'e']);
  expect(out[0]).toMatch(/device +type +GFLOP\/s +by +GB\/s +ridge/);
  expect(out.join('\n')).toMatch(/softmax +f32/);
  await expect(kernels(['roofline', 'e', '--session', '3'])).rejects.toThrow(
    'there is no session 3; there is 0',
  );
  await expect(kernels(['roofline', 'nothing'])).rejects.toThrow('no kernel runs at');
});

// biome-ignore format: a table is read in columns
test.each([
  ['1,8,64', [1, 8, 64],   'plain'],
  ['1k, 8K', [1024, 8192], 'in units of 1024'],
])('counts %s', (text, counts, _why) => {
  expect(countList(text)).toEqual(counts);
});

test.each(['0', '', '1.5', 'x', '1,,2', '9999999999k'])('"%s" is no count', (text) => {
  expect(() => countList(text)).toThrow('is no count');
});

test('steps are every batch at every context, of every phase', () => {
  const flags = {
    model: ['qwen3-8b'],
    batch: [1, 8],
    context: [1024, 8192],
    phase: 'both',
    weights: 'bf16',
  } as const;
  const steps = stepsOf(flags, { catalogue: shippedCatalogue(), alsoCalled: () => [] });
  expect(steps.map(({ phase, batch, context }) => `${phase} ${batch} ${context}`)).toHaveLength(8);
  expect(steps[0]).toMatchObject({ model: 'qwen3-8b', names: ['qwen3-8b'], facts: { hidden_size: 4096 } });
});

describe('a matrix', () => {
  const matrixOf = (axis: string, kernels: string) =>
    parseMatrix(`name: t\naxes: { model: [${axis}], dataset: [d] }\nkernels: ${kernels}\n`, 'm.yaml');

  // biome-ignore format: a table is read in columns
  test.each([
    ['smollm2-135m',                       '{}',                                    [['smollm2-135m-instruct', ['smollm2-135m']]],      'by its weight file'],
    ['{ id: a, path: qwen3-8b.Q8_0.gguf }', '{}',                                   [['qwen3-8b', ['a']]],                              'by its own file'],
    ['{ id: a, endpoint: e, model: Qwen/Qwen3-8B }', '{ batch: [1, 4] }',           [['qwen3-8b', ['a']], ['qwen3-8b', ['a']]],         'by what its server calls it'],
    ['{ id: qwen3-8b, endpoint: e }, { id: b, endpoint: e }', '{ models: [Qwen/Qwen3-8B] }', [['qwen3-8b', ['Qwen/Qwen3-8B', 'qwen3-8b']]], 'named, and on the axis'],
  ])('of %s with kernels %s', (axis, kernels, expected, _why) => {
    const text = axis.includes('endpoint') ? 'endpoints: { e: { url: "http://127.0.0.1:1/v1" } }' : '';
    const file = `name: t\n${text}\naxes: { model: [${axis}], dataset: [d] }\nkernels: ${kernels}\n`;
    const steps = matrixSteps(parseMatrix(file, 'm.yaml'), { weightFile });
    expect(steps.map(({ model, names }) => [model, names])).toEqual(expected);
  });

  test('whose models nobody knows the sizes of is refused', () => {
    expect(() => matrixSteps(matrixOf('{ id: mine, path: mine.gguf }', '{}'), { weightFile })).toThrow(
      'the sizes of mine are not known',
    );
  });
});
