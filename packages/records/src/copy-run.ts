import { constants, copyFileSync, existsSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { TableName } from '@perwatt/core';
import { changedJson } from './changed-json.js';
import type { SegmentSource } from './compact-table.js';
import { makeFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { readTextIfThere, writeJsonFile } from './json-file.js';
import { kernelSegments } from './kernel-sessions.js';
import type { CellFile, PowerFile, SegmentEntry } from './manifest.js';
import { inspectSegment, rewriteSegment, type TextChange } from './rewrite-segment.js';
import { createRun, type RunFolder } from './run-folder.js';
import { cellSegments, cellTables, powerSegment, powerTables } from './run-segments.js';

/** What a copy of a run is to hold. */
export interface CopyOptions {
  /** Folder that the copy is made in, under its run id. */
  readonly root: string;
  /** Every text of the run goes through it: the same text must always come out the same. */
  readonly change: (text: string) => string;
  /** `drop` leaves prompts, completions and the answers found in them out. */
  readonly texts: 'keep' | 'drop';
}

/** A copy of a run. */
export interface CopiedRun {
  readonly run: RunFolder;
  /** Segments that hold other bytes than the run's own, with the sha256 that those had; null where it was never closed. */
  readonly rewritten: readonly { readonly file: string; readonly original_sha256: string | null }[];
}

/** Columns that hold parts of completions. */
const answerColumns: Readonly<Partial<Record<TableName, readonly string[]>>> = {
  queries: ['extracted'],
  grades: ['extracted', 'answer', 'salvaged'],
};

/**
 * Copies a run with its texts changed: manifests, segments of all tables and of power. Segments in which nothing changes are
 * copied byte for byte, the others written anew with the same numbers. What can be derived (Parquet, reports) and logs of
 * engines are not copied. Throws `INPUT_INVALID` where the copy exists, and leaves nothing behind when it fails.
 */
export function copyRun(run: RunFolder, options: CopyOptions): CopiedRun {
  const change = remembered(options.change);
  const copy = createRun(options.root, changedJson(run.manifest, change));
  try {
    const rewritten: { file: string; original_sha256: string | null }[] = [];
    const note = (path: string, entry: SegmentEntry | null) =>
      void rewritten.push({ file: relative(copy.path, path), original_sha256: entry?.sha256 ?? null });
    for (const cell of run.cells()) copyCell({ run, copy, change, texts: options.texts, note }, cell);
    const power = run.manifest.power.map((file) => copyPower({ run, copy, change, note }, file));
    copy.updateManifest({ power });
    copyKernels({ run, copy, change, texts: 'keep', note });
    return { run: copy, rewritten };
  } catch (error) {
    rmSync(copy.path, { recursive: true, force: true });
    throw error;
  }
}

/** The same for the same text without working it out again: names stand in every row. */
export function remembered(change: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > 200) return change(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const after = change(text);
    if (known.size < 100_000) known.set(text, after);
    return after;
  };
}

/** How segments are copied. */
export interface SegmentCopying {
  readonly change: (text: string) => string;
  /** Told of a copy that holds other bytes. */
  readonly note: (path: string, entry: SegmentEntry | null) => void;
}

interface Copying extends SegmentCopying {
  readonly run: RunFolder;
  readonly copy: RunFolder;
  readonly texts: CopyOptions['texts'];
}

/** A copy of power from one run into another, of whatever kinds they are. */
export interface PowerCopying extends SegmentCopying {
  readonly run: Pick<RunFolder, 'powerFolder'>;
  readonly copy: Pick<RunFolder, 'powerFolder'>;
}

function copyCell(work: Copying, cell: CellFile): void {
  const { run, copy, change, texts } = work;
  const changed = changedJson(cell, change);
  copy.writeCell({ ...changed, segments: [] });
  const folder = copy.cellFolder(changed.cell_id);
  const kept = cellTables.filter((table) => table !== 'texts' || texts === 'keep');
  const entries = new Map<string, SegmentEntry | null>();
  for (const table of kept) {
    const emptied = texts === 'drop' ? (answerColumns[table] ?? []) : [];
    for (const source of cellSegments(run, cell, table))
      entries.set(basename(source.path), copySegment(work, table, { source, folder, emptied }));
  }
  const segments = cell.segments
    .filter(({ table }) => table !== 'texts' || texts === 'keep')
    .map((entry) => entries.get(entry.file) ?? { ...entry, file: change(entry.file) });
  copy.writeCell({ ...changed, segments });
}

/** Copies the samples and channels of one source. Returns how the copy lists them. */
export function copyPower(work: PowerCopying, power: PowerFile): PowerFile {
  const { run, copy, change } = work;
  const entries = powerTables.map((table) => {
    const source = powerSegment(run, power, table);
    return source === null
      ? null
      : copySegment(work, table, { source, folder: copy.powerFolder, emptied: [] });
  });
  const [segment = null, channels = null] = entries;
  const changed = changedJson(power, change);
  return {
    ...changed,
    segment: segment ?? changed.segment,
    ...(changed.channels == null
      ? {}
      : { channels: { ...changed.channels, segment: channels ?? changed.channels.segment } }),
  };
}

/** Kernels that were run beside the cells, where there are any. */
function copyKernels(work: Copying): void {
  const { run, copy, change } = work;
  const [from, to] = [run.path, copy.path].map((path) => join(path, 'kernels'));
  const text = from === undefined ? null : readTextIfThere(join(from, 'kernels.json'));
  if (text === null || to === undefined) return;
  makeFolder(to);
  const entries = new Map<string, SegmentEntry | null>();
  for (const source of kernelSegments(run.path)) {
    const file = change(basename(source.path));
    entries.set(file, copySegment(work, 'kernels', { source, folder: to, emptied: [] }));
  }
  const { sessions, ...file } = changedJson(JSON.parse(text) as KernelFile, change);
  const own = sessions.map((session) => ({
    ...session,
    segment: session.segment === null ? null : (entries.get(session.segment.file) ?? session.segment),
  }));
  writeJsonFile(join(to, 'kernels.json'), { ...file, sessions: own });
}

interface KernelFile {
  readonly sessions: readonly { readonly segment: SegmentEntry | null }[];
}

/** A segment to copy, into a folder. */
export interface SegmentCopy {
  readonly source: SegmentSource;
  readonly folder: string;
  readonly emptied: TextChange['emptied'];
}

/**
 * Copies a segment. Returns what a closed one holds now; null for one that isn't closed, whole or there. Bytes that no reader
 * takes, a torn tail or a foreign file, are not copied: nobody has looked at them.
 */
export function copySegment(
  { change, note }: SegmentCopying,
  table: TableName,
  { source, folder, emptied }: SegmentCopy,
): SegmentEntry | null {
  const { path, entry } = source;
  if (!existsSync(path)) return null;
  const found = inspectSegment(table, source, { change, emptied });
  if (found === null) return null;
  const target = join(folder, change(basename(path)));
  const { info } = found;
  if (found.changes || info.torn !== null) {
    const made = rewriteSegment(table, source, { folder, info, change, emptied });
    note(target, entry);
    return entry === null || info.torn !== null ? null : made;
  }
  try {
    copyFileSync(path, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    throw fileError(error, target);
  }
  return entry;
}
