import type { CallRequest, CallResult, Outcome } from '@perwatt/core';
import { expect, test } from 'vitest';
import { drive } from './drive.js';

const call = (id: string): CallRequest => ({
  id,
  parents: [],
  role: 'solver',
  endpoint: 'main',
  input: { kind: 'completion', prompt: '1 + 1 =' },
  sampling: { temperature: 0, top_p: 1, max_tokens: 8 },
});

async function* twoRounds(): AsyncGenerator<readonly CallRequest[], Outcome, readonly CallResult[]> {
  const first = yield [call('a'), call('b')];
  const second = yield [call('c')];
  const answer = [...first, ...second].map((r) => `${r.id}:${r.text}:${r.finish}`).join(' ');
  return { status: 'answered', answer, call_id: null, candidates: [], decisions: [] };
}

test('answers the calls of every batch in the order they are made', async () => {
  const { batches, outcome } = await drive(twoRounds(), [
    'one',
    { error_code: 'timeout' },
    { text: 'cut', finish: 'length' },
  ]);
  expect(batches.map((batch) => batch.map((c) => c.id))).toEqual([['a', 'b'], ['c']]);
  expect(outcome).toMatchObject({ answer: 'a:one:stop b::error c:cut:length' });
});

test('a script that is too short is an error that names the call', async () => {
  await expect(drive(twoRounds(), ['one', 'two'])).rejects.toThrow('no answer left for call c');
});
