import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import type { CellFile } from './manifest.js';
import type { RunFolder } from './run-folder.js';

/** The cells of a run as far as they can be read. */
export interface ReadableCells {
  /** In the order of execution. */
  readonly cells: readonly CellFile[];
  /** Cells whose file is missing or broken, and why. */
  readonly broken: readonly { readonly cell_id: string; readonly reason: string }[];
}

/** Every cell that has a folder; one that can't be read is named and left out. Throws for a cell of a newer version. */
export function readableCells(run: RunFolder): ReadableCells {
  const folder = join(run.path, 'cells');
  const names = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []))
    : [];
  const cells: CellFile[] = [];
  const broken: { cell_id: string; reason: string }[] = [];
  for (const cell_id of names.sort()) {
    try {
      cells.push(run.readCell(cell_id));
    } catch (error) {
      if (!(error instanceof PerwattError) || error.code === 'RUN_SCHEMA_NEWER') throw error;
      broken.push({ cell_id, reason: messageOf(error) });
    }
  }
  return { cells: cells.sort((a, b) => a.position - b.position), broken };
}
