import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A partial file that nobody has written to for this long belongs to nobody, ms. */
const ORPHANED_MS = 120_000;

/** A file or folder in the making that is this old was left by a process that was killed, ms. */
const ABANDONED_MS = 3_600_000;

const unique = (path: string, kind: string): string => `${path}.${kind}-${randomBytes(4).toString('hex')}`;

/**
 * A name beside `path` that this process alone writes to. What an earlier download left there, stopped or killed, is taken
 * over by renaming, which only one process can do.
 */
export async function claimPartial(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const mine = unique(path, 'part');
  await writeFile(mine, '');
  const now = (await stat(mine)).mtimeMs;
  for (const name of await readdir(dirname(path))) {
    const other = join(dirname(path), name);
    if (other === mine || !name.startsWith(`${basename(path)}.part`)) continue;
    if (name !== `${basename(path)}.part` && now - (await modified(other, now)) < ORPHANED_MS) continue;
    try {
      await rename(other, mine);
      return mine;
    } catch {
      // Another process was faster.
    }
  }
  return mine;
}

/** Gives a partial file free for the next attempt. */
export async function releasePartial(path: string, mine: string): Promise<void> {
  if (!existsSync(mine)) return;
  if ((await stat(mine)).size === 0) await rm(mine, { force: true });
  else await rename(mine, `${path}.part`);
}

const modified = async (path: string, otherwise: number): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => otherwise,
  );

/** A name for a file in the making; it is renamed to `path` once it is right. */
export async function temporaryPath(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  return unique(path, 'new');
}

/** Removes what killed processes left in the making inside a folder. */
export async function sweepAbandoned(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const probe = unique(join(folder, 'now'), 'new');
  await writeFile(probe, '');
  const now = await modified(probe, 0);
  await rm(probe);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (/\.new-[0-9a-f]{8}$/.test(name) && now - (await modified(path, now)) > ABANDONED_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** Writes a file whole or not at all. */
export async function writeAtomic(path: string, text: string): Promise<void> {
  const temporary = await temporaryPath(path);
  await writeFile(temporary, text, { flush: true });
  await rename(temporary, path);
}
