import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { BUNDLE_FILE, type BundleManifest, parseBundleManifest } from './bundle-manifest.js';
import { readTar, type TarEntry } from './tar-archive.js';

/** Most that a manifest may take, bytes. */
const MANIFEST_BYTES = 64 * 2 ** 20;

export interface UnpackOptions {
  /** New or empty folder for the files. */
  readonly into: string;
  /** Most bytes that the files may take together. */
  readonly most_bytes: number;
}

/** A bundle on disk, and in what it differs from its own manifest. */
export interface UnpackedBundle {
  readonly manifest: BundleManifest;
  readonly bytes: number;
  readonly problems: readonly string[];
}

/**
 * Unpacks a bundle. Only plain files that its manifest lists are written, each below the folder and no longer than it says, so
 * that neither a path, a link nor a size can do harm. Throws `INPUT_INVALID` for what is no bundle or breaks these rules;
 * files that are missing or have another sha256 are problems.
 */
export async function unpackBundle(
  path: string,
  { into, most_bytes }: UnpackOptions,
): Promise<UnpackedBundle> {
  if (!existsSync(path)) throw new PerwattError('FILE_UNREADABLE', `there is no bundle at ${path}`);
  if (existsSync(into) && readdirSync(into).length > 0)
    throw new PerwattError('INPUT_INVALID', `folder ${into} is not empty`);
  let manifest: BundleManifest | null = null;
  let listed: Listed = new Map();
  const found = new Map<string, string>();
  for await (const entry of readTar(path)) {
    if (manifest === null) {
      manifest = await readManifest(entry, { path, most_bytes });
      listed = new Map(manifest.files.map((file) => [file.path, file]));
      continue;
    }
    const file = wanted(listed, entry, { path, found });
    found.set(entry.path, await written(entry, join(into, file.path)));
  }
  if (manifest === null) throw new PerwattError('INPUT_INVALID', `${path} is empty`);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const problems = manifest.files.flatMap((file) => {
    const sha256 = found.get(file.path);
    if (sha256 === undefined) return [`${file.path} is missing`];
    return sha256 === file.sha256 ? [] : [`${file.path} has sha256 ${sha256} where ${file.sha256} is listed`];
  });
  return { manifest, bytes, problems };
}

interface Archive {
  readonly path: string;
  readonly most_bytes: number;
}

async function readManifest(entry: TarEntry, { path, most_bytes }: Archive): Promise<BundleManifest> {
  if (entry.path !== BUNDLE_FILE || entry.size > MANIFEST_BYTES)
    throw new PerwattError('INPUT_INVALID', `${path} is no bundle: it does not begin with ${BUNDLE_FILE}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry.chunks) chunks.push(chunk);
  const manifest = parseBundleManifest(Buffer.concat(chunks).toString('utf8'), path);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > most_bytes)
    throw new PerwattError(
      'INPUT_INVALID',
      `${path} unpacks to ${bytes} bytes, more than the ${most_bytes} allowed`,
      {
        hint: 'Allow more with `--max-bytes` if you trust its sender.',
      },
    );
  return manifest;
}

type Listed = ReadonlyMap<string, BundleManifest['files'][number]>;

interface Unpacking {
  readonly path: string;
  readonly found: ReadonlyMap<string, string>;
}

/** What the manifest says of an entry. Throws for one that it doesn't list, lists otherwise, or that comes twice. */
function wanted(files: Listed, entry: TarEntry, { path, found }: Unpacking): BundleManifest['files'][number] {
  const name = JSON.stringify(entry.path);
  const listed = files.get(entry.path);
  const refused = (why: string) => new PerwattError('INPUT_INVALID', `${path} holds ${name}, ${why}`);
  if (listed === undefined) throw refused('which its manifest does not list');
  if (found.has(entry.path)) throw refused('twice');
  if (listed.bytes !== entry.size)
    throw refused(`${entry.size} bytes, where its manifest lists ${listed.bytes}`);
  return listed;
}

/** Writes an entry as a new file; its sha256. */
async function written(entry: TarEntry, target: string): Promise<string> {
  mkdirSync(dirname(target), { recursive: true });
  const hash = createHash('sha256');
  const fd = openSync(target, 'wx', 0o600);
  try {
    for await (const chunk of entry.chunks) {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest('hex');
}
