import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadRowArrays } from '@perwatt/harness';

/** A place for the texts of a replay, which load threads read while it lasts. */
export interface TextFilePlace {
  readonly path: string;
  /** The rows with their texts open for reading in every thread. */
  opened(rows: LoadRowArrays): LoadRowArrays;
  /** Closes and deletes it. */
  close(): void;
}

/** A new place in the system's folder for temporary files. */
export function textFilePlace(): TextFilePlace {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-replay-'));
  const path = join(folder, 'texts');
  const open: number[] = [];
  return {
    path,
    opened(rows) {
      const { turns } = rows;
      if (!turns?.texts) return rows;
      const fd = openSync(path, 'r');
      open.push(fd);
      return { ...rows, turns: { ...turns, texts: { ...turns.texts, fd } } };
    },
    close() {
      for (const fd of open) closeSync(fd);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
