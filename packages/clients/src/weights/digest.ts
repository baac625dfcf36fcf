import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** sha256 (hex) of a file. */
export async function sha256File(
  path: string,
  options: { readonly signal?: AbortSignal | undefined; readonly onBytes?: (done: number) => void } = {},
): Promise<string> {
  const hash = createHash('sha256');
  let done = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    options.signal?.throwIfAborted();
    hash.update(chunk as Buffer);
    done += (chunk as Buffer).length;
    options.onBytes?.(done);
  }
  return hash.digest('hex');
}
