import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readArrays, writeArrays } from './array-file.js';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-arrays-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'arrays');
}

const value = {
  row: Uint32Array.of(7, 0, 4_294_967_295),
  due_ns: Float64Array.of(0, 0.5, 2 ** 53),
  blocks: null,
  turns: { parent: Int32Array.of(-1, 0), texts: { fd: -1, whole: false, none: new Float64Array() } },
  part: Float64Array.of(1, 2, 3).subarray(1),
};

test('arrays come back as they were, in shared memory, wherever they stand', () => {
  const path = place();
  const sent: unknown = JSON.parse(JSON.stringify(writeArrays(path, value)));
  const back = readArrays(path, sent) as typeof value;
  expect(back).toEqual(value);
  expect(back.turns.parent.buffer).toBeInstanceOf(SharedArrayBuffer);
});

test('a file that ends too early is told', () => {
  const path = place();
  const sent = writeArrays(path, value);
  truncateSync(path, 30);
  expect(() => readArrays(path, sent)).toThrow('ends within an array of 3');
});
