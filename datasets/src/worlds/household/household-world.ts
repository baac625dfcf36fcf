import type { World } from '@perwatt/core';
import { episodeOf, foldAction, type Rules, type Turn } from '../episode.js';
import {
  applied,
  type Ground,
  type GroundAction,
  groundProblem,
  isApplicable,
  isSolved,
  type State,
} from '../strips/ground.js';
import { type DataReader, MAX_STEPS, worldData } from '../world-data.js';
import { commandOf, type Glance, glanceOf, plainCommand } from './commands.js';
import { householdDomain, householdProblem } from './domain.js';
import { examineWords, inventoryWords, lookWords, roomWords, type Scene, sceneOf, shown } from './scene.js';
import { householdSkills } from './skills.js';
import { shortestPlan } from './solve.js';
import { type House, type Task, taskTypes, taskWords, waysOf } from './tasks.js';
import { placeKind, thingKind } from './things.js';

export const HOUSEHOLD_VERSION = 1;

/** The commands, for prompts. */
export const householdCommands = `You act by commands, one at a time; you can carry one thing:
- go to PLACE
- open PLACE, close PLACE
- take THING from PLACE, move THING to PLACE
- clean THING with sinkbasin N, heat THING with microwave N, cool THING with fridge N (holding the thing)
- use LAMP
- examine PLACE or THING, look, inventory
Things and places have a kind and a number, like "mug 2". Closed places show what is in them once they are open.`;

/** What the actor is told at first. */
export const householdOpening = (task: Task, house: House): string =>
  `${householdCommands}\n\n${roomWords(house)}\n\nYour task: ${taskWords(task)}.`;

/** A household with ALFWorld's six types of tasks, stepped by text commands. */
export const householdWorld: World = {
  id: 'household',
  version: HOUSEHOLD_VERSION,
  open(item) {
    const { task, house, ground, max_steps } = houseOf(worldData(item, 'household', HOUSEHOLD_VERSION));
    const opening = householdOpening(task, house);
    const skills = householdSkills(task.type);
    return episodeOf(rulesOf(ground, house), { state: ground.init, opening, max_steps, skills });
  },
  solve(item) {
    const { task, house, ground } = houseOf(worldData(item, 'household', HOUSEHOLD_VERSION));
    return shortestPlan(task, house, ground)?.map(commandOf) ?? null;
  },
};

function rulesOf(ground: Ground, house: House): Rules<State> {
  const commands = new Map<string, GroundAction[]>();
  for (const action of ground.actions)
    commands.set(commandOf(action), [...(commands.get(commandOf(action)) ?? []), action]);
  const possible = (state: State, command: string) =>
    commands.get(command)?.find((a) => isApplicable(state, a));
  return {
    take(state, text): Turn<State> {
      const command = plainCommand(foldAction(text));
      const scene = sceneOf(ground, state, house);
      const glance = glanceOf(command);
      if (glance !== null) return { state, ...glanced(glance, scene, house) };
      const action = possible(state, command);
      if (action === undefined) return { state, observation: 'Nothing happens.', valid: false };
      const next = applied(state, action);
      return { state: next, observation: outcome(action, sceneOf(ground, next, house)), valid: true };
    },
    admissible(state) {
      const scene = sceneOf(ground, state, house);
      const acts = [...commands.keys()].filter((command) => possible(state, command) !== undefined);
      const near = scene.isOpen(scene.at) ? scene.within(scene.at) : [];
      const seen = [scene.at, ...near, ...(scene.holds === null ? [] : [scene.holds])].filter((name) =>
        / \d+$/.test(name),
      );
      return [...acts, ...seen.map((name) => `examine ${name}`), 'inventory', 'look'];
    },
    won: (state) => isSolved(ground, state),
  };
}

function glanced(
  glance: Glance,
  scene: Scene,
  house: House,
): { readonly observation: string; readonly valid: boolean } {
  switch (glance.kind) {
    case 'look':
      return { observation: lookWords(scene, house), valid: true };
    case 'inventory':
      return { observation: inventoryWords(scene), valid: true };
    case 'think':
      return { observation: 'OK.', valid: true };
    case 'examine': {
      const words = examineWords(glance.name, scene);
      return { observation: words ?? 'Nothing happens.', valid: words !== null };
    }
  }
}

/** What an action leads to, in words. */
function outcome({ operator, objects: [first = '', second = ''] }: GroundAction, after: Scene): string {
  switch (operator) {
    case 'go':
      return `You are now at the ${second}. ${shown(second, after)}`;
    case 'open':
      return shown(first, after);
    case 'close':
      return `You close the ${first}.`;
    case 'take':
      return `You take the ${first} from the ${second}.`;
    case 'move':
      return `You put the ${first} ${placeKind(second)?.inside === true ? 'in' : 'on'} the ${second}.`;
    case 'switch-on':
      return `The ${first} is on now.`;
    case 'switch-off':
      return `The ${first} is off now.`;
    default:
      return `The ${first} is ${after.condition(first).join(' and ')} now.`;
  }
}

const NAME = /^[a-z]+ \d+$/;
const MAX_OBJECTS = 100;

interface Furnished {
  readonly task: Task;
  readonly house: House;
  readonly ground: Ground;
  readonly max_steps: number;
}

function houseOf(data: DataReader): Furnished {
  const house = {
    places: data.texts('places'),
    things: data.lists('things', 2),
    lamps: data.lists('lamps', 2),
  };
  const names = [...house.places, ...[...house.things, ...house.lamps].map(([name = '']) => name)];
  const strange = names.find((name) => !NAME.test(name));
  if (strange !== undefined) throw data.fail(`"${strange}" is no name with a number`);
  if (names.length > MAX_OBJECTS)
    throw data.fail(`it has ${names.length} things and places, over ${MAX_OBJECTS}`);
  if (new Set(names).size < names.length) throw data.fail('two of its things or places have one name');
  const unknown =
    house.places.find((name) => placeKind(name) === undefined) ??
    house.things.find(([name = '']) => thingKind(name) === undefined)?.[0];
  if (unknown !== undefined) throw data.fail(`it has no kind of "${unknown}"`);
  const astray = [...house.things, ...house.lamps].find(([, where = '']) => !house.places.includes(where));
  if (astray !== undefined) throw data.fail(`"${astray[0]}" is in "${astray[1]}", which is no place of it`);
  const task = taskOf(data.record('task'));
  const ground = groundProblem(
    householdDomain,
    householdProblem(
      house,
      waysOf(task, house).map(({ goal }) => goal),
    ),
  );
  return { task, house, ground, max_steps: data.whole('max_steps', { min: 1, max: MAX_STEPS }) };
}

function taskOf(data: DataReader): Task {
  const named = data.text('type');
  const type = taskTypes.find((each) => each === named);
  if (type === undefined) throw data.fail(`there is no task "${named}"`);
  return { type, thing: data.text('thing'), target: data.text('target') };
}
