import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { float64Column, uint32Column } from './growable.js';

/** Where the texts of a trace wait until they are asked for. */
export interface TextStore {
  /** Returns the number to read it by. */
  readonly append: (text: string) => number;
  readonly read: (number: number) => string;
  /** Frees the place; nothing can be read afterwards. */
  readonly close: () => void;
}

/** For traces that fit. */
export function memoryTexts(): TextStore {
  const texts: string[] = [];
  return {
    append: (text) => texts.push(text) - 1,
    read: (number) => texts[number] ?? '',
    close: () => {
      texts.length = 0;
    },
  };
}

const BUFFER = 1 << 20;

/** Keeps texts in a new file at `path`, which `close` deletes: a million conversations take a few bytes each in memory. */
export function fileTexts(path: string): TextStore {
  const fd = openSync(path, 'wx+');
  const offsets = float64Column();
  const lengths = uint32Column();
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let written = 0;
  let count = 0;
  const flush = () => {
    const bytes = Buffer.concat(waiting);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    written += bytes.length;
    waiting = [];
    waitingBytes = 0;
  };
  return {
    append: (text) => {
      const bytes = Buffer.from(text, 'utf8');
      offsets.set(count, written + waitingBytes);
      lengths.set(count, bytes.length);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= BUFFER) flush();
      count += 1;
      return count - 1;
    },
    read: (number) => {
      if (waitingBytes > 0) flush();
      const bytes = Buffer.alloc(lengths.get(number));
      readSync(fd, bytes, 0, bytes.length, offsets.get(number));
      return bytes.toString('utf8');
    },
    close: () => {
      closeSync(fd);
      rmSync(path, { force: true });
    },
  };
}
