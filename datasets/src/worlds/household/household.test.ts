import { fc, test as property } from '@fast-check/vitest';
import { createRng, type Item } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { groundProblem } from '../strips/ground.js';
import { findPlan } from '../strips/search.js';
import { householdDomain, householdProblem } from './domain.js';
import { householdWorld } from './household-world.js';
import { shortestPlan } from './solve.js';
import { type House, type Task, taskTypes, waysOf } from './tasks.js';

const house: House = {
  places: ['cabinet 1', 'countertop 1', 'fridge 1', 'microwave 1', 'sidetable 1', 'sinkbasin 1'],
  things: [
    ['mug 1', 'cabinet 1'],
    ['apple 1', 'countertop 1'],
    ['mug 2', 'sinkbasin 1'],
  ],
  lamps: [['desklamp 1', 'sidetable 1']],
};

const itemOf = (task: Task, max_steps = 50, changed: Partial<House> = {}) => ({
  id: 'test',
  data: { kind: 'world', world: 'household', world_version: 1, ...house, ...changed, task, max_steps },
});

const heat: Task = { type: 'heat', thing: 'mug', target: 'countertop' };

describe('commands', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [actions: readonly string[], observation: string | RegExp, valid: boolean, why: string]>([
    [['go to countertop 1'],                        'You are now at the countertop 1. On the countertop 1 there is an apple 1.', true, 'open places show what is on them'],
    [['go to cabinet 1'],                           'You are now at the cabinet 1. The cabinet 1 is closed.', true, 'closed ones do not'],
    [['go to cabinet 1', 'open cabinet 1'],         'The cabinet 1 is open. In the cabinet 1 there is a mug 1.', true, 'until they are opened'],
    [['go to cabinet 1', 'take mug 1 from cabinet 1'], 'Nothing happens.', false, 'nothing is taken from a closed place'],
    [['take apple 1 from countertop 1'],            'Nothing happens.', false, 'nor from afar'],
    [['go to countertop 1', 'take apple 1 from countertop 1'], 'You take the apple 1 from the countertop 1.', true, 'taken'],
    [['go to countertop 1', 'Take the apple 1 off the countertop 1'], 'You take the apple 1 from the countertop 1.', true, 'other words for it'],
    [['go to countertop 1', 'take apple 1 from countertop 1', 'go to sinkbasin 1', 'take mug 2 from sinkbasin 1'], 'Nothing happens.', false, 'the hand holds one thing'],
    [['go to countertop 1', 'take apple 1 from countertop 1', 'go to sidetable 1', 'put apple 1 in/on sidetable 1'], 'You put the apple 1 on the sidetable 1.', true, 'the older form'],
    [['go to countertop 1', 'take apple 1 from countertop 1', 'go to cabinet 1', 'open cabinet 1', 'move apple 1 to cabinet 1'], 'Nothing happens.', false, 'an apple does not go into a cabinet'],
    [['go to fridge 1', 'close fridge 1'],          'Nothing happens.', false, 'it is closed'],
    [['go to fridge 1', 'open fridge 1', 'close fridge 1'], 'You close the fridge 1.', true, 'closed again'],
    [['go to countertop 1', 'take apple 1 from countertop 1', 'go to microwave 1', 'heat apple 1 with microwave 1', 'examine apple 1'], 'The apple 1 is hot.', true, 'closed or not'],
    [['go to countertop 1', 'take apple 1 from countertop 1', 'go to microwave 1', 'heat apple 1 with microwave 1', 'go to fridge 1', 'cool apple 1 with fridge 1'], 'The apple 1 is cool now.', true, 'no longer hot'],
    [['go to countertop 1', 'heat apple 1 with microwave 1'], 'Nothing happens.', false, 'not at the microwave'],
    [['go to sidetable 1', 'use desklamp 1', 'examine desklamp 1'], 'The desklamp 1 is on.', true, 'a lamp is switched on'],
    [['go to sidetable 1', 'use desklamp 1', 'turn on desklamp 1'], 'The desklamp 1 is off now.', true, 'and off again'],
    [['go to microwave 1', 'go to microwave 1'],    'Nothing happens.', false, 'there already'],
    [['inventory'],                                 'Your hand is empty.', true, 'the hand'],
    [['look'],                                      /^You stand in the middle of a room\. Around you there are a cabinet 1, .* and a sinkbasin 1\.$/, true, 'the room'],
    [['examine mug 1'],                             'Nothing happens.', false, 'out of sight'],
    [['think: where may mugs be?'],                 'OK.', true, 'thinking takes a step'],
    [['sing'],                                      'Nothing happens.', false, 'no command'],
  ])('%j leads to %j (%s)', (actions, observation, valid) => {
    const episode = householdWorld.open(itemOf(heat));
    const steps = actions.map((action) => episode.act(action));
    expect(steps.at(-1)).toMatchObject({ observation: typeof observation === 'string' ? observation : expect.stringMatching(observation), valid });
  });
});

describe('tasks', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [task: Task, plan: readonly string[]]>([
    [{ type: 'pick', thing: 'mug', target: 'countertop' }, ['go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'go to countertop 1', 'move mug 2 to countertop 1']],
    [heat, ['go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'go to microwave 1', 'heat mug 2 with microwave 1', 'go to countertop 1', 'move mug 2 to countertop 1']],
    [{ type: 'clean', thing: 'mug', target: 'cabinet' }, ['go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'clean mug 2 with sinkbasin 1', 'go to cabinet 1', 'open cabinet 1', 'move mug 2 to cabinet 1']],
    [{ type: 'cool', thing: 'apple', target: 'sidetable' }, ['go to countertop 1', 'take apple 1 from countertop 1', 'go to fridge 1', 'cool apple 1 with fridge 1', 'go to sidetable 1', 'move apple 1 to sidetable 1']],
    [{ type: 'look', thing: 'mug', target: 'desklamp' }, ['go to sinkbasin 1', 'take mug 2 from sinkbasin 1', 'go to sidetable 1', 'use desklamp 1']],
  ])('%j is solved by %j', (task, plan) => {
    expect(householdWorld.solve(itemOf(task))).toEqual(plan);
  });

  test('two things of one kind have to lie in the same place, and one put there does not do', () => {
    const task: Task = { type: 'pick2', thing: 'mug', target: 'sidetable' };
    const plan = householdWorld.solve(itemOf(task))!;
    expect(plan).toHaveLength(9);
    const episode = householdWorld.open(itemOf(task));
    const won = plan.map((action) => {
      episode.act(action);
      return episode.won();
    });
    expect(won.indexOf(true)).toBe(8);
  });

  test('a thing put away untreated does not count, and the episode goes on to its last step without a win', () => {
    const task: Task = { type: 'heat', thing: 'mug', target: 'countertop' };
    const episode = householdWorld.open(itemOf(task, 5));
    const steps = [
      'go to sinkbasin 1',
      'take mug 2 from sinkbasin 1',
      'go to countertop 1',
      'move mug 2 to countertop 1',
      'look',
    ].map((a) => episode.act(a));
    expect(steps.map(({ done }) => done)).toEqual([false, false, false, false, true]);
    expect([episode.won(), episode.reward()]).toEqual([false, 0]);
    expect(() => episode.act('look')).toThrow('the episode is over after 5 actions');
  });

  test('a task that no way fulfils has no plan', () => {
    expect(householdWorld.solve(itemOf({ type: 'pick', thing: 'book', target: 'countertop' }))).toBeNull();
    expect(householdWorld.solve(itemOf({ type: 'cool', thing: 'mug', target: 'shelf' }))).toBeNull();
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [changed: Partial<House> | { task: unknown }, message: string]>([
    [{ things: [['mug 1', 'attic 1']] },        '"mug 1" is in "attic 1", which is no place of it'],
    [{ things: [['unicorn 1', 'cabinet 1']] },  'it has no kind of "unicorn 1"'],
    [{ places: ['cabinet'] },                   '"cabinet" is no name with a number'],
    [{ places: ['cabinet 1', 'cabinet 1'], things: [], lamps: [] }, 'two of its things or places have one name'],
    [{ things: [['mug 1']] },                   'field "things" of its data is [["mug 1"]], not a list of lists of 2 texts'],
    [{ task: { type: 'dust', thing: 'mug', target: 'shelf' } }, 'there is no task "dust"'],
    [{ places: Array.from({ length: 101 }, (_, i) => `shelf ${i}`), things: [], lamps: [] }, 'it has 101 things and places, over 100'],
  ])('%j is refused: %s', (changed, message) => {
    const item = itemOf(heat);
    expect(() => householdWorld.open({ id: 'test', data: { ...item.data, ...changed } })).toThrow(`item "test": ${message}`);
  });
});

property.prop([fc.integer(), fc.constantFrom(...taskTypes)], { numRuns: 25 })(
  'plans are as short as a search over everything an actor could do finds them',
  (seed, type) => {
    const rng = createRng(seed);
    const one = <T>(values: readonly T[]): T => values[Math.floor(rng() * values.length)]!;
    const places = ['countertop 1', 'fridge 1', 'microwave 1', 'sinkbasin 1'];
    const tiny: House = {
      places,
      things: [
        ['mug 1', one(places)],
        ['mug 2', one(places)],
      ],
      lamps: [['desklamp 1', 'countertop 1']],
    };
    const task: Task = {
      type,
      thing: 'mug',
      target: type === 'look' ? 'desklamp' : one(['countertop', 'fridge', 'sinkbasin']),
    };
    const ground = groundProblem(
      householdDomain,
      householdProblem(
        tiny,
        waysOf(task, tiny).map(({ goal }) => goal),
      ),
    );
    const wide = findPlan(ground);
    expect(wide.status).toBe('solved');
    if (wide.status === 'solved') expect(shortestPlan(task, tiny, ground)).toHaveLength(wide.plan.length);
  },
);

test('all six types come evenly, and one alone where it is asked for', async () => {
  const load = (options: Record<string, unknown>) =>
    loadDataset({ kind: 'household', options, limit: 12 }, { root: '/', seed: 3 });
  const subjects = (items: readonly Item[]) => items.map(({ subject }) => subject);
  expect(new Set(subjects((await load({})).items))).toEqual(new Set(taskTypes));
  expect(new Set(subjects((await load({ task: 'pick2' })).items))).toEqual(new Set(['pick2']));
  expect((await load({ max_steps: 12 })).items[0]!.data).toMatchObject({ max_steps: 12 });
});
