import { homedir } from 'node:os';
import { join } from 'node:path';
import type { WeightsWorld } from './weights-world.js';

/**
 * Folder that downloads are kept in: `PERWATT_CACHE`, else where the platform keeps such things (`XDG_CACHE_HOME` or
 * `~/.cache`, `~/Library/Caches`, `LOCALAPPDATA`).
 */
export function cacheFolder({ env, home = homedir(), platform = process.platform }: WeightsWorld): string {
  const own = env['PERWATT_CACHE'];
  if (own) return own;
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'perwatt');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'perwatt');
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'perwatt');
}

/** Folder of the hub client's own cache, by its environment variables. */
export function hubCacheFolder({ env, home = homedir() }: WeightsWorld): string {
  return env['HF_HUB_CACHE'] || join(env['HF_HOME'] || join(home, '.cache', 'huggingface'), 'hub');
}
