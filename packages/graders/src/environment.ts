import { type GradeInput, type Grader, type Item, PerwattError, type World } from '@perwatt/core';
import { type Comparison, decide, type Found } from './decide.js';

const actionsOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

const find = (text: string): Found<readonly string[]> => {
  const trimmed = text.trim();
  const start = text.indexOf(trimmed);
  return {
    status: 'found',
    value: actionsOf(trimmed),
    start,
    end: start + trimmed.length,
    rule: 'environment.actions',
    flags: [],
  };
};

/**
 * Grades a list of actions, one a line, by taking them again in the item's world from its start: `correct` when the task is solved, the reward
 * as the score. What stands behind the end of the episode is not looked at. `unscored` for an item without a world.
 */
export function environmentGrader(worldOf: (item: Pick<Item, 'id' | 'data'>) => World | null): Grader {
  return {
    id: 'environment',
    version: 1,
    grade(input) {
      const opened = open(input, worldOf);
      return decide(input, {
        find,
        firstAnswerEnd: () => null,
        compare: (actions) => (typeof opened === 'string' ? never : replay(opened, actions)),
        goldProblem: typeof opened === 'string' ? opened : null,
      });
    },
    extract: (text) => text.trim() || null,
    same: (a, b) => actionsOf(a).join('\n') === actionsOf(b).join('\n'),
  };
}

type Episode = ReturnType<World['open']>;

/** A new episode of the item, or why there is none. */
function open(
  { data }: GradeInput,
  worldOf: (item: Pick<Item, 'id' | 'data'>) => World | null,
): Episode | string {
  const item = { id: 'graded', ...(data !== undefined && { data }) };
  try {
    return worldOf(item)?.open(item) ?? 'the item is set in no world';
  } catch (error) {
    if (error instanceof PerwattError) return error.message;
    throw error;
  }
}

const never: Comparison = { correct: false, reason: null, flags: [] };

function replay(episode: Episode, actions: readonly string[]): Comparison {
  let impossible = 0;
  let taken = 0;
  for (const action of actions) {
    const { valid, done } = episode.act(action);
    taken += 1;
    if (!valid) impossible += 1;
    if (done) break;
  }
  const correct = episode.won();
  const how = `${taken} actions, ${impossible} not possible`;
  return {
    correct,
    score: episode.reward(),
    reason: correct ? `solved in ${how}` : `not solved in ${how}`,
    flags: impossible > 0 ? ['impossible-actions'] : [],
  };
}
