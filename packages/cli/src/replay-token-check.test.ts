import type { LoadColumns } from '@perwatt/core';
import { type LoadRowArrays, sharedRows, type TurnFact } from '@perwatt/harness';
import type { CellFile, RunFolder } from '@perwatt/records';
import { expect, test } from 'vitest';
import { tokenCheck } from './replay-token-check.js';

const left: LoadRowArrays = { ...sharedRows(1), blocks: null };
const answered: TurnFact = {
  row: 0,
  parent: 'none',
  late_ns: null,
  history: 'none',
  answer: 'three short words',
};
const one = (value: number) => ({ values: Uint32Array.of(value), valid: Uint8Array.of(1) });
const columns = {
  length: 1,
  prompt_tokens: one(9),
  completion_tokens: one(3),
  token_source: { names: ['server_usage'], indices: Uint16Array.of(0), valid: Uint8Array.of(1) },
} as unknown as LoadColumns;

test('answers are counted when the load is over, however long that takes, and never while calls end', async () => {
  const counted: string[] = [];
  const check = tokenCheck();
  for (let i = 0; i < 5; i++) check.take(left, columns, [answered]);
  expect(counted).toEqual([]);
  const written: CellFile[] = [];
  const run = {
    readCell: () => ({ verdict: null, replay: {} }) as CellFile,
    writeCell: (cell: CellFile) => void written.push(cell),
  } as unknown as RunFolder;
  await check.settle(run, 'c', {
    label: 'slow words',
    async count(text) {
      await new Promise((resolve) => setImmediate(resolve));
      counted.push(text);
      return 3;
    },
  });
  expect(counted).toHaveLength(5);
  expect(written[0]?.replay?.tokens).toMatchObject({
    counter: 'slow words',
    answers: { compared: 5, server_tokens: 15, local_tokens: 15, differs: false },
  });
});
