import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { CopiedRun } from '@perwatt/records';
import {
  BUNDLE_FILE,
  BUNDLE_VERSION,
  type BundleManifest,
  CLAIMS_FILE,
  isSafePath,
  RUN_FOLDER,
} from './bundle-manifest.js';
import { filesBelow, jsonText, putFile, sha256Of } from './publication-files.js';
import { packTar } from './tar-archive.js';

/** What is claimed of a run, and what of it stands in the bundle's manifest. */
export interface BundleClaims
  extends Pick<BundleManifest, 'run_id' | 'perwatt_version' | 'metric_spec_version'> {
  /** JSON of the results: it becomes `results.json`. */
  readonly json: string;
}

export interface BundleInput {
  /** A copy of the run, of a matrix or of a training, made for this: it is moved into the bundle's folder. */
  readonly copied: Pick<CopiedRun, 'rewritten'> & { readonly run: { readonly path: string } };
  readonly claims: BundleClaims;
  readonly redacted: BundleManifest['redacted'];
  /** Folder for files on the way. */
  readonly scratch: string;
}

/** What was packed. */
export interface PackedBundle {
  readonly manifest: BundleManifest;
  readonly bytes: number;
}

/**
 * Packs a run with the results that are claimed for it into one gzipped tar, `bundle.json` with the sha256 of every file
 * first. The same run gives the same bytes. Throws `DISK_FULL` or `FILE_UNREADABLE`.
 */
export async function packBundle(out: string, input: BundleInput): Promise<PackedBundle> {
  const { copied, claims, redacted, scratch } = input;
  const folder = join(scratch, 'bundle');
  mkdirSync(folder);
  renameSync(copied.run.path, join(folder, RUN_FOLDER));
  putFile(join(folder, CLAIMS_FILE), claims.json);
  const paths = filesBelow(folder);
  const strange = paths.find((path) => !isSafePath(path));
  if (strange !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `the run holds ${JSON.stringify(strange)}, a name that no bundle takes`,
    );
  const files: BundleManifest['files'] = [];
  for (const path of paths) {
    const file = join(folder, path);
    files.push({ path, bytes: statSync(file).size, sha256: await sha256Of(file) });
  }
  const manifest: BundleManifest = {
    bundle_version: BUNDLE_VERSION,
    run_id: claims.run_id,
    perwatt_version: claims.perwatt_version,
    metric_spec_version: claims.metric_spec_version,
    files,
    rewritten: copied.rewritten.map((entry) => ({ ...entry })),
    redacted,
  };
  putFile(join(folder, BUNDLE_FILE), jsonText(manifest));
  await packed(folder, [BUNDLE_FILE, ...paths], out);
  return { manifest, bytes: statSync(out).size };
}

/** The archive appears whole or not at all. */
async function packed(folder: string, paths: readonly string[], out: string): Promise<void> {
  const temporary = `${out}.part`;
  try {
    mkdirSync(dirname(out), { recursive: true });
    await packTar(folder, paths, temporary);
    renameSync(temporary, out);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (error instanceof PerwattError) throw error;
    const code = systemCode(error) === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNREADABLE';
    throw new PerwattError(code, `${out} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
