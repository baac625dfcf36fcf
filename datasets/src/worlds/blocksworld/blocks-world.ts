import type { World } from '@perwatt/core';
import { episodeOf, foldAction } from '../episode.js';
import {
  applied,
  type Ground,
  type GroundAction,
  groundProblem,
  isApplicable,
  isSolved,
  type State,
} from '../strips/ground.js';
import type { Atom } from '../strips/model.js';
import { findPlan } from '../strips/search.js';
import { type DataReader, MAX_STEPS, worldData } from '../world-data.js';
import { blocksworldDomain } from './domain.js';
import { misplaced } from './towers.js';

export const BLOCKSWORLD_VERSION = 1;

/** Colours of blocks with their symbols in plans. */
export const blockNames: readonly (readonly [colour: string, symbol: string])[] = [
  ['red', 'a'],
  ['blue', 'b'],
  ['orange', 'c'],
  ['yellow', 'd'],
  ['white', 'e'],
  ['magenta', 'f'],
  ['black', 'g'],
  ['cyan', 'h'],
];

/** The rules in words, with the actions as they are written. */
export const blocksRules = `Blocks stand on a table, alone or in towers. A hand moves them, one at a time. Its actions, with colours in the place of X and Y:
- pick up the X block: from the table. The hand must be empty, and nothing may lie on the block.
- put down the X block: the block in the hand goes onto the table.
- stack the X block on the Y block: the block in the hand goes onto another that has nothing on it.
- unstack the X block from the Y block: takes X off Y. The hand must be empty, and nothing may lie on X.
The table has room for all blocks.`;

const skills = [
  'Build towers of the goal from the table up: a block goes onto another only once that one stands where it is to stay.',
  'A block that lies on one that has to move, or on one that another is to lie on, has to move first: unstack it and put it down.',
  'A block that is where it is to stay, on blocks that are where they are to stay, is never touched again.',
]
  .map((line) => `- ${line}`)
  .join('\n');

interface Table {
  readonly init: readonly Atom[];
  readonly goal: readonly Atom[];
  readonly objects: Readonly<Record<string, string>>;
}

/** Table and goal in words. */
export function blocksOpening({ init, goal, objects }: Table): string {
  const named = new Map(Object.entries(objects).map(([name, symbol]): [string, string] => [symbol, name]));
  const words = (atoms: readonly Atom[]) => atoms.map((atom) => `- ${factWords(atom, named)}`).join('\n');
  return `On the table now:\n${words(init)}\n\nThe goal:\n${words(goal)}`;
}

function factWords([predicate, x = '', y = '']: Atom, named: ReadonlyMap<string, string>): string {
  const [a, b] = [x, y].map((symbol) => `the ${named.get(symbol) ?? symbol}`);
  switch (predicate) {
    case 'on':
      return `${a} is on ${b}`;
    case 'ontable':
      return `${a} is on the table`;
    case 'clear':
      return `nothing is on ${a}`;
    case 'holding':
      return `the hand holds ${a}`;
    default:
      return 'the hand is empty';
  }
}

/** Blocksworld step by step. Actions are written in words or as `(stack a b)`. */
export const blocksWorld: World = {
  id: 'blocksworld',
  version: BLOCKSWORLD_VERSION,
  open(item) {
    const { table, ground, max_steps } = tableOf(worldData(item, 'blocksworld', BLOCKSWORLD_VERSION));
    const byText = new Map(
      ground.actions.flatMap((action) => textsOf(action, table).map((text) => [text, action])),
    );
    const moves = ground.actions.map((action) => ({ action, text: wordsOf(action, table) }));
    return episodeOf<State>(
      {
        take(state, text) {
          const action = byText.get(foldAction(text));
          if (action === undefined || !isApplicable(state, action))
            return { state, observation: 'That is not possible.', valid: false };
          const next = applied(state, action);
          const done = isSolved(ground, next) ? ' The goal is reached.' : '';
          return { state: next, observation: `Done.${done}`, valid: true };
        },
        admissible: (state) =>
          moves.filter(({ action }) => isApplicable(state, action)).map(({ text }) => text),
        won: (state) => isSolved(ground, state),
      },
      { state: ground.init, opening: `${blocksRules}\n\n${blocksOpening(table)}`, max_steps, skills },
    );
  },
  solve(item) {
    const { table, ground } = tableOf(worldData(item, 'blocksworld', BLOCKSWORLD_VERSION));
    const found = findPlan(ground, { heuristic: misplaced(ground, table.goal) });
    return found.status === 'solved' ? found.plan.map((action) => wordsOf(action, table)) : null;
  },
};

function tableOf(data: DataReader): {
  readonly table: Table;
  readonly ground: Ground;
  readonly max_steps: number;
} {
  const objects = data.map('objects');
  const symbols = Object.values(objects);
  const table = { objects, init: data.lists('init'), goal: data.lists('goal') };
  if (symbols.length > 12) throw data.fail(`it has ${symbols.length} blocks, over 12`);
  const unknown = [...table.init, ...table.goal].find(
    ([name = '', ...args]) =>
      blocksworldDomain.predicates[name]?.length !== args.length ||
      args.some((arg) => !symbols.includes(arg)),
  );
  if (unknown !== undefined) throw data.fail(`"${unknown.join(' ')}" is no fact of its blocks`);
  const ground = groundProblem(blocksworldDomain, {
    name: 'table',
    objects: Object.fromEntries(symbols.map((symbol) => [symbol, 'block'])),
    init: table.init,
    goals: [table.goal],
  });
  return { table, ground, max_steps: data.whole('max_steps', { min: 1, max: MAX_STEPS }) };
}

function wordsOf({ operator, objects }: GroundAction, table: Table): string {
  const names = Object.entries(table.objects);
  const [a, b] = objects.map((symbol) => `the ${names.find(([, s]) => s === symbol)?.[0] ?? symbol}`);
  switch (operator) {
    case 'pick-up':
      return `pick up ${a}`;
    case 'put-down':
      return `put down ${a}`;
    case 'stack':
      return `stack ${a} on ${b}`;
    default:
      return `unstack ${a} from ${b}`;
  }
}

const textsOf = (action: GroundAction, table: Table): string[] => {
  const words = wordsOf(action, table);
  const plan = [action.operator, ...action.objects].join(' ');
  return [
    words,
    words.replace(' on the ', ' on top of the ').replace(' from the ', ' from on top of the '),
    `(${plan})`,
    plan,
  ];
};
