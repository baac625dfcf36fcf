import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.js';
import { type Lock, type Pin, readLock } from './catalogue.js';
import { writeAtomic } from './partial-file.js';
import type { WeightsWorld } from './weights-world.js';

const FORMAT = 'perwatt-models-lock/1';
const none: Lock = { files: {}, wheels: {} };

const ownLockPath = (world: WeightsWorld): string => join(cacheFolder(world), 'models.lock.json');

function ownLock(world: WeightsWorld): Lock {
  const path = ownLockPath(world);
  return existsSync(path) ? { ...none, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<Lock>) } : none;
}

/** The pins that come with Perwatt, and behind them those the cache has made at a first download. */
export function mergedLock(world: WeightsWorld): Lock {
  const shipped = world.lock ?? readLock();
  const own = ownLock(world);
  return {
    files: { ...own.files, ...shipped.files },
    wheels: { ...own.wheels, ...shipped.wheels },
  };
}

/** Pins a weight file in the cache's own lock. */
export async function pinModel(id: string, pin: Pin, world: WeightsWorld): Promise<void> {
  const own = ownLock(world);
  const files = { ...own.files, [id]: pin };
  await writeAtomic(ownLockPath(world), `${JSON.stringify({ format: FORMAT, ...own, files }, null, 2)}\n`);
}
