import { expect, test } from 'vitest';
import { createRowSet, type LoadRowArrays, remainingRows, sharedRows } from './load-rows.js';

function rows(): LoadRowArrays {
  const made = sharedRows(4);
  made.row.set([9, 7, 8, 20_000]);
  made.due_ns.set([0, 10, 30, 35]);
  made.input_tokens.set([1, 2, 3, 4]);
  made.output_tokens.set([5, 6, 7, 8]);
  const blocks = {
    offsets: Uint32Array.of(0, 1, 3, 3, 6),
    ids: Float64Array.of(1, 2, 3, 4, 5, 6),
    block_tokens: 16,
  };
  return { ...made, blocks };
}

test('what is left keeps its order and its distances, its first call due at once', () => {
  const done = createRowSet();
  for (const row of [9, 8]) done.add(row);
  const left = remainingRows(rows(), done);
  expect([...left.row]).toEqual([7, 20_000]);
  expect([...left.due_ns]).toEqual([0, 25]);
  expect([...left.input_tokens]).toEqual([2, 4]);
  expect([...left.output_tokens]).toEqual([6, 8]);
  expect([...(left.blocks?.offsets ?? [])]).toEqual([0, 2, 5]);
  expect([...(left.blocks?.ids ?? [])]).toEqual([2, 3, 4, 5, 6]);
});

test('nothing done leaves everything as it is, everything done leaves nothing', () => {
  const all = rows();
  expect(remainingRows(all, createRowSet())).toBe(all);
  const done = createRowSet();
  for (const row of all.row) done.add(row);
  expect(remainingRows(all, done).row).toHaveLength(0);
});

test('a set of rows knows each once, however far apart', () => {
  const set = createRowSet();
  expect([set.add(0), set.add(1_000_000), set.add(0)]).toEqual([true, true, false]);
  expect([set.has(0), set.has(1), set.has(1_000_000), set.has(5_000_000)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(set.size).toBe(2);
});
