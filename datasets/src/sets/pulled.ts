import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { isRecord } from '../options.js';

/** What of a data set was pulled, and from which commit. */
export interface Pulled {
  readonly repo: string;
  /** Commit, 40 hex digits. */
  readonly revision: string;
  readonly files: readonly PulledFile[];
}

/** One file that was pulled. */
export interface PulledFile {
  readonly split: string;
  /** Path within the repository. */
  readonly source: string;
  readonly bytes: number;
  /** Of the file, hex. */
  readonly sha256: string;
}

const NAME = /^[a-z0-9][a-z0-9-]*$/;

/** Folder of a data set within the cache. */
export function pulledFolder(id: string, cache: string): string {
  if (!NAME.test(id)) throw new PerwattError('DATASET_UNKNOWN', `"${id}" is no name of a data set`);
  return join(cache, 'datasets', id);
}

/** Where a pulled file lies: under its hash, so that no name of another's choosing becomes a path. */
export const pulledPath = (id: string, cache: string, { source, sha256 }: PulledFile): string =>
  join(pulledFolder(id, cache), `${sha256.slice(0, 16)}${suffixOf(source)}`);

const suffixOf = (source: string) => /(?:\.[a-z0-9]{1,8}){1,2}$/i.exec(source)?.[0].toLowerCase() ?? '';

/** What was pulled, with the place of each file; null when nothing was. Throws `FILE_UNREADABLE`. */
export async function readPulled(
  id: string,
  cache: string,
): Promise<
  (Omit<Pulled, 'files'> & { readonly files: readonly (PulledFile & { readonly path: string })[] }) | null
> {
  const path = join(pulledFolder(id, cache), 'pulled.json');
  try {
    const pulled: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isPulled(pulled)) throw new Error('not a list of pulled files');
    return { ...pulled, files: pulled.files.map((f) => ({ ...f, path: pulledPath(id, cache, f) })) };
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR') return null;
    throw new PerwattError('FILE_UNREADABLE', `cannot read ${path}: ${messageOf(cause)}`, {
      cause,
      hint: `Delete the file and run \`perwatt datasets pull ${id}\` again.`,
    });
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isPulled = (value: unknown): value is Pulled =>
  isRecord(value) &&
  isText(value['repo']) &&
  isText(value['revision']) &&
  Array.isArray(value['files']) &&
  value['files'].every(isPulledFile);

const isPulledFile = (value: unknown): value is PulledFile =>
  isRecord(value) &&
  isText(value['split']) &&
  isText(value['source']) &&
  typeof value['bytes'] === 'number' &&
  isText(value['sha256']) &&
  /^[0-9a-f]{64}$/.test(value['sha256']);
