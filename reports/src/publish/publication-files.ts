import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { DrawnFigure } from './draw-figures.js';

/** Writes a file whole or not at all, and the folders above it. Throws `DISK_FULL` or `FILE_UNREADABLE`. */
export function putFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.part`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, content, { flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    const code = systemCode(error) === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNREADABLE';
    throw new PerwattError(code, `${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The sha256 of a file, in hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Every file below a folder, as paths within it with `/`, in the order of their names. */
export function filesBelow(folder: string, within = ''): string[] {
  return readdirSync(join(folder, within), { withFileTypes: true })
    .flatMap((entry) => {
      const path = within === '' ? entry.name : `${within}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(folder, path) : [path];
    })
    .sort();
}

export const CHECKSUMS = 'SHA256SUMS';

/** Writes `SHA256SUMS` over all other files of a folder, as `sha256sum -c` reads it. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const file of filesBelow(folder)) {
    if (file !== CHECKSUMS) lines.push(`${await sha256Of(join(folder, file))}  ${file}\n`);
  }
  putFile(join(folder, CHECKSUMS), lines.join(''));
}

/** Whether there is nothing yet at a path, or an empty folder. */
function refuseFilled(out: string): void {
  if (!existsSync(out)) return;
  let entries: string[];
  try {
    entries = readdirSync(out);
  } catch (cause) {
    throw new PerwattError('FILE_UNREADABLE', `${out} cannot be a folder: ${messageOf(cause)}`, { cause });
  }
  if (entries.length > 0)
    throw new PerwattError('INPUT_INVALID', `folder ${out} is not empty`, {
      hint: 'Give a new folder with `--out`: what is published must hold nothing else.',
    });
}

/**
 * Has `write` fill a new folder that appears at `out` whole or not at all. Throws `INPUT_INVALID` where the folder holds
 * something.
 */
export async function wholeFolder(out: string, write: (folder: string) => Promise<void>): Promise<void> {
  refuseFilled(out);
  const folder = `${out}.part`;
  rmSync(folder, { recursive: true, force: true });
  try {
    await write(folder);
    if (existsSync(out)) rmSync(out, { recursive: true });
    mkdirSync(dirname(out), { recursive: true });
    renameSync(folder, out);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Writes figures as SVG, PNG and PDF. */
export function putFigures(folder: string, figures: readonly DrawnFigure[]): void {
  for (const { id, svg, png, pdf } of figures) {
    const at = join(folder, id);
    putFile(`${at}.svg`, svg);
    putFile(`${at}.png`, png);
    putFile(`${at}.pdf`, pdf);
  }
}
