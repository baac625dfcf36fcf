import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PerwattError, systemCode } from '@perwatt/core';
import { makeFolder, syncFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { fileName } from './file-names.js';
import { parseJsonFile, readTextIfThere, writeJsonFile } from './json-file.js';
import type { CellFile, RunManifest } from './manifest.js';
import { CellSchema, RunSchema } from './manifest-schema.js';
import { noRun } from './no-run.js';
import {
  type ChannelReadings,
  type PowerFileSeries,
  type PowerOptions,
  readChannels,
  readPower,
} from './power-series.js';
import { refusePublished, refuseTraining } from './published-manifest.js';
import { nextSegment, readTable, type TableContent } from './read-tables.js';
import { lockFolder } from './run-lock.js';

/** What of a manifest may change while its run lasts. */
export type ManifestPatch = Partial<
  Omit<RunManifest, 'schema_version' | 'run_id' | 'matrix' | 'matrix_sha256'>
>;

/** One run on disk. JSON files are replaced whole, segments only grow; nothing else is ever rewritten. */
export interface RunFolder {
  readonly path: string;
  /** As last read or written through this object. */
  readonly manifest: RunManifest;
  /** Folder of the samples. */
  readonly powerFolder: string;
  updateManifest(patch: ManifestPatch): void;
  /** Every cell that has a file, in the order of execution. */
  cells(): CellFile[];
  /** Throws `RUN_INVALID` when the cell has no file, or a broken one. */
  readCell(cellId: string): CellFile;
  writeCell(cell: CellFile): void;
  /** Folder of a cell's segments; exists once the cell was written. Throws `INPUT_INVALID` for an id that can't be a name. */
  cellFolder(cellId: string): string;
  /** Number for the next segment of `prefix` in one of the run's folders, from 0. */
  nextSegment(folder: string, prefix: string): number;
  /** Takes the run for this process; returns what gives it back. Throws `RUN_IN_USE` while another may be at work on it. */
  lock(): () => void;
  /** Rows over all segments of the cell, torn ones named. */
  readQueries(cellId: string): TableContent<'queries'>;
  readCalls(cellId: string): TableContent<'calls'>;
  readTexts(cellId: string): TableContent<'texts'>;
  readGrades(cellId: string): TableContent<'grades'>;
  /** Samples by power file, in the order of the manifest. */
  powerSeries(options?: PowerOptions): PowerFileSeries[];
  /** Readings beside power, by power file that has any. */
  channelReadings(): ChannelReadings[];
}

const MANIFEST = 'run.json';
const CELL = 'cell.json';

/**
 * Makes `<root>/<run_id>` with its manifest. Throws `INPUT_INVALID` when it exists or the id can't be a folder's name;
 * leaves nothing behind when it fails.
 */
export function createRun(root: string, manifest: RunManifest): RunFolder {
  const path = join(root, fileName('run id', manifest.run_id));
  try {
    makeFolder(root);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw fileError(error, root);
    throw new PerwattError('FILE_UNREADABLE', `${root} is a file, not a folder`, {
      hint: 'Give another folder with `--out`.',
      cause: error,
    });
  }
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw fileError(error, path);
    throw new PerwattError('INPUT_INVALID', `run folder ${path} exists already`, {
      hint: 'Continue that run with `perwatt run --resume`, or give the new one another id or `--out` folder.',
      cause: error,
    });
  }
  try {
    mkdirSync(join(path, 'cells'));
    mkdirSync(join(path, 'power'));
    writeJsonFile(join(path, MANIFEST), manifest);
    syncFolder(root);
    return runFolder(path, manifest);
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    throw fileError(error, path);
  }
}

/**
 * Opens the run at `path`. Throws `RUN_NOT_FOUND` when there is none, `RUN_SCHEMA_NEWER` when a newer version made it,
 * `RUN_INVALID` when its manifest is broken, `RUN_PUBLISHED` when it holds imported figures (`readPublished` reads those),
 * `RUN_TRAINING` when it holds a training (`openTrainingRun` opens those).
 */
export function openRun(path: string): RunFolder {
  const file = join(path, MANIFEST);
  const text = existsSync(path) ? readTextIfThere(file) : null;
  if (text === null) throw noRun(path, file);
  refusePublished(path, text);
  refuseTraining(path, text);
  return runFolder(path, parseJsonFile<RunManifest>(file, text, RunSchema));
}

function runFolder(path: string, first: RunManifest): RunFolder {
  let manifest = first;
  const cellsFolder = join(path, 'cells');
  const powerFolder = join(path, 'power');
  const cellFolder = (id: string) => join(cellsFolder, fileName('cell id', id));
  const cellIfThere = (id: string): CellFile | null => {
    const file = join(cellFolder(id), CELL);
    const text = readTextIfThere(file);
    return text === null ? null : parseJsonFile<CellFile>(file, text, CellSchema);
  };
  const read = <T extends 'queries' | 'calls' | 'texts' | 'grades'>(id: string, table: T) =>
    readTable(cellFolder(id), table, cellIfThere(id)?.segments ?? []);
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
    cells: () =>
      cellIds(cellsFolder)
        .flatMap((id) => cellIfThere(id) ?? [])
        .sort((a, b) => a.position - b.position),
    readCell(id) {
      const cell = cellIfThere(id);
      if (cell !== null) return cell;
      throw new PerwattError('RUN_INVALID', `${join(cellFolder(id), CELL)} is missing`);
    },
    writeCell(cell) {
      const folder = cellFolder(cell.cell_id);
      try {
        makeFolder(folder);
      } catch (error) {
        throw fileError(error, folder);
      }
      writeJsonFile(join(folder, CELL), cell);
    },
    cellFolder,
    nextSegment: (folder, prefix) => nextSegment(folder, fileName('segment prefix', prefix)),
    lock: () => lockFolder(path),
    readQueries: (id) => read(id, 'queries'),
    readCalls: (id) => read(id, 'calls'),
    readTexts: (id) => read(id, 'texts'),
    readGrades: (id) => read(id, 'grades'),
    powerSeries: (options) => readPower(powerFolder, manifest.power, options),
    channelReadings: () => readChannels(powerFolder, manifest.power),
  };
}

/** Names of the cell folders, sorted, so that equal positions keep one order. */
const cellIds = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
        .sort()
    : [];
