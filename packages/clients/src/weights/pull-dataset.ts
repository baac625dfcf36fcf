import { rename, rm, stat } from 'node:fs/promises';
import { messageOf, PerwattError } from '@perwatt/core';
import { sha256File } from './digest.js';
import { downloadFromHub, type HubDataset, type HubEntry, listHubDataset } from './hub.js';
import { claimPartial, releasePartial } from './partial-file.js';
import type { WeightsWorld } from './weights-world.js';

/** A repository of data sets as a card names it. */
export interface DatasetRepo {
  readonly repo: string;
  readonly revision: string;
  /** Its terms have to be accepted with an account first. */
  readonly gated: boolean;
}

/** A file that was pulled and checked. */
export interface PulledFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Lists a repository of data sets. Throws `DATASET_UNAVAILABLE` with the reason and what to do. */
export async function hubDataset(source: DatasetRepo, world: WeightsWorld): Promise<HubDataset> {
  try {
    return await listHubDataset(source, world);
  } catch (error) {
    world.signal?.throwIfAborted();
    throw unavailable(source, error);
  }
}

export interface PullOptions {
  readonly source: DatasetRepo;
  readonly entry: HubEntry;
  /** Where the file goes; one that is there and right stays. */
  readonly path: string;
  /** The sha256 it must have, beside what the hub says of it. */
  readonly pinned?: string | undefined;
}

/**
 * Downloads one file of a repository of data sets, going on where an earlier attempt ended. It takes its place only when its
 * sha256 is what the hub says and what is pinned. Throws `DATASET_UNAVAILABLE`, and `DATASET_CHANGED` for other bytes.
 */
export async function pullHubFile(
  { source, entry, path, pinned }: PullOptions,
  world: WeightsWorld,
): Promise<PulledFile> {
  if (pinned !== undefined && entry.sha256 !== null) checkDigest(entry.sha256, [pinned], { source, entry });
  const wanted = pinned ?? entry.sha256;
  const there = await stat(path).catch(() => null);
  if (there !== null && wanted !== null && (await sha256File(path, { signal: world.signal })) === wanted)
    return { path, bytes: there.size, sha256: wanted };
  const mine = await claimPartial(path);
  try {
    const location = { ...source, file: entry.file, type: 'dataset' as const };
    await downloadFromHub(location, mine, world, (done_bytes, total_bytes) =>
      world.onProgress?.({
        model: source.repo,
        step: 'download',
        subject: entry.file,
        done_bytes,
        total_bytes,
      }),
    );
  } catch (error) {
    await releasePartial(path, mine);
    world.signal?.throwIfAborted();
    throw unavailable(source, error);
  }
  const sha256 = await sha256File(mine, { signal: world.signal });
  try {
    checkDigest(sha256, [entry.sha256, pinned], { source, entry });
  } catch (error) {
    await rm(mine, { force: true });
    throw error;
  }
  await rename(mine, path);
  return { path, bytes: (await stat(path)).size, sha256 };
}

/** Compares a sha256 with what the hub says of the file and what is pinned, in this order or the last alone. */
function checkDigest(
  sha256: string,
  expected: readonly (string | null | undefined)[],
  { source, entry }: Pick<PullOptions, 'source' | 'entry'>,
): void {
  const other = expected.find((digest) => digest != null && digest.toLowerCase() !== sha256);
  if (other == null) return;
  const said = other === entry.sha256 ? `the hub says ${other}` : `${other} is pinned`;
  throw new PerwattError(
    'DATASET_CHANGED',
    `${entry.file} of ${source.repo} has sha256 ${sha256}, but ${said}`,
    { hint: 'Pull it again; if the new file is meant, say so with `--repin`.' },
  );
}

function statusOf(error: unknown): number | null {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const status = 'statusCode' in at ? at.statusCode : null;
    if (typeof status === 'number') return status;
  }
  return null;
}

/** What the hub's answer means for someone who wants the data. */
function unavailable({ repo, gated }: DatasetRepo, cause: unknown): PerwattError {
  if (cause instanceof PerwattError) return cause;
  const status = statusOf(cause);
  const refused = status === 401 || status === 403;
  if (refused && gated)
    return new PerwattError(
      'DATASET_UNAVAILABLE',
      `data set ${repo} is gated, and the hub refuses it (HTTP ${status})`,
      {
        hint: `Accept the terms on the page of \`${repo}\` with an account of the hub, set HF_TOKEN to a token of that account, and pull again; or give a file you have with \`--from\`.`,
        cause,
      },
    );
  if (refused || status === 404)
    return new PerwattError(
      'DATASET_UNAVAILABLE',
      `the hub has no data set ${repo} for you (HTTP ${status})`,
      {
        hint: 'It was moved or made private, or needs HF_TOKEN; give a file you have with `--from`.',
        cause,
      },
    );
  return new PerwattError(
    'DATASET_UNAVAILABLE',
    `data set ${repo} cannot be had from the hub: ${reasonOf(cause)}`,
    {
      hint: 'Check the network and HF_ENDPOINT, or fetch the files elsewhere and give them with `--from`.',
      cause,
    },
  );
}

/** `fetch` hides the reason of a failed connection in a cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const text = cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : '';
  return `${messageOf(error)}${text}`;
}
