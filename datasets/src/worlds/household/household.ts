import type { Rng } from '@perwatt/core';
import { integer, pick, several, shuffled } from '../../random.js';
import { type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { HOUSEHOLD_VERSION, householdOpening, householdWorld } from './household-world.js';
import { type House, type Task, type TaskType, taskTypes, wantedState } from './tasks.js';
import { kindOf, placeKind, type RoomKind, roomKinds, thingKind, thingKinds } from './things.js';

interface Level extends GeneratedLevel {
  readonly places: number;
  readonly things: number;
}

const level = (places: number, things: number): Level => ({
  summary: `${places} places and ${things} things`,
  answer_tokens: 512,
  places,
  things,
});

const levels: readonly Level[] = [level(7, 6), level(12, 12), level(18, 20)];
const MAX_STEPS = 50;

/** Household tasks of ALFWorld's six types, each solved by the planner before it is used. */
export const household = generatedSet<Level>({
  id: 'household',
  version: 1,
  grader: 'environment',
  summary: 'generated household, stepped by text commands: pick, look, clean, heat, cool, pick2',
  levels,
  options: [
    { name: 'task', summary: `one of ${taskTypes.join(', ')}; default all of them, evenly` },
    { name: 'max_steps', summary: `steps after which an episode ends, 1 to 1000, default ${MAX_STEPS}` },
  ],
  prepare(size, options) {
    const only = options.oneOf('task', taskTypes);
    const max_steps = options.whole('max_steps', { min: 1, max: 1000 }) ?? MAX_STEPS;
    return (rng, index) =>
      draw(only ?? taskTypes[index % taskTypes.length] ?? 'pick', { size, max_steps, rng });
  },
});

interface Drawing {
  readonly size: Level;
  readonly max_steps: number;
  readonly rng: RngFor;
}

function draw(type: TaskType, { size, max_steps, rng }: Drawing) {
  const random = rng('house');
  const room = pick(
    random,
    roomKinds.filter((kind) => offers(kind, type)),
  );
  const task = taskIn(random, room, type);
  if (task === null) return null;
  const house = furnish(random, { room, task, size });
  const opening = householdOpening(task, house);
  const data = {
    kind: 'world',
    world: 'household',
    world_version: HOUSEHOLD_VERSION,
    ...house,
    task,
    max_steps,
  };
  const plan = householdWorld.solve({ id: 'drawn', data });
  if (plan === null || plan.length === 0 || plan.length > max_steps) return null;
  return {
    prompt: `${opening}\n\nReply with your commands in the order you would give them, one a line and nothing else.`,
    gold: plan.join('\n'),
    subject: type,
    data: { ...data, shortest: plan.length },
    identity: [house, task],
  };
}

const offers = ({ places, lamps }: RoomKind, type: TaskType): boolean => {
  const state = wantedState(type);
  if (type === 'look') return Object.keys(lamps).length > 0;
  return state === null || Object.keys(places).some((name) => placeKind(name)?.makes === state);
};

/** A task that a room can hold: what the thing has to become, and a place other than the tool it becomes so with. */
function taskIn(rng: Rng, room: RoomKind, type: TaskType): Task | null {
  const state = wantedState(type);
  const kinds = thingKinds.filter(
    ({ name, can }) => room.things.includes(name) && (state === null || can?.includes(state) === true),
  );
  const thing = pick(rng, kinds);
  const targets =
    type === 'look'
      ? Object.keys(room.lamps)
      : Object.keys(room.places).filter(
          (name) => thing.fits.includes(name) && (state === null || placeKind(name)?.makes !== state),
        );
  return targets.length === 0 ? null : { type, thing: thing.name, target: pick(rng, targets) };
}

/** A house of a size in which the task can be done and isn't yet. */
function furnish(
  rng: Rng,
  { room, task, size }: { readonly room: RoomKind; readonly task: Task; readonly size: Level },
): House {
  const places = placesIn(rng, { room, task, count: size.places });
  const lamps = Object.entries(room.lamps).flatMap(([name, stands]): [string, string][] => {
    const where = places.filter((place) => stands.includes(kindOf(place)));
    return where.length === 0 ? [] : [[`${name} 1`, pick(rng, where)]];
  });
  const wanted = Array.from(
    { length: task.type === 'pick2' ? integer(rng, 2, 3) : integer(rng, 1, 2) },
    () => task.thing,
  );
  const others = room.things.filter((name) => name !== task.thing);
  const kinds = [...wanted, ...Array.from({ length: size.things - wanted.length }, () => pick(rng, others))];
  const counts = new Map<string, number>();
  const things = kinds.flatMap((kind): [string, string][] => {
    const free = places.filter((place) => mayLie(kind, place, task));
    if (free.length === 0) return [];
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [[`${kind} ${counts.get(kind)}`, pick(rng, free)]];
  });
  return { places, things: shuffled(rng, things), lamps };
}

/** Where a thing may lie at first; a thing of the task's kind not where the task wants it. */
const mayLie = (kind: string, place: string, task: Task): boolean =>
  thingKind(kind)?.fits.includes(kindOf(place)) === true &&
  (kind !== task.thing || kindOf(place) !== task.target);

function placesIn(
  rng: Rng,
  { room, task, count }: { readonly room: RoomKind; readonly task: Task; readonly count: number },
): string[] {
  const state = wantedState(task.type);
  const needed = Object.keys(room.places).filter(
    (name) =>
      name === task.target ||
      (state !== null && placeKind(name)?.makes === state) ||
      room.lamps[task.target]?.[0] === name,
  );
  const all = Object.entries(room.places).flatMap(([name, most]) => Array.from({ length: most }, () => name));
  const rest = [...all];
  for (const name of needed) rest.splice(rest.indexOf(name), 1);
  const kinds = [...needed, ...several(rng, rest, Math.max(0, count - needed.length))].sort();
  const counts = new Map<string, number>();
  return kinds.map((kind) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return `${kind} ${counts.get(kind)}`;
  });
}
