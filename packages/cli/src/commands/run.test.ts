import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PerwattError } from '@perwatt/core';
import { expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { makeDeps } from '../world.js';
import { parseFilter, readMatrix, runCommand } from './run.js';

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'm.yaml'), text);
  return folder;
}

test('values of one axis are alternatives, axes are combined', () => {
  expect(parseFilter(['model=a', 'load=c4', 'model=b=c'])).toEqual({ model: ['a', 'b=c'], load: ['c4'] });
  expect(parseFilter([])).toEqual({});
});

test.each(['colour=red', 'model', '=a'])('--filter %s is wrong usage and names the axes', (text) => {
  expect(() => parseFilter([text])).toThrowError(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('model, accelerator') }),
  );
});

test('paths of a matrix are taken from its folder, and --power names its sources', () => {
  const folder = folderWith(
    'name: t\naxes:\n  model: [{ id: m, path: w.gguf }, other]\n  dataset: [{ id: d, kind: csv, path: sub/d.csv }, sums]\n',
  );
  const matrix = readMatrix('m.yaml', { power: 'a,b' }, recordedIo({ cwd: folder }).io);
  expect(matrix.axes.model[0]).toEqual({ id: 'm', path: join(folder, 'w.gguf') });
  expect(matrix.axes.dataset[0]).toMatchObject({ path: join(folder, 'sub/d.csv') });
  expect(matrix.axes.dataset[1]).toEqual({ id: 'sums' });
  expect(matrix.power).toEqual({ sources: ['a', 'b'] });
  expect(readMatrix('m.yaml', { power: 'none' }, recordedIo({ cwd: folder }).io).power).toEqual({
    sources: [],
  });
  expect(readMatrix('m.yaml', {}, recordedIo({ cwd: folder }).io).power).toBeUndefined();
});

test.each(['quickstart', 'strategies', 'strategies-smoke', 'engine-sweep'])(
  'the example %s can be planned from any folder',
  async (name) => {
    const { io, result } = recordedIo({ cwd: folderWith('') });
    const file = fileURLToPath(new URL(`../../../../examples/${name}.yaml`, import.meta.url));
    const args = [file, '--dry-run', '--power', 'none'];
    await runCommand(io, makeDeps(io, '0.0.0')).parseAsync(args, { from: 'user' });
    expect(result.out.at(-1)).toMatch(/^\d+ cells, /);
  },
);

test('--dry-run lists what the matrix itself leaves out, with the reason; --json holds the order too', async () => {
  const cwd = folderWith(`name: t
order: latin
axes:
  model: [smollm2-135m, gemma3-270m]
  dataset: [{ id: sums, kind: arithmetic, limit: 2 }]
  variant: [base, { id: short, max_tokens: 4, when: { model: smollm2-135m } }]
`);
  const plan = async (...more: readonly string[]) => {
    const { io, result } = recordedIo({ cwd });
    const args = ['m.yaml', '--dry-run', '--power', 'none', ...more];
    await runCommand(io, makeDeps(io, '0.0.0')).parseAsync(args, { from: 'user' });
    return result.out;
  };
  expect(await plan()).toContain(
    'no cell: gemma3-270m × sums × single × short: variant short exists only when model is smollm2-135m',
  );
  expect(JSON.parse((await plan('--json')).join(''))).toMatchObject({
    order_rule: { order: 'latin', blocks: 'loaded', seed: 42 },
    pruned: [{ point: { variant: 'short' } }],
  });
});

test('weights of a variant are taken from the folder of the matrix', () => {
  const cwd = folderWith(
    'name: t\naxes:\n  model: [m]\n  dataset: [d]\n  variant: [{ id: q, model: { path: w/q.gguf } }]\n',
  );
  expect(readMatrix('m.yaml', {}, recordedIo({ cwd }).io).axes.variant).toEqual([
    { id: 'q', model: { path: join(cwd, 'w/q.gguf') } },
  ]);
});

test('a matrix file that is not there is one clear error', () => {
  expect(() => readMatrix('none.yaml', {}, recordedIo({ cwd: tmpdir() }).io)).toThrowError(
    expect.objectContaining({ code: 'FILE_UNREADABLE', message: 'matrix file none.yaml does not exist' }),
  );
});

test('the schema is printed as JSON Schema, without a matrix', async () => {
  const { io, result } = recordedIo({ cwd: tmpdir() });
  const deps = () => {
    throw new PerwattError('USAGE', 'nothing is run');
  };
  await runCommand(io, deps).parseAsync(['--schema'], { from: 'user' });
  const schema = JSON.parse(result.out.join('\n'));
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false, required: ['name', 'axes'] });
  expect(Object.keys(schema.properties.axes.properties)).toEqual([
    'model',
    'accelerator',
    'dataset',
    'strategy',
    'load',
    'variant',
  ]);
});

test('--dry-run tells the most queries where the data ends the repeats', async () => {
  const cwd = folderWith(`name: t
repeats: { until: { metric: power_w, half_width: 0.05, max: 10 } }
axes:
  model: [smollm2-135m]
  dataset: [{ id: sums, kind: arithmetic, limit: 2 }]
`);
  const { io, result } = recordedIo({ cwd });
  const args = ['m.yaml', '--dry-run', '--power', 'none'];
  await runCommand(io, makeDeps(io, '0.0.0')).parseAsync(args, { from: 'user' });
  expect(result.out.join('\n')).toMatch(/sums × single: ≤ 20 queries, .*\n1 cells, ≤ 20 queries, /);
});
