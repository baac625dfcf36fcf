import type { Instant } from '@perwatt/core';

/**
 * Reads that wait to be looked at. All sockets that have something are read and stamped first, one after another, and only then
 * is any of it parsed: so no stamp waits for another stream's parse.
 */
export interface ReadQueue<T> {
  /** Takes a copy of `length` bytes that were read at `at`. */
  add(target: T, from: { readonly bytes: Uint8Array; readonly length: number }, at: Instant): void;
  /** Looks at everything that waits. */
  drain(): void;
}

const ARENA_BYTES = 1 << 20;

/** @param take gets the bytes of each read, which it may change but not keep */
export function createReadQueue<T>(take: (target: T, bytes: Buffer, at: Instant) => void): ReadQueue<T> {
  const arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
  let targets: T[] = [];
  let stamps: Instant[] = [];
  let ends: number[] = [];
  let next = 0;
  let used = 0;
  let queued = false;

  const drain = () => {
    while (next < targets.length) {
      const i = next;
      next += 1;
      const start = i === 0 ? 0 : (ends[i - 1] ?? 0);
      take(targets[i] as T, arena.subarray(start, ends[i]), stamps[i] as Instant);
    }
    targets = [];
    stamps = [];
    ends = [];
    next = 0;
    used = 0;
  };
  const onTurn = () => {
    queued = false;
    drain();
  };

  return {
    add(target, { bytes, length }, at) {
      if (used + length > ARENA_BYTES) drain();
      arena.set(length === bytes.length ? bytes : bytes.subarray(0, length), used);
      used += length;
      targets.push(target);
      stamps.push(at);
      ends.push(used);
      if (queued) return;
      queued = true;
      setImmediate(onTurn);
    },
    drain,
  };
}
