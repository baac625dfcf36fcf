import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '@perwatt/clients';
import type { ReplyCache } from '@perwatt/graders';
import type { Io } from './io.js';

/**
 * Replies of judges in the user's cache folder, a file each, by the hash of what was asked. A file that can't be read is as good as none;
 * one that can't be written is left out.
 */
export function replyCache(io: Pick<Io, 'env'>): ReplyCache {
  const folder = join(cacheFolder({ env: io.env }), 'judge-replies');
  const fileOf = (key: string) => join(folder, key.slice(0, 2), `${key}.json`);
  return {
    get(key) {
      try {
        const { reply } = JSON.parse(readFileSync(fileOf(key), 'utf8')) as { readonly reply?: unknown };
        return typeof reply === 'string' ? reply : null;
      } catch {
        return null;
      }
    },
    set(key, reply) {
      const file = fileOf(key);
      try {
        mkdirSync(join(folder, key.slice(0, 2)), { recursive: true });
        writeFileSync(`${file}.${process.pid}`, JSON.stringify({ reply }));
        renameSync(`${file}.${process.pid}`, file);
      } catch {
        return;
      }
    },
  };
}
