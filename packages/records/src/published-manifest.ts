import { PerwattError } from '@perwatt/core';
import * as z from 'zod';
import { isFileName } from './file-names.js';
import type { SegmentEntry } from './manifest.js';

/** A file that figures were imported from, as it was read. */
export interface PublishedFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Commit or version of the source that holds these bytes; null when they are not known. */
  readonly source_version: string | null;
  /** Records taken from it; 0 for one that only describes others. */
  readonly records: number;
}

/** `run.json` of a run of kind `published`: figures of others, read from files; nothing was measured here. */
export interface PublishedManifest {
  readonly schema_version: number;
  readonly kind: 'published';
  readonly run_id: string;
  readonly perwatt_version: string;
  /** Kind and version of the importer that read the files. */
  readonly importer: { readonly kind: string; readonly version: number };
  /** Wall time of the import, ISO 8601, UTC. */
  readonly imported: string;
  readonly files: readonly PublishedFile[];
  /** Rows of the table `published`. */
  readonly segment: SegmentEntry;
}

/** What is checked of the `run.json` of a published run. */
export const PublishedSchema = z.looseObject({
  schema_version: z.int().min(1),
  kind: z.literal('published', 'not a run of published figures'),
  run_id: z.string(),
  importer: z.looseObject({ kind: z.string(), version: z.int() }),
  imported: z.string(),
  files: z.array(z.looseObject({ file: z.string(), sha256: z.string() })),
  segment: z.looseObject({
    file: z.string().refine(isFileName, 'expected a file of the same folder'),
    table: z.literal('published'),
  }),
});

/** Whether a manifest's text is of a published run. False for what isn't JSON. */
export const isPublished = (text: string): boolean => kindOf(text) === 'published';

/** The kind that a manifest's text names; null for a run of a matrix, and for what isn't JSON. */
function kindOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : null;
  } catch {
    return null;
  }
}

/** Throws `RUN_TRAINING` when the manifest's text is of a training run, which has no cells. */
export function refuseTraining(path: string, text: string): void {
  if (kindOf(text) === 'training')
    throw new PerwattError('RUN_TRAINING', `${path} holds a training, no run of a matrix`);
}

/** Throws `RUN_PUBLISHED` when the manifest's text is of a published run: it has no cells, and nothing to go on with. */
export function refusePublished(path: string, text: string): void {
  if (isPublished(text)) {
    throw new PerwattError(
      'RUN_PUBLISHED',
      `${path} holds figures that others published, no run of a matrix`,
    );
  }
}

const kinds = {
  published: {
    name: 'run of published figures',
    made: 'Give the folder of a run that `perwatt import` made.',
  },
  training: { name: 'training', made: 'Give the folder of a run that `perwatt train` made.' },
} as const;

/**
 * Throws where the manifest's text is of a run of another kind than `wanted`: `RUN_PUBLISHED` for an imported one, `RUN_TRAINING`
 * for a training, `RUN_INVALID` for a run of a matrix. What is no JSON, or of no kind that is known, passes: its reader tells more.
 */
export function refuseOther(path: string, text: string, wanted: keyof typeof kinds): void {
  const kind = isJson(text) ? (kindOf(text) ?? 'matrix') : wanted;
  if (kind === wanted) return;
  const { name, made } = kinds[wanted];
  if (kind === 'published')
    throw new PerwattError('RUN_PUBLISHED', `${path} holds figures that others published, no ${name}`);
  if (kind === 'training') throw new PerwattError('RUN_TRAINING', `${path} holds a training, no ${name}`);
  if (kind === 'matrix')
    throw new PerwattError('RUN_INVALID', `${path} holds a run of a matrix, no ${name}`, { hint: made });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
