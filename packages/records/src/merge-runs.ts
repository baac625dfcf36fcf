import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { syncFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { fileName } from './file-names.js';
import type { CellFile, MergedRun, PowerFile, RunManifest } from './manifest.js';
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
 * Puts runs of one matrix, made in several places, into a new run at `out`. Segments are copied byte for byte; cells and rows
 * keep the id of the run they come from, and the manifest says on which host each was made. Throws `INPUT_INVALID` for
 * runs of different matrices, a run given twice, or a cell that two of them worked on; `RUN_IN_USE` while one is running.
 * Leaves nothing behind when it fails.
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
  const { matrix_sha256 } = first.manifest;
  const other = others.find(({ manifest }) => manifest.matrix_sha256 !== matrix_sha256);
  if (other !== undefined)
    throw new PerwattError('INPUT_INVALID', `${other.path} is a run of another matrix than ${first.path}`, {
      hint: 'Merge runs of one matrix file; use `perwatt compare` for runs of different ones.',
    });
  const ids = runs.map(({ manifest }) => manifest.run_id);
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

/** A cell, and the run that it is taken from. */
interface Origin {
  readonly run: RunFolder;
  readonly cell: CellFile;
}

const hasData = ({ sittings, segments }: CellFile): boolean => sittings.length > 0 || segments.length > 0;

/** For every cell the run that worked on it, or the first that planned it; worked cells first, run by run. */
function originsOf(runs: readonly RunFolder[]): Origin[] {
  const worked = new Map<string, Origin>();
  const planned = new Map<string, Origin>();
  for (const run of runs) {
    for (const cell of run.cells()) {
      const known = worked.get(cell.cell_id);
      if (!hasData(cell)) planned.set(cell.cell_id, planned.get(cell.cell_id) ?? { run, cell });
      else if (known !== undefined) throw clash(known, { run, cell });
      else worked.set(cell.cell_id, { run, cell });
    }
  }
  return [...worked.values(), ...[...planned].filter(([id]) => !worked.has(id)).map(([, origin]) => origin)];
}

function clash(a: Origin, b: Origin): PerwattError {
  const id = a.cell.cell_id;
  const ids = new Set(a.run.readQueries(id).rows.map((row) => row.query_id));
  const common = b.run.readQueries(id).rows.filter((row) => ids.has(row.query_id)).length;
  return new PerwattError(
    'INPUT_INVALID',
    `cell ${id} was worked on in ${a.run.path} and in ${b.run.path}; ${common} queries have rows in both`,
    { hint: 'Leave out one of the runs, or give each host cells of its own.' },
  );
}

function merge(runs: readonly RunFolder[], out: string): Merged {
  const origins = originsOf(runs);
  const power = runs.map((run, i) => run.manifest.power.map((file) => renamed(file, i)));
  const merged = createRun(dirname(out), manifestOf(basename(out), { runs, origins, power: power.flat() }));
  try {
    for (const [position, { run, cell }] of origins.entries()) {
      merged.writeCell({ ...cell, position });
      const folder = merged.cellFolder(cell.cell_id);
      for (const source of cellTables.flatMap((table) => cellSegments(run, cell, table)))
        copySegment(source.path, join(folder, basename(source.path)));
      syncFolder(folder);
    }
    for (const [i, run] of runs.entries()) copyPower(run, merged, i);
    syncFolder(merged.powerFolder);
    const done = origins.every(({ cell }) => cell.status === 'done');
    merged.updateManifest({ status: done ? 'done' : 'interrupted' });
  } catch (error) {
    rmSync(merged.path, { recursive: true, force: true });
    throw error;
  }
  const measured = origins.filter(({ cell }) => hasData(cell)).length;
  return { path: merged.path, manifest: merged.manifest, measured, cells: origins.length };
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
    order: origins.map(({ cell }) => cell.cell_id),
    clocks: manifests.flatMap(({ clocks }) => clocks),
    left_out: leftOutByAll,
    power,
    merged: runs.flatMap((run) => mergedFrom(run, origins)),
  };
}

/** Where the cells of one run come from; a run that was merged before says it for itself. */
function mergedFrom(run: RunFolder, origins: readonly Origin[]): MergedRun[] {
  const { run_id, perwatt_version, host, clocks, merged } = run.manifest;
  const taken = new Set(origins.filter((o) => o.run === run && hasData(o.cell)).map((o) => o.cell.cell_id));
  if (merged !== undefined)
    return merged.map((each) => ({ ...each, cells: each.cells.filter((id) => taken.has(id)) }));
  return [{ run_id, perwatt_version, host, clocks, cells: run.manifest.order.filter((id) => taken.has(id)) }];
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
