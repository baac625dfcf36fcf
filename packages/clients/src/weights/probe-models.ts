import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, type Probe } from '@perwatt/core';
import { cacheFolder } from './cache-folder.js';
import { listModels } from './store.js';
import type { WeightsWorld } from './weights-world.js';
import { findPip } from './wheel.js';

const HUB = 'https://huggingface.co';
const HUB_TIMEOUT_MS = 5000;

/** What `perwatt models pull` can draw on: the cache, the hub, pip. */
export async function probeModels(world: WeightsWorld): Promise<Probe[]> {
  return [probeCache(world), ...(await Promise.all([probeHub(world), probePip(world)]))];
}

function probeCache(world: WeightsWorld): Probe {
  const folder = cacheFolder(world);
  const tried = { name: 'model cache', area: 'models' } as const;
  try {
    accessSync(nearestFolder(folder), constants.W_OK);
  } catch (error) {
    const fix = 'export PERWATT_CACHE=<a folder you may write to>';
    return { ...tried, usable: false, detail: `${folder}: ${messageOf(error)}`, fix };
  }
  const models = listModels(world);
  const here = models.filter(({ path }) => path !== null).map(({ id }) => id);
  const detail = `${folder} holds ${here.length} of ${models.length} models${here.length === 0 ? '' : `: ${here.join(', ')}`}`;
  return { ...tried, usable: true, detail, fix: here.length === 0 ? 'perwatt models pull' : null };
}

const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));

async function probeHub({ env, fetch: send = fetch }: WeightsWorld): Promise<Probe> {
  const tried = { name: 'model hub', area: 'models' } as const;
  const url = env['HF_ENDPOINT'] || HUB;
  if (env['HF_HUB_OFFLINE'] === '1')
    return { ...tried, usable: false, detail: 'HF_HUB_OFFLINE is set', fix: 'unset HF_HUB_OFFLINE' };
  try {
    await send(url, { method: 'HEAD', signal: AbortSignal.timeout(HUB_TIMEOUT_MS) });
    return { ...tried, usable: true, detail: `${url} answers`, fix: null };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : '';
    return {
      ...tried,
      usable: false,
      detail: `${url} does not answer: ${messageOf(error)}${cause}`,
      fix: 'export HF_ENDPOINT=<address of a mirror>',
    };
  }
}

async function probePip(world: WeightsWorld): Promise<Probe> {
  const tried = { name: 'pip', area: 'models' } as const;
  const pip = await findPip(world);
  return pip.command === null
    ? { ...tried, usable: false, detail: pip.reason, fix: 'install Python 3 with pip' }
    : { ...tried, usable: true, detail: `${pip.version} (${pip.command.join(' ')})`, fix: null };
}
