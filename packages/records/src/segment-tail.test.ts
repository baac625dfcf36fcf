import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSegmentTail } from './segment-tail.js';
import { SegmentWriter } from './segment-writer.js';
import { rowOf } from './small-run.fixture.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-tail-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const rng = createRng(1);
const rows = (n: number, model = 'm') =>
  Array.from({ length: n }, () => rowOf('calls', rng, { model, end_ns: 7n })) as never;
const open = () =>
  SegmentWriter.create({ folder: root, file: 'calls-0.arrows', table: 'calls', sitting: 0, metadata: {} });
const path = () => join(root, 'calls-0.arrows');
const ALL = Number.MAX_SAFE_INTEGER;

test('what is flushed is seen, once, with names that came later, and every byte is read once', () => {
  const tail = createSegmentTail(path(), { table: 'calls' });
  const seen: string[] = [];
  const look = () =>
    tail.read(ALL, (batch) => {
      const model = batch.text('model');
      for (let row = 0; row < batch.rows; row++) seen.push(model(row) ?? '');
    });
  expect(look()).toBe(0);
  const writer = open();
  let read = look();
  for (const [i, model] of ['a', 'b', 'a', 'c'].entries()) {
    writer.append(rows(10, model));
    expect(seen).toHaveLength(10 * i);
    writer.flush();
    read += look();
    expect(seen.slice(-10)).toEqual(Array(10).fill(model));
    expect(look()).toBe(0);
  }
  writer.close();
  read += look();
  expect(seen).toHaveLength(40);
  expect(tail.closed).toBe(true);
  expect(read).toBe(statSync(path()).size);
});

test('a batch of which a part is there waits, byte by byte, until all of it is', () => {
  const writer = open();
  writer.append(rows(3));
  writer.close();
  const whole = readFileSync(path());
  rmSync(path());
  const tail = createSegmentTail(path(), { table: 'calls' });
  let seen = 0;
  for (let at = 0; at < whole.length; at += 97) {
    appendFileSync(path(), whole.subarray(at, at + 97));
    tail.read(ALL, (batch) => {
      seen += batch.rows;
    });
  }
  expect(seen).toBe(3);
  expect(tail).toMatchObject({ closed: true, problem: null, behind: false });
});

test('no more is read at a time than was allowed, but for the batch that is begun', () => {
  const writer = open();
  for (let i = 0; i < 20; i++) {
    writer.append(rows(50));
    writer.flush();
  }
  const tail = createSegmentTail(path(), { table: 'calls' });
  let seen = 0;
  let looks = 0;
  do {
    expect(
      tail.read(10_000, (batch) => {
        seen += batch.rows;
      }),
    ).toBeLessThan(60_000);
    looks += 1;
  } while (tail.behind && looks < 100);
  expect(seen).toBe(1000);
  expect(looks).toBeGreaterThan(10);
});

test('of a long file that is met late only the end is given', () => {
  const writer = open();
  for (let i = 0; i < 50; i++) {
    writer.append(rows(50, `model ${i % 3}`));
    writer.flush();
  }
  const { size } = statSync(path());
  const tail = createSegmentTail(path(), { table: 'calls', last: size / 10 });
  let seen = 0;
  const read = tail.read(ALL, (batch) => {
    seen += batch.rows;
  });
  expect(seen).toBeGreaterThan(0);
  expect(seen).toBeLessThanOrEqual(300);
  expect(read).toBe(size);
  expect(tail.at).toBe(size);
});

property.prop([fc.uint8Array({ maxLength: 600 }), fc.nat(4000)], { numRuns: 60 })(
  'whatever bytes stand in a segment, following it ends and gives whole batches alone',
  (bytes, at) => {
    rmSync(path(), { force: true });
    const writer = open();
    writer.append(rows(2));
    writer.close();
    const whole = readFileSync(path());
    whole.set(bytes.subarray(0, Math.max(0, whole.length - at)), Math.min(at, whole.length));
    writeFileSync(path(), whole);
    const tail = createSegmentTail(path(), { table: 'calls' });
    for (let look = 0; look < 3; look++)
      expect(tail.read(ALL, () => {})).toBeLessThanOrEqual(2 * whole.length);
    rmSync(path());
  },
);

test('a batch of which a bit is wrong is not given, and nothing behind it', () => {
  const writer = open();
  for (let i = 0; i < 3; i++) {
    writer.append(rows(20));
    writer.flush();
  }
  const bytes = readFileSync(path());
  const at = Math.floor(bytes.length * 0.6);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path(), bytes);
  const tail = createSegmentTail(path(), { table: 'calls' });
  let seen = 0;
  tail.read(ALL, (batch) => {
    seen += batch.rows;
  });
  expect(seen).toBe(20);
  expect(tail.problem).toMatch(/^wrong checksum of the batch at byte \d+$/);
});

test.each([
  ['no stream at all', Buffer.alloc(64)],
  ['a message of an absurd length', Buffer.from([255, 255, 255, 255, 255, 255, 255, 127])],
])('%s is given up, without an error', (_what, bytes) => {
  writeFileSync(path(), bytes);
  const tail = createSegmentTail(path(), { table: 'calls' });
  expect(tail.read(ALL, () => {})).toBeLessThan(100);
  expect(tail.problem).toBe('no Arrow message at byte 0');
  expect(tail.read(ALL, () => {})).toBe(0);
});
