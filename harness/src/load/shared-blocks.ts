import { type LoadRowArrays, sharedNumbers } from './load-rows.js';

/**
 * Of each call the number of blocks at the head of its prompt that calls before it had too: what a cache that forgets nothing
 * would find. The row ends at the first block that is new.
 */
export function sharedBlocks({ offsets, ids }: NonNullable<LoadRowArrays['blocks']>): Uint32Array {
  const seen = new Set<number>();
  const shared = sharedNumbers(Math.max(0, offsets.length - 1));
  for (let call = 0; call < shared.length; call++) {
    const [from = 0, to = 0] = [offsets[call], offsets[call + 1]];
    let at = from;
    while (at < to && seen.has(ids[at] ?? Number.NaN)) at += 1;
    shared[call] = at - from;
    for (; at < to; at++) seen.add(ids[at] ?? Number.NaN);
  }
  return shared;
}
