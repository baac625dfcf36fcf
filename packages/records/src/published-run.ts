import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PerwattError, type PublishedRow, SCHEMA_VERSION, systemCode } from '@perwatt/core';
import { makeFolder, syncFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { fileName } from './file-names.js';
import { parseJsonFile, readTextIfThere, writeJsonFile } from './json-file.js';
import { noRun } from './no-run.js';
import { type PublishedManifest, PublishedSchema, refuseOther } from './published-manifest.js';
import { readTable, type TornSegment } from './read-tables.js';
import { BATCH_ROWS, SegmentWriter } from './segment-writer.js';

/** What a published run says of itself besides its rows. */
export type PublishedFacts = Pick<PublishedManifest, 'perwatt_version' | 'importer' | 'imported' | 'files'>;

/** A published run being written. It is a run once `finish` has returned; `discard` leaves nothing behind. */
export interface PublishedWriter {
  /** Id of the run: the name of its folder. */
  readonly run_id: string;
  /** Takes rows; a wrong one throws a `TypeError` that names it. */
  append(rows: readonly PublishedRow[]): void;
  /** Writes what waits and the manifest, durably. */
  finish(facts: PublishedFacts): PublishedManifest;
  discard(): void;
}

/** All of a published run. */
export interface PublishedRun {
  readonly manifest: PublishedManifest;
  readonly rows: readonly PublishedRow[];
  /** What is not as it was written, in words; empty when all is well. */
  readonly torn: readonly TornSegment[];
}

const MANIFEST = 'run.json';
const SEGMENT = 'published-0.arrows';

/** Makes the folder `path` for figures of others. Throws `INPUT_INVALID` when it exists or its name can't be a run's id. */
export function createPublishedRun(path: string): PublishedWriter {
  const run_id = fileName('run id', basename(path));
  try {
    makeFolder(dirname(path));
    mkdirSync(path);
  } catch (error) {
    throw unmade(error, path);
  }
  const discard = () => rmSync(path, { recursive: true, force: true });
  const metadata = { run_id };
  const writer = open(discard, () =>
    SegmentWriter.create({ folder: path, file: SEGMENT, table: 'published', sitting: 0, metadata }),
  );
  return {
    run_id,
    append(rows) {
      writer.append(rows);
      if (writer.pendingRows >= BATCH_ROWS) writer.flush();
    },
    finish(facts) {
      const segment = writer.close();
      const manifest: PublishedManifest = {
        schema_version: SCHEMA_VERSION,
        kind: 'published',
        run_id,
        ...facts,
        segment,
      };
      writeJsonFile(join(path, MANIFEST), manifest);
      syncFolder(dirname(path));
      return manifest;
    },
    discard,
  };
}

function open<T>(discard: () => void, make: () => T): T {
  try {
    return make();
  } catch (error) {
    discard();
    throw error;
  }
}

function unmade(error: unknown, path: string): unknown {
  if (systemCode(error) !== 'EEXIST') return fileError(error, path);
  return new PerwattError('INPUT_INVALID', `folder ${path} exists already`, {
    hint: 'Give another folder with `--out`.',
    cause: error,
  });
}

/**
 * The published run at `path`, whole. Throws `RUN_NOT_FOUND` when there is none, `RUN_INVALID` when it is a measured run
 * or its manifest is broken, `RUN_TRAINING` when it is a training, `RUN_SCHEMA_NEWER` when a newer version wrote it.
 */
export function readPublished(path: string): PublishedRun {
  const manifest = publishedManifest(path);
  const { rows, torn } = readTable(path, 'published', [manifest.segment]);
  return { manifest, rows, torn };
}

/** What the published run at `path` says of itself. Throws as `readPublished`. */
export function publishedManifest(path: string): PublishedManifest {
  const file = join(path, MANIFEST);
  const text = existsSync(path) ? readTextIfThere(file) : null;
  if (text === null) throw noRun(path, file);
  refuseOther(path, text, 'published');
  return parseJsonFile<PublishedManifest>(file, text, PublishedSchema);
}
