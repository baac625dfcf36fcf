import { factsIn, type Ground, type State } from '../strips/ground.js';
import { MIDDLE } from './domain.js';
import type { House } from './tasks.js';
import { placeKind, withArticle } from './things.js';

/** A state of a house, read. */
export interface Scene {
  readonly at: string;
  /** The thing in the hand; null when it is empty. */
  readonly holds: string | null;
  isOpen(place: string): boolean;
  /** What lies in or on a place, whether it can be seen or not. */
  within(place: string): readonly string[];
  /** Hot, cool, clean; on or off for lamps. */
  condition(name: string): readonly string[];
}

export function sceneOf(ground: Ground, state: State, { lamps }: House): Scene {
  const facts = factsIn(ground, state).map(splitFact);
  const known = new Set(facts.map((fact) => fact.join('|')));
  const first = (predicate: string) => facts.find(([name]) => name === predicate)?.[1] ?? null;
  const lying = facts.filter(([name]) => name === 'in');
  return {
    at: first('at') ?? MIDDLE,
    holds: first('holds'),
    isOpen: (place) => placeKind(place)?.opens !== true || known.has(`opened|${place}`),
    within: (place) => [
      ...lying.filter(([, , where]) => where === place).map(([, name = '']) => name),
      ...lamps.filter(([, where]) => where === place).map(([name = '']) => name),
    ],
    condition: (name) => ['hot', 'cool', 'clean', 'on'].filter((word) => known.has(`${word}|${name}`)),
  };
}

/** Names hold blanks, so that a fact is cut before each `name number`, and before the middle of the room. */
function splitFact(fact: string): string[] {
  const [predicate = '', ...rest] = fact.split(' ');
  const args = rest.join(' ');
  return args === MIDDLE ? [predicate, args] : [predicate, ...(args.match(/[a-z]+ \d+/g) ?? [])];
}

const listed = (names: readonly string[]): string =>
  names.length === 0
    ? 'nothing'
    : names
        .map(withArticle)
        .join(', ')
        .replace(/, (?=[^,]*$)/, ' and ');

/** What a place shows. */
export function shown(place: string, scene: Scene): string {
  const { opens, inside } = placeKind(place) ?? {};
  if (!scene.isOpen(place)) return `The ${place} is closed.`;
  const open = opens === true ? `The ${place} is open. ` : '';
  return `${open}${inside === true ? 'In' : 'On'} the ${place} there is ${listed(scene.within(place))}.`;
}

/** The first look around. */
export const roomWords = ({ places }: House): string =>
  `You stand in the middle of a room. Around you there are ${listed(places)}.`;

export function lookWords(scene: Scene, house: House): string {
  return scene.at === MIDDLE ? roomWords(house) : `You are at the ${scene.at}. ${shown(scene.at, scene)}`;
}

export const inventoryWords = ({ holds }: Scene): string =>
  holds === null ? 'Your hand is empty.' : `You hold ${withArticle(holds)}.`;

/** What is to be seen of a thing or place, or null when it isn't within sight. */
export function examineWords(name: string, scene: Scene): string | null {
  if (name === scene.at) return shown(name, scene);
  const isNear = scene.holds === name || (scene.isOpen(scene.at) && scene.within(scene.at).includes(name));
  if (!isNear) return null;
  const condition = scene.condition(name);
  return condition.length === 0
    ? `There is nothing special about the ${name}.`
    : `The ${name} is ${condition.join(' and ')}.`;
}
