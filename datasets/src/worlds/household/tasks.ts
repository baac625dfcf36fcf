import type { Atom } from '../strips/model.js';
import { kindOf, placeKind, withArticle } from './things.js';

/** ALFWorld's six task types. */
export const taskTypes = ['pick', 'look', 'clean', 'heat', 'cool', 'pick2'] as const;
export type TaskType = (typeof taskTypes)[number];

/** What is to be done: with any thing of a kind, in or on any place of a kind; under a lamp for `look`. */
export interface Task {
  readonly type: TaskType;
  readonly thing: string;
  /** Kind of the place, or of the lamp for `look`. */
  readonly target: string;
}

/** Things by where they are at first, places and lamps by where they stand. */
export interface House {
  readonly places: readonly string[];
  /** [thing, place]. */
  readonly things: readonly (readonly string[])[];
  /** [lamp, place]. */
  readonly lamps: readonly (readonly string[])[];
}

/** The state a task wants of its thing; null when it wants none. */
export const wantedState = (type: TaskType): 'clean' | 'hot' | 'cool' | null => {
  switch (type) {
    case 'clean':
      return 'clean';
    case 'heat':
      return 'hot';
    case 'cool':
      return 'cool';
    default:
      return null;
  }
};

/** The task in words. */
export function taskWords({ type, thing, target }: Task): string {
  const where = `${placeKind(target)?.inside === true ? 'in' : 'on'} ${withArticle(target)}`;
  switch (type) {
    case 'look':
      return `look at ${withArticle(thing)} under a ${target} that is switched on, holding it there`;
    case 'pick2':
      return `put two things of the kind "${thing}" ${where}, both the same one`;
    case 'clean':
    case 'heat':
    case 'cool':
      return `${type} ${withArticle(thing)} and put it ${where}`;
    default:
      return `put ${withArticle(thing)} ${where}`;
  }
}

/** One way to fulfil a task: which things end where. */
export interface Way {
  readonly things: readonly string[];
  /** The place, or where the lamp stands. */
  readonly place: string;
  readonly lamp: string | null;
  readonly goal: readonly Atom[];
}

/** All ways to fulfil a task in a house. */
export function waysOf(task: Task, { places, things, lamps }: House): Way[] {
  const fitting = things.map(([name = '']) => name).filter((name) => kindOf(name) === task.thing);
  if (task.type === 'look') {
    return lamps
      .filter(([lamp = '']) => kindOf(lamp) === task.target)
      .flatMap(([lamp = '', place = '']) =>
        fitting.map((thing): Way => ({ things: [thing], place, lamp, goal: lookGoal(thing, lamp, place) })),
      );
  }
  const state = wantedState(task.type);
  const sets = task.type === 'pick2' ? pairs(fitting) : fitting.map((thing) => [thing]);
  return places
    .filter((place) => kindOf(place) === task.target)
    .flatMap((place) =>
      sets.map((set): Way => {
        const goal = set.flatMap((thing): Atom[] => [
          ['in', thing, place],
          ...(state === null ? [] : [[state, thing]]),
        ]);
        return { things: set, place, lamp: null, goal };
      }),
    );
}

const lookGoal = (thing: string, lamp: string, place: string): Atom[] => [
  ['holds', thing],
  ['at', place],
  ['lit', lamp],
];

const pairs = (names: readonly string[]): string[][] =>
  names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
