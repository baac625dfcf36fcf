import { below, type Random } from '../numeric/random.js';

/** Kinds of tasks. */
export const taskTypes = ['pick', 'look', 'clean', 'heat', 'cool', 'pick2'] as const;
/** Index into `taskTypes`. */
const [PICK, LOOK, CLEAN, HEAT, COOL, PICK2] = [0, 1, 2, 3, 4, 5];

export { COOL, LOOK, PICK, PICK2 };

/** Locations of a house, and most actions of an episode. */
export const LOCATIONS = 6;
export const HORIZON = 20;

/** What an agent may do, told relative to where it is. */
export const houseActions = [
  'go to the first unseen location',
  'go to the appliance',
  'go to the destination',
  'go to another seen location',
  'open',
  'take',
  'clean',
  'heat',
  'cool',
  'put',
  'use the lamp',
] as const;
export const ACTIONS = houseActions.length;
const [GO_UNSEEN, GO_APPLIANCE, GO_DESTINATION, GO_SEEN, OPEN, TAKE] = [0, 1, 2, 3, 4, 5];
const [TREAT_FIRST, PUT, LAMP] = [6, 9, 10];

/** One task: what is to be done, and where things are. */
export interface HouseTask {
  readonly type: number;
  /** Locations of the two objects, and whether each stands in a closed container. */
  readonly objects: readonly [number, number];
  readonly closed: readonly [boolean, boolean];
  readonly appliance: number;
  readonly destination: number;
}

/** A task of a type; everything else is uniform. */
export function drawTask(random: Random, type: number): HouseTask {
  return {
    type,
    objects: [below(random, LOCATIONS), below(random, LOCATIONS)],
    closed: [random.next() < 0.5, random.next() < 0.5],
    appliance: below(random, LOCATIONS),
    destination: below(random, LOCATIONS),
  };
}

/** Where an episode stands. A house forgets nothing: the same actions lead to the same state. */
export interface HouseState {
  location: number;
  /** Object in the hand: 0, 1, or −1 for none. */
  hand: number;
  /** Bits of the objects whose container was opened, that were taken, and of the locations seen. */
  opened: number;
  taken: number;
  seen: number;
  treated: boolean;
  placed: number;
  lamp: boolean;
}

/** Every episode starts at location 0. */
export const startState = (): HouseState => ({
  location: 0,
  hand: -1,
  opened: 0,
  taken: 0,
  seen: 1,
  treated: false,
  placed: 0,
  lamp: false,
});

const bit = (bits: number, i: number): boolean => ((bits >> i) & 1) === 1;

const isClosed = (task: HouseTask, state: HouseState, object: number): boolean =>
  task.closed[object] === true && !bit(state.opened, object);

const isHere = (task: HouseTask, state: HouseState, object: number): boolean =>
  task.objects[object] === state.location && !bit(state.taken, object);

/** The first object that lies here in the open; −1 for none. */
export function visibleObject(task: HouseTask, state: HouseState): number {
  for (let object = 0; object < 2; object++)
    if (isHere(task, state, object) && !isClosed(task, state, object)) return object;
  return -1;
}

/** Whether a closed container stands here. */
export const closedHere = (task: HouseTask, state: HouseState): boolean =>
  [0, 1].some((object) => task.objects[object] === state.location && isClosed(task, state, object));

const firstUnseen = (state: HouseState): number => {
  for (let i = 0; i < LOCATIONS; i++) if (!bit(state.seen, i)) return i;
  return state.location;
};

/** The next seen location after this one, going round. */
const nextSeen = (state: HouseState): number => {
  for (let i = 1; i < LOCATIONS; i++) {
    const location = (state.location + i) % LOCATIONS;
    if (bit(state.seen, location)) return location;
  }
  return state.location;
};

/** The action that treats what a task wants treated; −1 where nothing is. */
export const treatmentOf = (type: number): number =>
  type === CLEAN || type === HEAT || type === COOL ? TREAT_FIRST + (type - CLEAN) : -1;

/** Whether the task is done. */
export const isWon = (task: HouseTask, state: HouseState): boolean =>
  task.type === LOOK ? state.lamp : state.placed >= (task.type === PICK2 ? 2 : 1);

type Act = (task: HouseTask, state: HouseState) => void;

/** What actions do, treatments aside. */
const acts: readonly (Act | undefined)[] = [
  (_, state) => goTo(state, firstUnseen(state)),
  (task, state) => goTo(state, task.appliance),
  (task, state) => goTo(state, task.destination),
  (_, state) => goTo(state, nextSeen(state)),
  open,
  take,
  undefined,
  undefined,
  undefined,
  put,
  useLamp,
];

/** Takes one action; one that does not fit changes nothing. */
export function takeAction(task: HouseTask, state: HouseState, action: number): void {
  const act = acts[action];
  if (act !== undefined) act(task, state);
  else if (action === treatmentOf(task.type) && state.hand >= 0 && state.location === task.appliance)
    state.treated = true;
}

function goTo(state: HouseState, location: number): void {
  state.location = location;
  state.seen |= 1 << location;
}

function open(task: HouseTask, state: HouseState): void {
  for (let object = 0; object < 2; object++)
    if (task.objects[object] === state.location) state.opened |= 1 << object;
}

function take(task: HouseTask, state: HouseState): void {
  const object = visibleObject(task, state);
  if (state.hand >= 0 || object < 0) return;
  state.hand = object;
  state.taken |= 1 << object;
  state.treated = false;
}

/** An object that should have been treated and was not is lost where it is put down. */
function put(task: HouseTask, state: HouseState): void {
  if (state.hand < 0 || state.location !== task.destination) return;
  if (treatmentOf(task.type) < 0 || state.treated) state.placed += 1;
  state.hand = -1;
  state.treated = false;
}

function useLamp(task: HouseTask, state: HouseState): void {
  if (task.type === LOOK && state.hand >= 0 && state.location === task.appliance) state.lamp = true;
}

const count = (bits: number): number => {
  let n = 0;
  for (let i = 0; i < LOCATIONS; i++) n += (bits >> i) & 1;
  return n;
};

/** Most locations seen that a policy tells apart from fewer. */
const SEEN_CAP = 3;

/** Where a policy sees itself: at the destination, else at the appliance, else elsewhere. */
const positionOf = ({ destination, appliance }: HouseTask, { location }: HouseState): number => {
  if (location === destination) return 2;
  return location === appliance ? 1 : 0;
};

/** What a policy sees: the class of its position, what is at hand and held, and how many locations it saw, 1 to 3 or more. */
export function observation(task: HouseTask, state: HouseState): number {
  const bits = [
    visibleObject(task, state) >= 0,
    closedHere(task, state),
    state.hand >= 0,
    state.treated,
    state.placed > 0,
  ];
  const seen = Math.min(count(state.seen), SEEN_CAP) - 1;
  const situation = bits.reduce((code, own) => code * 2 + (own ? 1 : 0), positionOf(task, state));
  return situation * SEEN_CAP + seen;
}

/** Observations there are. */
export const OBSERVATIONS = 3 * 32 * SEEN_CAP;

/** A whole state as one number: equal for equal states of a task, so that a replay can be checked at every step. */
export function anchorOf(state: HouseState): number {
  const parts: readonly (readonly [value: number, of: number])[] = [
    [state.location, LOCATIONS],
    [state.hand + 1, 3],
    [state.opened, 4],
    [state.taken, 4],
    [state.treated ? 1 : 0, 2],
    [state.placed, 3],
    [state.lamp ? 1 : 0, 2],
    [state.seen, 64],
  ];
  return parts.reduce((code, [value, of]) => code * of + value, 0);
}

/**
 * What a privileged skill text would advise: search, take, treat, deliver. Imperfect on purpose: on `cool` it walks past
 * closed containers.
 */
export function skillAction(task: HouseTask, state: HouseState): number {
  return state.hand < 0 ? searchAction(task, state) : deliverAction(task, state);
}

function searchAction(task: HouseTask, state: HouseState): number {
  if (visibleObject(task, state) >= 0) return TAKE;
  if (task.type !== COOL && closedHere(task, state)) return OPEN;
  return count(state.seen) < LOCATIONS ? GO_UNSEEN : GO_SEEN;
}

function deliverAction(task: HouseTask, state: HouseState): number {
  const treatment = task.type === LOOK ? LAMP : treatmentOf(task.type);
  if (treatment >= 0 && !state.treated) return state.location === task.appliance ? treatment : GO_APPLIANCE;
  return state.location === task.destination ? PUT : GO_DESTINATION;
}
