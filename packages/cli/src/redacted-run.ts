import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import {
  type CopiedRun,
  type CopiedTraining,
  copyRun,
  copyTraining,
  openRun,
  openTrainingRun,
  type RunFolder,
  type TrainingRun,
  verifyRun,
} from '@perwatt/records';
import { createRedactor, privateFactsOf, type Redactions } from '@perwatt/reports';
import type { Io } from './io.js';

export interface RedactOptions {
  /** Names that stay as they are. */
  readonly keep: readonly string[];
  readonly texts: 'keep' | 'drop';
}

/** A copy of a run without private names and keys. */
export interface RedactedRun extends CopiedRun {
  readonly redactions: Redactions;
}

/** A folder for files that are gone when `work` is done. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-share-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies a run into a folder, without host and user names, home folders and keys, and where told without texts. */
export function redactedRun(
  run: RunFolder,
  root: string,
  { io, keep, texts }: RedactOptions & { readonly io: Pick<Io, 'env'> },
): RedactedRun {
  const redactor = createRedactor(privateFactsOf(run, { hostname: hostname(), env: io.env }), keep);
  const copied = copyRun(run, { root, change: redactor.change, texts });
  return { ...copied, redactions: redactor.counts() };
}

/** A copy of a training without private names and keys. */
export interface RedactedTraining extends CopiedTraining {
  readonly redactions: Redactions;
}

/** The same of a training run, whose texts are names and parameters alone. */
export function redactedTraining(
  run: TrainingRun,
  root: string,
  { io, keep }: Pick<RedactOptions, 'keep'> & { readonly io: Pick<Io, 'env'> },
): RedactedTraining {
  const records = { manifest: run.manifest, cells: () => [] };
  const redactor = createRedactor(privateFactsOf(records, { hostname: hostname(), env: io.env }), keep);
  const copied = copyTraining(run, { root, change: redactor.change });
  return { ...copied, redactions: redactor.counts() };
}

/** A run that can be shared. */
export type SharedRun =
  | { readonly kind: 'matrix'; readonly run: RunFolder }
  | { readonly kind: 'training'; readonly run: TrainingRun };

/** Opens a run of a matrix or of trainings. Throws as `openRun`; figures of others are refused with how they are shared. */
export function openShared(path: string): SharedRun {
  try {
    return { kind: 'matrix', run: openRun(path) };
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    if (error.code === 'RUN_TRAINING') return { kind: 'training', run: openTrainingRun(path) };
    if (error.code !== 'RUN_PUBLISHED') throw error;
    throw new PerwattError('RUN_PUBLISHED', error.message, {
      hint: 'Share the files it was imported from, which `run.json` names with their sha256, and cite their source; who has them imports them again.',
      cause: error,
    });
  }
}

/** What was taken out, in one line. */
export const redactionLine = ({ hosts, users, home_paths, secrets }: Redactions): string =>
  `taken out: ${hosts} host names, ${users} user names, ${home_paths} home folders, ${secrets} texts with keys`;

export const addRedactions = (a: Redactions, b: Redactions): Redactions => ({
  hosts: a.hosts + b.hosts,
  users: a.users + b.users,
  home_paths: a.home_paths + b.home_paths,
  secrets: a.secrets + b.secrets,
});

/** Throws `RUN_INVALID` for a run that isn't as it was written: nobody else could tell what of it holds. */
export function refuseDamaged(path: string): void {
  const [first] = verifyRun(path).findings.filter(({ level }) => level === 'problem');
  if (first !== undefined)
    throw new PerwattError('RUN_INVALID', `${path} is not as it was written: ${first.where}: ${first.text}`, {
      hint: 'See all of it with `perwatt verify`.',
    });
}
