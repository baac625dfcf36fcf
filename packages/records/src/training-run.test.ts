import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCHEMA_VERSION, type TrainStepRow, train_steps } from '@perwatt/core';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openRun } from './run-folder.js';
import { openTables } from './run-tables.js';
import { SegmentWriter } from './segment-writer.js';
import { createTrainingRun, openTrainingRun, type TrainingManifest } from './training-run.js';
import { verifyRun } from './verify-run.js';

let path = '';
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-training-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  path = join(root, 'run');
});

const manifest = (change: Partial<TrainingManifest> = {}): TrainingManifest => ({
  schema_version: SCHEMA_VERSION,
  kind: 'training',
  run_id: 'run',
  perwatt_version: '0',
  status: 'running',
  trainings: [
    {
      name: 'a',
      recipe: 'grpo',
      version: 1,
      title: '',
      effort: 'tokens',
      params: {},
      seeds: [0],
      steps: 2,
      eval_every: 1,
      claims: [],
    },
  ],
  host: {} as TrainingManifest['host'],
  clocks: [],
  power: [],
  boundary: null,
  sittings: [],
  segments: [],
  ...change,
});

const row = (step: number): TrainStepRow => {
  const filled = Object.entries(train_steps).map(([name, { type }]) => [
    name,
    type === 'name' ? 'run' : type === 'int64' ? 0n : 0,
  ]);
  return { ...(Object.fromEntries(filled) as TrainStepRow), step };
};

const writer = (file = 'train_steps-0.arrows') =>
  SegmentWriter.create({ folder: path, file, table: 'train_steps', sitting: 0, metadata: { run_id: 'run' } });

test('a training run is opened as it was made, and its rows are read, those of a killed sitting too', () => {
  const run = createTrainingRun(path, manifest());
  const first = writer();
  first.append([row(1)]);
  run.updateManifest({ segments: [first.close()] });
  const killed = writer('train_steps-1.arrows');
  killed.append([row(2)]);
  killed.flush();
  const again = openTrainingRun(path);
  expect(again.manifest).toEqual(run.manifest);
  expect(again.readSteps().rows.map(({ step }) => step)).toEqual([1, 2]);
  expect(verifyRun(path)).toMatchObject({ run_id: 'run', cells: 0, segments: 2, rows: 2, findings: [] });
});

test('its rows and samples answer SQL', async () => {
  const run = createTrainingRun(path, manifest());
  const own = writer();
  own.append([row(1), row(2)]);
  run.updateManifest({ segments: [own.close()] });
  const open = await openTables(path);
  onTestFinished(open.close);
  const { connection } = open.db;
  const read = await connection.runAndReadAll('SELECT sum(step)::INT AS s FROM train_steps');
  expect(read.getRowObjects()).toEqual([{ s: 3 }]);
  expect((await connection.runAndReadAll('FROM samples')).getRowObjects()).toEqual([]);
  expect(open.views).toEqual(['train_steps', 'train_evals', 'samples', 'channels']);
});

test('what was changed after it was closed is found', () => {
  const run = createTrainingRun(path, manifest());
  const own = writer();
  own.append([row(1)]);
  const entry = own.close();
  run.updateManifest({ segments: [entry] });
  truncateSync(join(path, entry.file), entry.bytes - 20);
  expect(verifyRun(path).findings).toMatchObject([{ level: 'problem', where: 'train_steps-0.arrows' }]);
});

test('it is no run of a matrix, and says so', () => {
  createTrainingRun(path, manifest());
  expect(() => openRun(path)).toThrowError(expect.objectContaining({ code: 'RUN_TRAINING' }));
});

test('a folder that is there already, one that is none, and a broken manifest are refused', () => {
  createTrainingRun(path, manifest());
  expect(() => createTrainingRun(path, manifest())).toThrow(/exists already/);
  expect(() => openTrainingRun(join(path, 'x'))).toThrow(/no run at/);
  const file = join(path, 'run.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"training"', '"other"'));
  expect(() => openTrainingRun(path)).toThrow(/kind: not a training run/);
});

test('names that can be no files are refused before anything is made', () => {
  const [training] = manifest().trainings;
  expect(() => createTrainingRun(path, manifest({ trainings: [{ ...training!, name: '../x' }] }))).toThrow(
    /cannot be a file name/,
  );
  expect(() => openTrainingRun(path)).toThrow(/no run at/);
});
