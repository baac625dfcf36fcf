import { expect, test } from 'vitest';
import type { PolicyAnswer, Recipe, Trainer } from './recipe.js';
import { recipeById } from './recipes.js';
import { votedAccuracy } from './voted-accuracy.js';

/** A policy whose attempts at the one item answer as told, in turn. */
function answering(...answers: readonly (string | null)[]): Recipe {
  let calls = 0;
  const answer = (): PolicyAnswer => {
    const own = answers[calls++ % answers.length] ?? null;
    return { text: own ?? '', answer: own, prompt_tokens: 1, completion_tokens: 1 };
  };
  const items = () => [{ id: 'a', prompt: 'p', target: '1' }];
  return { ...recipeById('selfcest'), serve: { votes: true, items, answer } };
}

const trainer = {} as Trainer;

// biome-ignore format: a table is read in columns
test.each([
  { answers: ['1', '2', '1'],    want: 1, why: 'the answer given most often' },
  { answers: ['2', '1', '2'],    want: 0, why: 'also where it is wrong' },
  { answers: [null, '1', null],  want: 1, why: 'attempts without an answer do not vote, however many they are' },
  { answers: [null, null, null], want: 0, why: 'nobody votes' },
])('three attempts $answers are right in $want: $why', ({ answers, want }) => {
  expect(votedAccuracy(answering(...answers), trainer, { seed: 1, votes: [3] })).toEqual({ accuracy_of_3_votes: want });
});

test('a policy whose answers can not vote has none', () => {
  expect(votedAccuracy(recipeById('sat'), trainer, { seed: 1, votes: [3] })).toEqual({});
});
