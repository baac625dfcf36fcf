import { rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { changedJson } from './changed-json.js';
import { type CopyOptions, copyPower, copySegment, remembered } from './copy-run.js';
import type { SegmentEntry } from './manifest.js';
import {
  createTrainingRun,
  type TrainingManifest,
  type TrainingRun,
  trainingSegments,
  trainingTables,
} from './training-run.js';

/** A copy of a training run. */
export interface CopiedTraining {
  readonly run: TrainingRun;
  /** As of the copy of a run of a matrix. */
  readonly rewritten: readonly { readonly file: string; readonly original_sha256: string | null }[];
}

/**
 * Copies a training run with its texts changed: its manifest, steps, evaluations and power. Segments in which nothing changes are
 * copied byte for byte. Checkpoints and items are left out: the seeds give the same ones again. Throws `INPUT_INVALID` where
 * the copy exists, and leaves nothing behind when it fails.
 */
export function copyTraining(
  run: TrainingRun,
  options: Pick<CopyOptions, 'root' | 'change'>,
): CopiedTraining {
  const change = remembered(options.change);
  const manifest: TrainingManifest = changedJson(run.manifest, change);
  const copy = createTrainingRun(join(options.root, manifest.run_id), manifest);
  try {
    const rewritten: { file: string; original_sha256: string | null }[] = [];
    const note = (path: string, entry: SegmentEntry | null) =>
      void rewritten.push({ file: relative(copy.path, path), original_sha256: entry?.sha256 ?? null });
    const entries = new Map<string, SegmentEntry | null>();
    for (const table of trainingTables)
      for (const source of trainingSegments(run, table)) {
        const made = copySegment({ change, note }, table, { source, folder: copy.path, emptied: [] });
        entries.set(basename(source.path), made);
      }
    copy.updateManifest({
      segments: run.manifest.segments.map(
        (entry) => entries.get(entry.file) ?? { ...entry, file: change(entry.file) },
      ),
      power: run.manifest.power.map((file) => copyPower({ run, copy, change, note }, file)),
    });
    return { run: copy, rewritten };
  } catch (error) {
    rmSync(copy.path, { recursive: true, force: true });
    throw error;
  }
}
