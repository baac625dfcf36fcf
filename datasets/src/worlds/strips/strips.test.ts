import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { blocksworldDomain } from '../blocksworld/domain.js';
import { misplaced, onFacts, randomTowers, tableFacts } from '../blocksworld/towers.js';
import { applied, factsIn, groundProblem, isApplicable, isSolved } from './ground.js';
import type { Domain, Problem } from './model.js';
import { domainPddl, parseDomain, parseProblem, problemPddl } from './pddl.js';
import { findPlan } from './search.js';

/** A lamp in one of two rooms, to be lit by whoever is there; a key opens the door once. */
const domain: Domain = {
  name: 'house',
  types: { room: 'object', kitchen: 'room', key: 'object' },
  predicates: {
    at: [{ name: '?r', type: 'room' }],
    has: [{ name: '?k', type: 'key' }],
    lies: [
      { name: '?k', type: 'key' },
      { name: '?r', type: 'room' },
    ],
    next: [
      { name: '?a', type: 'room' },
      { name: '?b', type: 'room' },
    ],
    locked: [{ name: '?r', type: 'room' }],
    fed: [],
  },
  operators: [
    {
      name: 'go',
      parameters: [
        { name: '?a', type: 'room' },
        { name: '?b', type: 'room' },
      ],
      pre: [
        ['at', '?a'],
        ['next', '?a', '?b'],
      ],
      not: [['locked', '?b']],
      add: [['at', '?b']],
      del: [['at', '?a']],
    },
    {
      name: 'take',
      parameters: [
        { name: '?k', type: 'key' },
        { name: '?r', type: 'room' },
      ],
      pre: [
        ['at', '?r'],
        ['lies', '?k', '?r'],
      ],
      not: [],
      add: [['has', '?k']],
      del: [['lies', '?k', '?r']],
    },
    {
      name: 'unlock',
      parameters: [
        { name: '?k', type: 'key' },
        { name: '?r', type: 'room' },
      ],
      pre: [
        ['has', '?k'],
        ['locked', '?r'],
      ],
      not: [],
      add: [],
      del: [['locked', '?r']],
    },
    {
      name: 'eat',
      parameters: [{ name: '?r', type: 'kitchen' }],
      pre: [['at', '?r']],
      not: [],
      add: [['fed']],
      del: [],
    },
  ],
};

const house = (init: Problem['init'], goals: Problem['goals'] = [[['fed']]]): Problem => ({
  name: 'supper',
  objects: { hall: 'room', attic: 'room', galley: 'kitchen', brass: 'key' },
  init: [
    ['at', 'hall'],
    ['next', 'hall', 'galley'],
    ['next', 'hall', 'attic'],
    ['next', 'attic', 'hall'],
    ...init,
  ],
  goals,
});

const planOf = (problem: Problem) => {
  const found = findPlan(groundProblem(domain, problem));
  return found.status === 'solved'
    ? found.plan.map((a) => [a.operator, ...a.objects].join(' '))
    : found.status;
};

describe('planning', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [init: Problem['init'], goals: Problem['goals'], plan: readonly string[] | string, why: string]>([
    [[],                                                  [[['fed']]],              ['go hall galley', 'eat galley'], 'the way is free'],
    [[['locked', 'galley'], ['lies', 'brass', 'attic']],  [[['fed']]],              ['go hall attic', 'take brass attic', 'go attic hall', 'unlock brass galley', 'go hall galley', 'eat galley'], 'a negative precondition'],
    [[['locked', 'galley']],                              [[['fed']]],              'unsolvable', 'no key: a proof, not a limit'],
    [[['locked', 'galley']],                              [[['fed']], [['at', 'attic']]], ['go hall attic'], 'one of two goals is within reach'],
    [[],                                                  [[['at', 'hall']]],       [], 'solved at the start'],
    [[],                                                  [[['next', 'hall', 'galley']]], [], 'a goal that never changes and holds'],
    [[],                                                  [[['next', 'galley', 'hall']]], 'unsolvable', 'a goal that never changes and does not hold'],
  ])('%j to %j: %j (%s)', (init, goals, plan) => {
    expect(planOf(house(init, goals))).toEqual(plan);
  });

  test('a type takes the objects below it and no others', () => {
    const { actions } = groundProblem(domain, house([]));
    expect(actions.filter((a) => a.operator === 'eat').map((a) => a.objects)).toEqual([['galley']]);
    expect(actions.filter((a) => a.operator === 'go')).toHaveLength(3);
  });

  test('a limit ends the search and says so', () => {
    const problem = house([
      ['locked', 'galley'],
      ['lies', 'brass', 'attic'],
    ]);
    expect(findPlan(groundProblem(domain, problem), { max_states: 2 })).toEqual({
      status: 'gave_up',
      states: 2,
    });
  });

  test('actions that are not allowed are not taken', () => {
    const found = findPlan(groundProblem(domain, house([])), { allow: ({ operator }) => operator !== 'eat' });
    expect(found.status).toBe('unsolvable');
  });

  property.prop([fc.integer(), fc.integer({ min: 1, max: 5 })], { numRuns: 40 })(
    'with the count of misplaced blocks plans are as short as breadth first finds them, with no more states, and they work',
    (seed, blocks) => {
      const rng = createRng(seed);
      const names = ['a', 'b', 'c', 'd', 'e'].slice(0, blocks);
      const [init, goal] = [tableFacts(randomTowers(rng, names)), onFacts(randomTowers(rng, names))];
      const ground = groundProblem(blocksworldDomain, {
        name: 'p',
        objects: Object.fromEntries(names.map((n) => [n, 'block'])),
        init,
        goals: [goal],
      });
      const [wide, guided] = [findPlan(ground), findPlan(ground, { heuristic: misplaced(ground, goal) })];
      if (wide.status !== 'solved' || guided.status !== 'solved')
        throw new Error('every table can be reached');
      expect(guided.plan).toHaveLength(wide.plan.length);
      expect(guided.states).toBeLessThanOrEqual(wide.states);
      let state = ground.init;
      for (const action of guided.plan) {
        expect(isApplicable(state, action)).toBe(true);
        state = applied(state, action);
      }
      expect(isSolved(ground, state)).toBe(true);
      expect(factsIn(ground, state)).toEqual(expect.arrayContaining(goal.map((atom) => atom.join(' '))));
    },
  );

  property.prop([fc.integer()], { numRuns: 30 })('the estimate never falls by more than one', (seed) => {
    const rng = createRng(seed);
    const names = ['a', 'b', 'c', 'd'];
    const goal = onFacts(randomTowers(rng, names));
    const ground = groundProblem(blocksworldDomain, {
      name: 'p',
      objects: Object.fromEntries(names.map((n) => [n, 'block'])),
      init: tableFacts(randomTowers(rng, names)),
      goals: [goal],
    });
    const estimate = misplaced(ground, goal);
    let state = ground.init;
    for (let i = 0; i < 30; i++) {
      const possible = ground.actions.filter((a) => isApplicable(state, a)).map((a) => applied(state, a));
      for (const next of possible) expect(estimate(state) - estimate(next)).toBeLessThanOrEqual(1);
      state = possible[Math.floor(rng() * possible.length)]!;
    }
  });
});

describe('PDDL', () => {
  test('what is written reads back the same', () => {
    expect(parseDomain(domainPddl(domain))).toEqual(domain);
    expect(parseDomain(domainPddl(blocksworldDomain))).toEqual(blocksworldDomain);
    const one = house([['locked', 'galley']]);
    const two = house(
      [],
      [
        [['fed']],
        [
          ['at', 'attic'],
          ['has', 'brass'],
        ],
      ],
    );
    for (const problem of [one, two]) expect(parseProblem(problemPddl('house', problem))).toEqual(problem);
  });

  test('comments, capitals and untyped names are read', () => {
    const text =
      '; a note\n(DEFINE (problem P) (:domain d) (:objects a b - block c) ; more\n (:init (CLEAR a)) (:goal (clear b)))';
    expect(parseProblem(text)).toEqual({
      name: 'p',
      objects: { a: 'block', b: 'block', c: 'object' },
      init: [['clear', 'a']],
      goals: [[['clear', 'b']]],
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, message: string, why: string]>([
    ['',                                             'PDDL: one definition is wanted',              'nothing'],
    ['(define (problem p)',                          'PDDL: a bracket is not closed',               'cut off'],
    ['(define (problem p)))',                        'PDDL: a bracket closes that was not opened',  'one too many'],
    ['(define (domain d))',                          'PDDL: no definition of a problem',            'the other kind'],
    ['(define (problem p) (:goal (forall (?x) a)))', 'PDDL: "forall" is beyond what is read here',  'beyond STRIPS'],
    ['(define (problem p) (:goal fed))',             'PDDL: a list is wanted where "fed" stands',   'a bare word'],
    ['('.repeat(201),                         'PDDL: brackets more than 200 deep',           'too deep'],
  ])('%j is an error: %s (%s)', (text, message) => {
    expect(() => parseProblem(text)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', message }));
  });
});
