import { expect, test } from 'vitest';
import { cacheFolder, hubCacheFolder } from './cache-folder.js';

// biome-ignore format: a table is read in columns
test.each<[string, Record<string, string>, string, string]>([
  ['linux',  {},                                        '/home/u/.cache/perwatt',         'the default'],
  ['linux',  { XDG_CACHE_HOME: '/x' },                  '/x/perwatt',                     "the desktop's variable"],
  ['linux',  { PERWATT_CACHE: '/p', XDG_CACHE_HOME: '/x' }, '/p',                         'ours comes first'],
  ['darwin', {},                                        '/home/u/Library/Caches/perwatt', 'macOS'],
  ['win32',  { LOCALAPPDATA: '/local' },                '/local/perwatt',                 'Windows'],
])('on %s with %j the cache is %s: %s', (platform, env, folder, _) => {
  expect(cacheFolder({ env, platform, home: '/home/u' })).toBe(folder);
});

// biome-ignore format: a table is read in columns
test.each<[Record<string, string>, string, string]>([
  [{},                                      '/home/u/.cache/huggingface/hub', 'the default'],
  [{ HF_HOME: '/hf' },                      '/hf/hub',                        "the hub client's home"],
  [{ HF_HUB_CACHE: '/hc', HF_HOME: '/hf' }, '/hc',                            'its cache comes first'],
])('with %j the hub client keeps files in %s: %s', (env, folder, _) => {
  expect(hubCacheFolder({ env, home: '/home/u' })).toBe(folder);
});
