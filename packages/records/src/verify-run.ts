import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { type Checked, type Finding, found, problem, together } from './findings.js';
import { hasKernels, kernelSegments } from './kernel-sessions.js';
import type { CellFile, RunManifest } from './manifest.js';
import type { PublishedManifest } from './published-manifest.js';
import { publishedManifest } from './published-run.js';
import { readableCells } from './run-cells.js';
import { openRun, type RunFolder } from './run-folder.js';
import { powerSegment, powerTables } from './run-segments.js';
import { openTrainingRun, type TrainingRun, trainingSegments, trainingTables } from './training-run.js';
import { checkCell } from './verify-cell.js';
import { checkSegment } from './verify-segment.js';

/** What was looked at, and what was found. */
export interface Verification {
  readonly run_id: string | null;
  readonly cells: number;
  readonly segments: number;
  readonly rows: number;
  readonly batches: number;
  readonly bytes: number;
  /** Every one there is; a run without a `problem` is as it was written. */
  readonly findings: readonly Finding[];
}

/**
 * Reads all of the run at `path` and reports everything that is not as it was written: checksums of closed segments, seals
 * of every batch, schemas, counts, query ids, energies that don't add up, files that don't belong. Reads only, and needs
 * memory for the ids of one cell. Of an imported run, a training and a folder of kernel sessions the same as far as they have it.
 * Throws `RUN_NOT_FOUND` when there is no run, `RUN_SCHEMA_NEWER` for one of a newer version.
 */
export function verifyRun(path: string): Verification {
  let run: RunFolder;
  try {
    run = openRun(path);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    if (error.code === 'RUN_PUBLISHED') return verifyPublished(path);
    if (error.code === 'RUN_TRAINING') return verifyTraining(path);
    if (error.code === 'RUN_NOT_FOUND' && hasKernels(path)) return verifyKernels(path);
    return unreadable(error);
  }
  const { cells, broken } = readableCells(run);
  const checked = together([
    found(...broken.map(({ cell_id, reason }) => problem('json_invalid', `cells/${cell_id}`, reason))),
    found(
      ...missingCells(
        run,
        cells,
        broken.map(({ cell_id }) => cell_id),
      ),
    ),
    ...cells.map((cell) => checkCell(run, cell)),
    checkPower(run),
    checkKernels(run.path),
  ]);
  return { run_id: run.manifest.run_id, cells: cells.length, ...checked };
}

function unreadable(error: PerwattError): Verification {
  if (error.code !== 'RUN_INVALID') throw error;
  return { run_id: null, cells: 0, ...found(problem('json_invalid', 'run.json', messageOf(error))) };
}

/** A run of figures that others published: its one segment, and that nothing else looks like one. */
function verifyPublished(path: string): Verification {
  let manifest: PublishedManifest;
  try {
    manifest = publishedManifest(path);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    return unreadable(error);
  }
  const { run_id, segment } = manifest;
  const own = { run_id: new Set([run_id]), provenance: new Set(['published']) };
  const others = readdirSync(path)
    .filter((file) => file.endsWith('.arrows') && file !== segment.file)
    .sort();
  const checked = together([
    checkSegment({
      place: '',
      table: 'published',
      path: join(path, segment.file),
      entry: segment,
      crashed: false,
      names: own,
    }),
    found(...others.map((file) => problem('file_unlisted', file, 'run.json knows nothing of the file'))),
  ]);
  return { run_id, cells: 0, ...checked };
}

/** A training run: its tables, those of killed sittings among them, and its power. */
function verifyTraining(path: string): Verification {
  let run: TrainingRun;
  try {
    run = openTrainingRun(path);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    return unreadable(error);
  }
  const { run_id } = run.manifest;
  const names = { run_id: new Set([run_id]) };
  const tablesOf = trainingTables.flatMap((table) =>
    trainingSegments(run, table).map(({ path: file, entry }) =>
      checkSegment({ place: '', table, path: file, entry, crashed: entry === null, names }),
    ),
  );
  return { run_id, cells: 0, ...together([...tablesOf, checkPower(run)]) };
}

/** A folder of kernel sessions alone. */
const verifyKernels = (path: string): Verification => ({ run_id: null, cells: 0, ...checkKernels(path) });

/** Cells that the manifest names and the run doesn't have, and the other way round. */
function missingCells(run: RunFolder, cells: readonly CellFile[], broken: readonly string[]): Finding[] {
  const present = new Set([...cells.map(({ cell_id }) => cell_id), ...broken]);
  const order = new Set(run.manifest.order);
  const missing = [...order].filter((id) => !present.has(id));
  const extra = cells.filter(({ cell_id }) => !order.has(cell_id));
  return [
    ...missing.map((id) =>
      problem('cell_missing', `cells/${id}`, 'the cell is in the order of run.json, but has no file'),
    ),
    ...extra.map(({ cell_id }) =>
      problem('file_unlisted', `cells/${cell_id}`, 'the cell is not in the order of run.json'),
    ),
  ];
}

/** Rows of kernels that were run beside the cells. */
function checkKernels(path: string): Checked {
  if (!hasKernels(path)) return found();
  try {
    const segments = kernelSegments(path);
    return together(
      segments.map((segment) =>
        checkSegment({ place: 'kernels', table: 'kernels', ...segment, crashed: segment.entry === null }),
      ),
    );
  } catch (error) {
    if (!(error instanceof PerwattError && error.code === 'RUN_INVALID')) throw error;
    return found(problem('json_invalid', 'kernels/kernels.json', messageOf(error)));
  }
}

function checkPower(
  run: Pick<TrainingRun, 'powerFolder'> & { readonly manifest: Pick<RunManifest, 'power'> },
): Checked {
  const sources = run.manifest.power.flatMap((power) =>
    powerTables.flatMap((table) => {
      const source = powerSegment(run, power, table);
      return source === null ? [] : [{ table, ...source }];
    }),
  );
  const listed = new Set(sources.map(({ path }) => path));
  const files = existsSync(run.powerFolder) ? readdirSync(run.powerFolder).sort() : [];
  const unlisted = files.filter(
    (file) => file.endsWith('.arrows') && !listed.has(join(run.powerFolder, file)),
  );
  return together([
    ...sources.map(({ table, path, entry }) =>
      checkSegment({ place: 'power', table, path, entry, crashed: entry === null }),
    ),
    found(
      ...unlisted.map((file) =>
        problem('file_unlisted', `power/${file}`, 'run.json knows nothing of the file'),
      ),
    ),
  ]);
}
