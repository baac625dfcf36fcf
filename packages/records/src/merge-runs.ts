import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { type CellPart, combineCells, whyNotOne } from './combine-cells.js';
import { syncFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { fileName } from './file-names.js';
import type { CellFile, MergedRun, PowerFile, RunManifest } from './manifest.js';
import { mergedMatrix } from './merged-matrix.js';
import { createRun, openRun, type RunFolder } from './run-folder.js';
import { cellSegments, cellTables, powerSegment, powerTables } from './run-segments.js';

/** What was put together. */
export interface Merged {
  readonly path: string;
  readonly manifest: RunManifest;
  /** Cells with data, and all of them. */
  readonly measured: number;
  readonly cells: number;
}

/**
 * Puts runs, made in several places or of several matrices, into a new run at `out`. Segments are copied byte for byte; cells and
 * rows keep the id of the run they come from, and the manifest says on which host each was made. A cell that several runs measured
 * is one with the repeats of all. Throws `INPUT_INVALID` for a run given twice, matrices that don't go together, or equal cells
 * that can't be one; `RUN_IN_USE` while one is running. Leaves nothing behind when it fails.
 */
export function mergeRuns(paths: readonly string[], out: string): Merged {
  const runs = paths.map(openRun);
  checkRuns(runs);
  const releases: (() => void)[] = [];
  try {
    for (const run of runs) releases.push(lockIfWritable(run));
    return merge(runs, out);
  } finally {
    for (const release of releases) release();
  }
}

function checkRuns(runs: readonly RunFolder[]): void {
  const [first, ...others] = runs;
  if (first === undefined || others.length === 0)
    throw new PerwattError('INPUT_INVALID', `${runs.length} runs given where two or more are wanted`);
  const ids = runs.flatMap(
    ({ manifest: { run_id, merged } }) => merged?.map((each) => each.run_id) ?? [run_id],
  );
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw new PerwattError('INPUT_INVALID', `run ${twice} is given twice`);
  const timeless = runs.filter(
    ({ manifest }) => manifest.power.length > 0 && manifest.clocks.some(({ boot_id }) => boot_id === null),
  );
  if (timeless.length > 1)
    throw new PerwattError(
      'INPUT_INVALID',
      `${timeless.map(({ path }) => path).join(' and ')} don't say which clock their samples are on`,
    );
}

function lockIfWritable(run: RunFolder): () => void {
  try {
    return run.lock();
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'FILE_UNREADABLE') return () => {};
    throw error;
  }
}

/** A cell, and the runs that it is taken from: all that worked on it, or the first that planned it. */
interface Origin {
  readonly cell_id: string;
  readonly parts: readonly CellPart[];
}

const hasData = ({ sittings, segments }: CellFile): boolean => sittings.length > 0 || segments.length > 0;

const isMeasured = ({ parts }: Origin): boolean => parts.some(({ cell }) => hasData(cell));

/** Every cell with its origin; worked cells first, run by run. */
function originsOf(runs: readonly RunFolder[]): Origin[] {
  const worked = new Map<string, CellPart[]>();
  const planned = new Map<string, CellPart[]>();
  for (const run of runs) {
    for (const cell of run.cells()) {
      const known = hasData(cell) ? worked : planned;
      known.set(cell.cell_id, [...(known.get(cell.cell_id) ?? []), { run, cell }]);
    }
  }
  const rest = [...planned]
    .filter(([id]) => !worked.has(id))
    .map(([id, parts]) => [id, parts.slice(0, 1)] as const);
  return [...worked, ...rest].map(([cell_id, parts]) => ({ cell_id, parts: checked(cell_id, parts) }));
}

function checked(cell_id: string, parts: readonly CellPart[]): readonly CellPart[] {
  const why = parts.length < 2 ? null : whyNotOne(parts);
  if (why === null) return parts;
  const places = parts.map(({ run }) => run.path).join(' and in ');
  throw new PerwattError('INPUT_INVALID', `cell ${cell_id} was worked on in ${places}, but ${why}`, {
    hint: 'Leave out one of the runs, or finish the cell with `perwatt run --resume` where it is open.',
  });
}

function merge(runs: readonly RunFolder[], out: string): Merged {
  const origins = originsOf(runs);
  const power = runs.map((run, i) => run.manifest.power.map((file) => renamed(file, i)));
  const merged = createRun(dirname(out), manifestOf(basename(out), { runs, origins, power: power.flat() }));
  try {
    for (const [position, { parts }] of origins.entries()) writeOrigin(merged, parts, position);
    for (const [i, run] of runs.entries()) copyPower(run, merged, i);
    syncFolder(merged.powerFolder);
    const done = origins.every(({ parts }) => parts.every(({ cell }) => cell.status === 'done'));
    merged.updateManifest({ status: done ? 'done' : 'interrupted' });
  } catch (error) {
    rmSync(merged.path, { recursive: true, force: true });
    throw error;
  }
  const measured = origins.filter(isMeasured).length;
  return { path: merged.path, manifest: merged.manifest, measured, cells: origins.length };
}

/** The first part's segments as they are, the rows of others moved on behind them. */
function writeOrigin(merged: RunFolder, parts: readonly CellPart[], position: number): void {
  const [first] = parts;
  if (first === undefined) return;
  const { run, cell } = first;
  merged.writeCell({ ...cell, position });
  const folder = merged.cellFolder(cell.cell_id);
  for (const source of cellTables.flatMap((table) => cellSegments(run, cell, table)))
    copySegment(source.path, join(folder, basename(source.path)));
  if (parts.length > 1) merged.writeCell({ ...combineCells(merged, parts), position });
  syncFolder(folder);
}

interface Parts {
  readonly runs: readonly RunFolder[];
  readonly origins: readonly Origin[];
  readonly power: readonly PowerFile[];
}

function manifestOf(run_id: string, { runs, origins, power }: Parts): RunManifest {
  const manifests = runs.map(({ manifest }) => manifest);
  const [first] = manifests;
  if (first === undefined) throw new RangeError('no run to merge');
  const { power_cap: _, devices: __, ...shared } = first;
  const leftOutByAll = first.left_out.filter(({ what }) =>
    manifests.every(({ left_out }) => left_out.some((other) => other.what === what)),
  );
  return {
    ...shared,
    run_id,
    status: 'running',
    order: origins.map(({ cell_id }) => cell_id),
    ...mergedMatrix(runs.map(({ path, manifest }) => ({ path, ...manifest }))),
    clocks: manifests.flatMap(({ clocks }) => clocks),
    left_out: leftOutByAll,
    power,
    merged: runs.flatMap((run) => mergedFrom(run, { origins, several: differ(manifests) })),
  };
}

const differ = (manifests: readonly RunManifest[]): boolean =>
  new Set(manifests.map(({ matrix_sha256 }) => matrix_sha256)).size > 1;

interface From {
  readonly origins: readonly Origin[];
  /** Whether the runs are of several matrices. */
  readonly several: boolean;
}

/** Where the cells of one run come from; a run that was merged before says it for itself. */
function mergedFrom(run: RunFolder, { origins, several }: From): MergedRun[] {
  const { run_id, perwatt_version, host, clocks, merged, matrix, order } = run.manifest;
  const taken = new Set(
    origins
      .filter(({ parts }) => parts.some((part) => part.run === run && hasData(part.cell)))
      .map(({ cell_id }) => cell_id),
  );
  const own = several ? { matrix } : {};
  if (merged !== undefined)
    return merged.map((each) => ({ ...own, ...each, cells: each.cells.filter((id) => taken.has(id)) }));
  const cells = order.filter((id) => taken.has(id));
  return [{ run_id, perwatt_version, host, clocks, cells, ...own }];
}

/** A power file under a name that no other run has. */
function renamed(file: PowerFile, i: number): PowerFile {
  const name = (old: string) => fileName('power file', `${i + 1}-${old}`);
  const { segment, channels } = file;
  return {
    ...file,
    file: name(file.file),
    segment: segment === null ? null : { ...segment, file: name(segment.file) },
    ...(channels === null || channels === undefined
      ? {}
      : {
          channels: {
            ...channels,
            file: name(channels.file),
            segment:
              channels.segment === null ? null : { ...channels.segment, file: name(channels.segment.file) },
          },
        }),
  };
}

function copyPower(run: RunFolder, merged: RunFolder, i: number): void {
  for (const file of run.manifest.power) {
    for (const table of powerTables) {
      const source = powerSegment(run, file, table);
      if (source === null) continue;
      copySegment(source.path, join(merged.powerFolder, `${i + 1}-${basename(source.path)}`));
    }
  }
}

/** Copies a file durably, where the disk can by reference. One that is missing stays so: its entry tells. */
function copySegment(from: string, to: string): void {
  if (!existsSync(from)) return;
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    const fd = openSync(to, 'r+');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw fileError(error, to);
  }
}
