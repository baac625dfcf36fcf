import { didYouMean, type Item, PerwattError, type World } from '@perwatt/core';
import { blocksWorld } from './blocksworld/blocks-world.js';
import { detectiveWorld } from './detective/detective-world.js';
import { guessWorld } from './guess-number/guess-world.js';
import { householdWorld } from './household/household-world.js';
import { programWorld } from './program/program-world.js';
import { shopWorld } from './shop/shop-world.js';

const all: readonly World[] = [
  blocksWorld,
  householdWorld,
  programWorld,
  shopWorld,
  guessWorld,
  detectiveWorld,
];

/** Every world that generated items are set in. */
export const worlds = (): readonly World[] => all;

/** The world of a name. Throws `INPUT_INVALID` with the nearest name. */
export function worldById(id: string): World {
  const world = all.find((w) => w.id === id);
  if (world !== undefined) return world;
  const names = all.map((w) => w.id);
  throw new PerwattError('INPUT_INVALID', `unknown world "${id}"${didYouMean(id, names)}`);
}

/** The world an item is set in, by the field `world` of its data; null when it is set in none. */
export function worldOf(item: Pick<Item, 'data'>): World | null {
  const id = item.data?.['world'];
  return typeof id === 'string' ? worldById(id) : null;
}
