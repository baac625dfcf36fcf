import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { ForeignFile } from '@perwatt/importers';

/** A file that is imported, and what a manifest says of it. */
export interface OpenedFile extends ForeignFile {
  readonly bytes: number;
}

/**
 * The files at the paths given, digested. A folder stands for its files with one of `extensions`, sorted by name. Throws
 * `FILE_UNREADABLE` naming a file that can't be read, `INPUT_INVALID` when a folder holds none or a file is given twice,
 * be it under another name.
 */
export async function openForeign(
  paths: readonly string[],
  { cwd, extensions }: { readonly cwd: string; readonly extensions: readonly string[] },
): Promise<readonly OpenedFile[]> {
  const files = paths.flatMap((path) => filesAt(path, cwd, extensions));
  const twice = files.find((path, i) => files.indexOf(path) !== i);
  if (twice !== undefined) throw new PerwattError('INPUT_INVALID', `${twice} is given twice`);
  const read = await Promise.all(files.map((path) => opened(path, resolve(cwd, path))));
  for (const [i, { path, sha256 }] of read.entries()) {
    const same = read.slice(0, i).find((other) => other.sha256 === sha256);
    if (same !== undefined)
      throw new PerwattError('INPUT_INVALID', `${path} holds the same bytes as ${same.path}`, {
        hint: 'Give each file once: its figures would count twice.',
      });
  }
  return read;
}

function filesAt(path: string, cwd: string, extensions: readonly string[]): string[] {
  try {
    if (!statSync(resolve(cwd, path)).isDirectory()) return [path];
    const names = readdirSync(resolve(cwd, path)).filter((name) =>
      extensions.some((end) => name.endsWith(end)),
    );
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw unreadable(path, error);
  }
  throw new PerwattError('INPUT_INVALID', `folder ${path} holds no ${extensions.join(' or ')} file`);
}

async function opened(path: string, absolute: string): Promise<OpenedFile> {
  const chunks = () => readingOf(path, absolute);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks()) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  return { path, bytes, sha256: hash.digest('hex'), chunks };
}

async function* readingOf(path: string, absolute: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(absolute)) yield chunk as Uint8Array;
  } catch (error) {
    throw unreadable(path, error);
  }
}

const unreadable = (path: string, error: unknown) =>
  new PerwattError('FILE_UNREADABLE', `cannot read ${path}: ${systemCode(error) ?? messageOf(error)}`, {
    cause: error,
  });
