import { createWriteStream, existsSync, readdirSync } from 'node:fs';
import { rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { datasetInfo, downloadFile, fileDownloadInfo, listFiles } from '@huggingface/hub';
import { messageOf } from '@perwatt/core';
import { hubCacheFolder } from './cache-folder.js';
import type { WeightLocation } from './catalogue.js';
import type { WeightsWorld } from './weights-world.js';

type HubLocation = Extract<WeightLocation, { kind: 'hub' }>;

/** A file of a repository of the hub, of models unless `type` says otherwise. */
export interface HubFile extends Pick<HubLocation, 'repo' | 'revision' | 'file'> {
  readonly type?: 'model' | 'dataset';
}

const ANSWER_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 60_000;

const isSet = (value: string | undefined): boolean => /^(1|on|true|yes)$/i.test(value ?? '');

/** Copies of a file in the hub client's own cache, newest revision last. */
export function hubCached(location: HubLocation, world: WeightsWorld): string[] {
  const folder = join(hubCacheFolder(world), `models--${location.repo.replaceAll('/', '--')}`, 'snapshots');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((revision) => join(folder, revision, location.file))
    .filter((path) => existsSync(path));
}

/**
 * Downloads a file of the hub to `path`, behind what is there already. Honours `HF_ENDPOINT`, `HF_TOKEN` and
 * `HF_HUB_OFFLINE`. Gives up when nothing answers within ten seconds, or nothing more comes for a minute.
 */
export async function downloadFromHub(
  location: HubFile,
  path: string,
  world: WeightsWorld,
  onBytes: (done: number, total: number) => void,
): Promise<void> {
  if (isSet(world.env['HF_HUB_OFFLINE'])) throw new Error('HF_HUB_OFFLINE is set');
  const limits = boundedFetch(world.fetch ?? fetch, world.signal);
  try {
    const blob = await remoteFile(location, world, limits.fetch);
    const have = await partialSize(path, blob.size);
    onBytes(have, blob.size);
    if (have < blob.size)
      await append(have === 0 ? blob : blob.slice(have), path, (done) => {
        limits.alive();
        onBytes(have + done, blob.size);
      });
  } catch (error) {
    world.signal?.throwIfAborted();
    if (!limits.mustRestart()) throw new Error(limits.reason() ?? reasonOf(error), { cause: error });
    await rm(path, { force: true });
    await downloadFromHub(location, path, world, onBytes);
  } finally {
    limits.stop();
  }
}

/** Where the hub is and who asks, by its own environment variables. */
const asked = ({ env }: WeightsWorld) => ({
  ...(env['HF_ENDPOINT'] ? { hubUrl: env['HF_ENDPOINT'].replace(/\/+$/, '') } : {}),
  ...(env['HF_TOKEN'] ? { accessToken: env['HF_TOKEN'] } : {}),
});

async function remoteFile(location: HubFile, world: WeightsWorld, send: typeof fetch): Promise<Blob> {
  const params = {
    repo: { type: location.type ?? ('model' as const), name: location.repo },
    path: location.file,
    revision: location.revision,
    fetch: send,
    ...asked(world),
  };
  const info = await fileDownloadInfo(params);
  const blob = info === null ? null : await downloadFile({ ...params, downloadInfo: info, xet: false });
  if (blob === null) throw new Error(`${location.repo} has no file ${location.file}`);
  return blob;
}

/** A file that a repository of data sets has; `sha256` is null for small files, of which the hub keeps none. */
export interface HubEntry {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string | null;
}

/** A repository of data sets at one commit. */
export interface HubDataset {
  /** The commit, or the revision asked for where the hub names none. */
  readonly revision: string;
  readonly files: readonly HubEntry[];
}

const MOST_ENTRIES = 20_000;

async function allFiles(params: Parameters<typeof listFiles>[0]): Promise<HubEntry[]> {
  const files: HubEntry[] = [];
  for await (const { type, path, size, lfs } of listFiles({ ...params, recursive: true })) {
    if (type === 'file') files.push({ file: path, bytes: lfs?.size ?? size, sha256: lfs?.oid ?? null });
    if (files.length > MOST_ENTRIES) throw new Error(`the repository has more than ${MOST_ENTRIES} files`);
  }
  return files;
}

/**
 * The files of a repository of data sets, at the commit that `revision` stands for now. Honours the same variables and limits
 * as a download. Rejects as the hub's client does: an error with `statusCode` where the hub answered.
 */
export async function listHubDataset(
  { repo, revision }: { readonly repo: string; readonly revision: string },
  world: WeightsWorld,
): Promise<HubDataset> {
  if (isSet(world.env['HF_HUB_OFFLINE'])) throw new Error('HF_HUB_OFFLINE is set');
  const limits = boundedFetch(world.fetch ?? fetch, world.signal);
  const common = { fetch: limits.fetch, ...asked(world) };
  try {
    const { sha } = await datasetInfo({ ...common, name: repo, revision, additionalFields: ['sha'] });
    const commit = typeof sha === 'string' && sha !== '' ? sha : revision;
    const designation = { repo: { type: 'dataset' as const, name: repo }, revision: commit };
    return { revision: commit, files: await allFiles({ ...common, ...designation }) };
  } catch (error) {
    world.signal?.throwIfAborted();
    const reason = limits.reason();
    throw reason === null ? error : new Error(reason, { cause: error });
  } finally {
    limits.stop();
  }
}

/** Bytes of an earlier attempt that can be continued. */
async function partialSize(path: string, total: number): Promise<number> {
  const have = existsSync(path) ? (await stat(path)).size : 0;
  if (have <= total) return have;
  await truncate(path, 0);
  return 0;
}

async function append(blob: Blob, path: string, onBytes: (done: number) => void): Promise<void> {
  let done = 0;
  const count = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      done += chunk.length;
      onBytes(done);
      yield chunk;
    }
  };
  await pipeline(
    Readable.fromWeb(blob.stream() as ReadableStream<Uint8Array>),
    count,
    createWriteStream(path, { flags: 'a' }),
  );
  if (done !== blob.size) throw new Error(`the connection closed after ${done} of ${blob.size} bytes`);
}

/** A fetch that gives up in silence: first while waiting for an answer, then while a body comes in. */
function boundedFetch(send: typeof fetch, signal: AbortSignal | undefined) {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let reason: string | null = null;
  let restart = false;
  const arm = (limit_ms: number, words: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reason = words;
      silence.abort(new Error(words));
    }, limit_ms);
  };
  const all = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
  const bounded: typeof fetch = async (input, init) => {
    arm(ANSWER_TIMEOUT_MS, `no answer within ${ANSWER_TIMEOUT_MS / 1000} s`);
    const response = await send(input, { ...init, signal: all });
    arm(SILENCE_TIMEOUT_MS, `nothing arrived for ${SILENCE_TIMEOUT_MS / 1000} s`);
    const range = new Headers(init?.headers).get('range') ?? '';
    if (/^bytes=[1-9]/.test(range) && response.status === 200) {
      restart = true;
      await response.body?.cancel();
      throw new Error('the server cannot continue a download');
    }
    return response;
  };
  return {
    fetch: bounded,
    alive: () => timer?.refresh(),
    reason: () => reason,
    /** The server sends files from their beginning only. */
    mustRestart: () => restart,
    stop: () => clearTimeout(timer),
  };
}

/** `fetch` hides the reason of a failed connection in a cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`;
}
