import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import * as z from 'zod';
import type { SegmentSource } from './compact-table.js';
import { makeFolder, syncFolder, writeFileAtomic } from './durable-file.js';
import { fileError } from './file-errors.js';
import { fileName } from './file-names.js';
import { parseJsonFile, readTextIfThere, writeJsonFile } from './json-file.js';
import type { ClockZero, HostFacts, InstantText, PowerFile, SegmentEntry } from './manifest.js';
import { noRun } from './no-run.js';
import { type PowerFileSeries, type PowerOptions, readPower } from './power-series.js';
import { refuseOther } from './published-manifest.js';
import { nextSegment, readTable, segmentFiles, type TableContent } from './read-tables.js';
import { lockFolder } from './run-lock.js';

/** One training of a run: a recipe with one choice of parameters, over some seeds. */
export interface TrainingFacts {
  /** Unique within the run. */
  readonly name: string;
  readonly recipe: string;
  readonly version: number;
  readonly title: string;
  /** What its curves are drawn over beside joules. */
  readonly effort: 'tokens' | 'env_actions';
  readonly params: Readonly<Record<string, number | string | boolean>>;
  readonly seeds: readonly number[];
  readonly steps: number;
  readonly eval_every: number;
  /** Steps that learn in a way of their own, in order; absent where all are alike. */
  readonly phases?: readonly { readonly name: string; readonly steps: number }[];
  /** What the recipe says that it shows, and can't show. */
  readonly claims: readonly {
    readonly text: string;
    readonly status: 'supported' | 'not_supported';
    /** What was set out and what was seen, where less is claimed. */
    readonly note?: string;
  }[];
}

/** One session of work on a training run. `end_ns` is null while it lasts, and for ever when its process was killed. */
export interface TrainingSitting {
  readonly sitting: number;
  readonly boot_id: string | null;
  readonly start_ns: InstantText;
  readonly end_ns: InstantText | null;
  /** Threads that trained side by side. */
  readonly threads: number;
  /** Time that was neither training nor evaluation, by what it went into; absent in runs that did not note it. */
  readonly asides?: readonly TrainingAside[];
  /** Spans in which nothing was at work, before and after the training; absent where none was metered. */
  readonly idle?: readonly TrainingIdle[];
}

/** `start`: a thread was started. `votes`: votes of a policy were counted and its code was warmed up. */
export interface TrainingAside {
  readonly kind: 'start' | 'votes';
  readonly start_ns: InstantText;
  readonly end_ns: InstantText;
}

/** A span in which the host's idle power was metered. */
export interface TrainingIdle {
  readonly when: 'before' | 'after';
  readonly start_ns: InstantText;
  readonly end_ns: InstantText;
}

/** `run.json` of a run of kind `training`: recipes that were trained here, with power measured all the while. */
export interface TrainingManifest {
  readonly schema_version: number;
  readonly kind: 'training';
  readonly run_id: string;
  readonly perwatt_version: string;
  readonly status: 'running' | 'done' | 'interrupted';
  readonly trainings: readonly TrainingFacts[];
  readonly host: HostFacts;
  readonly clocks: readonly ClockZero[];
  readonly power: readonly PowerFile[];
  /** Sources whose domains are summed; null for all that are in a total. */
  readonly boundary: readonly string[] | null;
  readonly sittings: readonly TrainingSitting[];
  readonly segments: readonly SegmentEntry[];
}

const count = z.int().min(0);

const Training = z.looseObject({
  schema_version: z.int().min(1),
  kind: z.literal('training', 'not a training run'),
  run_id: z.string(),
  status: z.enum(['running', 'done', 'interrupted']),
  trainings: z
    .array(
      z.looseObject({
        name: z.string(),
        recipe: z.string(),
        version: z.int(),
        params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
        seeds: z.array(count).min(1),
        steps: count,
        claims: z.array(z.looseObject({ text: z.string() })),
      }),
    )
    .min(1),
  power: z.array(z.looseObject({ file: z.string(), source: z.string() })),
  sittings: z.array(z.looseObject({ sitting: count, start_ns: z.string(), end_ns: z.string().nullable() })),
  segments: z.array(z.looseObject({ file: z.string(), table: z.string() })),
});

/** What of a training's manifest may change while it lasts. */
export type TrainingPatch = Partial<
  Pick<TrainingManifest, 'status' | 'clocks' | 'power' | 'sittings' | 'segments'>
>;

/** A training run on disk. Segments only grow, JSON files are replaced whole. */
export interface TrainingRun {
  readonly path: string;
  readonly powerFolder: string;
  /** As last read or written through this object. */
  readonly manifest: TrainingManifest;
  updateManifest(patch: TrainingPatch): void;
  nextSegment(folder: string, prefix: string): number;
  lock(): () => void;
  readSteps(): TableContent<'train_steps'>;
  readEvals(): TableContent<'train_evals'>;
  powerSeries(options?: PowerOptions): PowerFileSeries[];
  /** Where a policy of a training is kept at a step: a file that may not be there. */
  checkpointPath(training: string, seed: number, step: number): string;
  /** Writes a text beside the tables, durably; a checkpoint, or items. */
  writeText(path: string, text: string): void;
}

const MANIFEST = 'run.json';

/** Makes the folder `path` with its manifest. Throws `INPUT_INVALID` when it exists or its name can't be a run's id. */
export function createTrainingRun(path: string, manifest: TrainingManifest): TrainingRun {
  fileName('run id', manifest.run_id);
  for (const { name } of manifest.trainings) fileName('training', name);
  try {
    makeFolder(dirname(path));
    mkdirSync(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw fileError(error, path);
    throw new PerwattError('INPUT_INVALID', `folder ${path} exists already`, {
      hint: 'Give another folder with `--out`, or go on with it by `perwatt train --resume`.',
      cause: error,
    });
  }
  try {
    mkdirSync(join(path, 'power'));
    mkdirSync(join(path, 'checkpoints'));
    writeJsonFile(join(path, MANIFEST), manifest);
    syncFolder(dirname(path));
    return trainingRun(path, manifest);
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw fileError(error, path);
  }
}

/**
 * Opens the training run at `path`. Throws `RUN_NOT_FOUND` when there is none, `RUN_INVALID` when it is a run of a matrix or its
 * manifest is broken, `RUN_PUBLISHED` when it is an imported one, `RUN_SCHEMA_NEWER` when a newer version wrote it.
 */
export function openTrainingRun(path: string): TrainingRun {
  const file = join(path, MANIFEST);
  const text = existsSync(path) ? readTextIfThere(file) : null;
  if (text === null) throw noRun(path, file);
  refuseOther(path, text, 'training');
  return trainingRun(path, parseJsonFile<TrainingManifest>(file, text, Training));
}

function trainingRun(path: string, first: TrainingManifest): TrainingRun {
  let manifest = first;
  const powerFolder = join(path, 'power');
  return {
    path,
    powerFolder,
    get manifest() {
      return manifest;
    },
    updateManifest(patch) {
      const next = { ...manifest, ...patch };
      writeJsonFile(join(path, MANIFEST), next);
      manifest = next;
    },
    nextSegment: (folder, prefix) => nextSegment(folder, fileName('segment prefix', prefix)),
    lock: () => lockFolder(path),
    readSteps: () => readTable(path, 'train_steps', manifest.segments),
    readEvals: () => readTable(path, 'train_evals', manifest.segments),
    powerSeries: (options) => readPower(powerFolder, manifest.power, options),
    checkpointPath: (training, seed, step) =>
      join(path, 'checkpoints', `${fileName('training', training)}-seed-${seed}-step-${step}.json`),
    writeText(file, text) {
      try {
        writeFileAtomic(file, text);
      } catch (error) {
        throw fileError(error, file);
      }
    },
  };
}

/** The tables of a training run. */
export const trainingTables = ['train_steps', 'train_evals'] as const;

/** Segments of a training's table: those that its manifest lists, and those that a killed sitting left. */
export function trainingSegments(
  { path, manifest }: Pick<TrainingRun, 'path' | 'manifest'>,
  table: (typeof trainingTables)[number],
): SegmentSource[] {
  const listed = manifest.segments.filter((entry) => entry.table === table);
  const files = new Set([...listed.map(({ file }) => file), ...segmentFiles(path, table)]);
  return [...files].map((file) => ({
    path: join(path, fileName('segment file', file)),
    entry: listed.find((own) => own.file === file) ?? null,
  }));
}

/** The text of a checkpoint's file. Throws `CHECKPOINT_INVALID` when it can't be read. */
export function checkpointText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PerwattError('CHECKPOINT_INVALID', `checkpoint ${path} can't be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
