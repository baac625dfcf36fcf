import type { Rng } from '@perwatt/core';
import { shuffled } from '../../random.js';
import { factsIn, type Ground, type State } from '../strips/ground.js';
import type { Atom } from '../strips/model.js';

/** Towers of blocks, each from the table up. */
export type Towers = readonly (readonly string[])[];

/** Towers at random: blocks in random order, each on the table or on the one before with even chance. */
export function randomTowers(rng: Rng, blocks: readonly string[]): Towers {
  const towers: string[][] = [];
  for (const block of shuffled(rng, blocks)) {
    const last = towers.at(-1);
    if (last === undefined || rng() < 0.5) towers.push([block]);
    else last.push(block);
  }
  return towers.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}

/** What lies on what, as facts. */
export const onFacts = (towers: Towers): Atom[] =>
  towers.flatMap((tower) => tower.slice(1).map((block, i): Atom => ['on', block, tower[i] ?? '']));

/** All facts of a table with an empty hand. */
export const tableFacts = (towers: Towers): Atom[] => [
  ['handempty'],
  ...towers.map(([bottom = '']): Atom => ['ontable', bottom]),
  ...onFacts(towers),
  ...towers.map((tower): Atom => ['clear', tower.at(-1) ?? '']),
];

/**
 * Fewest actions that Blocksworld may still need: two for each block that has to move, one for one in the hand. A block has to
 * move when it stands where the goal doesn't want it, where another is wanted, or on a block that has to move.
 */
export function misplaced(ground: Ground, goal: readonly Atom[]): (state: State) => number {
  const under = new Map(goal.map(([, x = '', y = '']): [string, string] => [x, y]));
  const over = new Map(goal.map(([, x = '', y = '']): [string, string] => [y, x]));
  return (state) => {
    const facts = factsIn(ground, state).map((fact) => fact.split(' '));
    const support = new Map(
      facts.filter(([name]) => name === 'on').map(([, x = '', y = '']): [string, string] => [x, y]),
    );
    const moving = (block: string): boolean => {
      const below = support.get(block);
      const wanted = under.get(block);
      if (below === undefined) return wanted !== undefined;
      const other = over.get(below);
      return (
        (wanted !== undefined && wanted !== below) ||
        (other !== undefined && other !== block) ||
        moving(below)
      );
    };
    const placed = facts.flatMap(([name, x = '']) => (name === 'on' || name === 'ontable' ? [x] : []));
    const hand = facts.some(([name]) => name === 'holding') ? 1 : 0;
    return hand + 2 * placed.filter(moving).length;
  };
}
