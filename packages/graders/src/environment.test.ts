import { PerwattError, type World } from '@perwatt/core';
import { expect, test } from 'vitest';
import { environmentGrader } from './environment.js';

/** A corridor: the door is at `data.length`; half the reward on the way. */
const corridor: World = {
  id: 'corridor',
  version: 1,
  open({ data }) {
    const length = data?.['length'];
    if (typeof length !== 'number') throw new PerwattError('INPUT_INVALID', 'item "graded": no length');
    const actions: string[] = [];
    let at = 0;
    const over = () => at === length || actions.length >= 5;
    return {
      opening: 'You are in a corridor.',
      actions,
      max_steps: 5,
      act(action) {
        if (over()) throw new PerwattError('INPUT_INVALID', 'the episode is over');
        actions.push(action);
        const valid = action === 'go';
        if (valid) at += 1;
        return { observation: valid ? 'You walk.' : 'Nothing happens.', valid, done: over() };
      },
      admissible: () => ['go'],
      won: () => at === length,
      reward: () => at / length,
    };
  },
  solve: () => null,
};

const grader = environmentGrader(({ data }) => (data?.['world'] === 'corridor' ? corridor : null));
const grade = (prediction: string, data: Record<string, unknown> = { world: 'corridor', length: 2 }) =>
  grader.grade({ prediction, gold: '', data });

// biome-ignore format: a table is read in columns
test.each<readonly [prediction: string, verdict: string, score: number | null, reason: string | null, why: string]>([
  ['go\ngo',                    'correct',   1,    'solved in 2 actions, 0 not possible',     'the task is solved'],
  ['go\nsing\ngo\nsing\ngo',    'correct',   1,    'solved in 3 actions, 1 not possible',     'what comes behind the end is not looked at'],
  ['go',                        'incorrect', 0.5,  'not solved in 1 actions, 0 not possible', 'half the way is half the reward, and no success'],
  ['a\nb\nc\nd\ne\ngo\ngo',     'incorrect', 0,    'not solved in 5 actions, 5 not possible', 'out of steps is over, and not won'],
  ['<think>go</think>go\n\ngo', 'correct',   1,    'solved in 2 actions, 0 not possible',     'reasoning and blank lines are no actions'],
  ['',                          'empty',     0,    null,                                      'nothing was done'],
])('%j is %s: %s', (prediction, verdict, score, reason) => {
  expect(grade(prediction)).toMatchObject({ verdict, score, reason });
});

// biome-ignore format: a table is read in columns
test.each([
  [{},                       'the item is set in no world'],
  [{ world: 'corridor' },    'item "graded": no length'],
])('an item with the data %j is unscored', (data, reason) => {
  expect(grade('go', data)).toMatchObject({ verdict: 'unscored', score: null, reason });
});
