import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { cacheFolder } from '@perwatt/clients';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { PulledSetFile } from '@perwatt/datasets';
import * as z from 'zod';
import type { Io } from './io.js';

const FORMAT = 'perwatt-pulled/1';

/** A name within the folder of a split: no step leaves it. */
const inside = z
  .string()
  .refine(
    (path) => path !== '' && !/^[\\/]|\\|\p{Cc}|(?:^|\/)\.{1,2}(?:\/|$)/u.test(path),
    'expected a path that stays in its folder',
  );

const Pulled = z.strictObject({
  format: z.literal(FORMAT),
  id: z.string(),
  split: z.string(),
  /** Null for files that were given. */
  repo: z.string().nullable(),
  /** Commit of the repository. */
  revision: z.string().nullable(),
  pulled_at: z.string(),
  files: z
    .array(
      z.strictObject({
        path: inside,
        bytes: z.int().min(0),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1),
});

/** What was pulled of one split of a published data set: `pulled.json` beside its files. */
export type PulledSplit = z.infer<typeof Pulled>;

type Place = Pick<Io, 'env'>;

/** Folder of a split's files in the cache. */
export const splitFolder = (id: string, split: string, { env }: Place): string =>
  join(cacheFolder({ env }), 'datasets', id, split);

/** Whether a file of a repository may be written into the folder of its split. */
export const isInside = (path: string): boolean => inside.safeParse(path).success;

/** What was pulled of a split; null when nothing was. Throws `INPUT_INVALID` for a note that can't be read. */
export function pulledSplit(id: string, split: string, place: Place): PulledSplit | null {
  const path = join(splitFolder(id, split, place), 'pulled.json');
  if (!existsSync(path)) return null;
  try {
    return Pulled.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    throw new PerwattError('INPUT_INVALID', `${path} is not what a pull writes: ${why}`, {
      hint: `Remove it and run \`perwatt datasets pull ${id}\` again.`,
      cause,
    });
  }
}

/** Keeps what was pulled of a split. */
export async function keepPulled(pulled: Omit<PulledSplit, 'format'>, place: Place): Promise<void> {
  const folder = splitFolder(pulled.id, pulled.split, place);
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'pulled.json');
  await writeFile(`${path}.new`, `${JSON.stringify({ format: FORMAT, ...pulled }, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** The pulled files of a split, for loaders; what a data set without a path is read from. */
export const pulledFiles =
  (place: Place) =>
  (id: string, split: string): readonly PulledSetFile[] | null => {
    const pulled = pulledSplit(id, split, place);
    if (pulled === null) return null;
    const folder = splitFolder(id, split, place);
    return pulled.files.map(({ path, sha256 }) => ({
      path: `${id}/${split}/${path}`,
      absolute: join(folder, path),
      sha256,
      ...(pulled.files.length > 1 && { inside: path }),
    }));
  };

/** A file to be kept, with the sha256 it was found to have. */
export interface GivenFile {
  readonly path: string;
  readonly absolute: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Hashes files that were given. Throws `FILE_UNREADABLE` naming one that can't be read. */
export async function givenFiles(paths: readonly string[], { cwd }: Pick<Io, 'cwd'>): Promise<GivenFile[]> {
  const files: GivenFile[] = [];
  for (const path of paths) {
    const absolute = resolve(cwd, path);
    try {
      const { size } = await stat(absolute);
      files.push({ path, absolute, name: basename(path), bytes: size, sha256: await sha256Of(absolute) });
    } catch (cause) {
      throw new PerwattError(
        'FILE_UNREADABLE',
        `cannot read ${path}: ${systemCode(cause) ?? messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  }
  return files;
}

/** sha256 (hex) of a file, read in pieces. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Copies a given file into a folder, whole or not at all. */
export async function copyInto(folder: string, { absolute, name }: GivenFile): Promise<void> {
  await mkdir(folder, { recursive: true });
  const target = join(folder, name);
  try {
    await copyFile(absolute, `${target}.new`);
    await rename(`${target}.new`, target);
  } finally {
    await rm(`${target}.new`, { force: true });
  }
}
