import type { Grader } from '@perwatt/core';
import { expect, test } from 'vitest';
import { gradeText } from './grade-answer.js';
import { strategyContext } from './strategy-aids.js';
import { lastWord } from './world.fixture.js';

const item = { id: 'q', prompt: '6 · 7?', gold: '42', options: null, subject: null };
/** As the real ones do, it takes nothing that was cut. */
const grader: Grader = {
  ...lastWord,
  grade: (input) =>
    lastWord.grade(input.finish_reason === 'length' ? { ...input, prediction: 'cut' } : input),
};

// biome-ignore format: a table is read in columns
test.each([
  ['it is 42', 'stop',   true,  'right and whole'],
  ['it is 42', 'length', false, 'cut at the token limit'],
  ['it is 41', 'stop',   false, 'wrong'],
] as const)('the oracle judges %j ended by %s as the grade will: %s (%s)', (text, finish, right, _why) => {
  const aids = { worldOf: null, language: null, router: null };
  const cell = { grader, mode: 'robust', max_tokens: 8, aids } as const;
  const { check } = strategyContext(cell, item, { rng: () => 0 });
  expect(check?.({ text, finish })).toBe(right);
  const graded = gradeText(text, { grader, mode: 'robust', item, finish_reason: finish, failed: false });
  expect(graded.verdict === 'correct').toBe(right);
});
