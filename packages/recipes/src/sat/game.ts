import { below, createRandom, type Random } from '../numeric/random.js';

/** Sizes of the team game. */
export const MEMBERS = 3;
export const ACTIONS = 4;
export const STATES = 12;
export const HORIZON = 3;
const JOINT = ACTIONS ** MEMBERS;

/** A game for three members without a coordinator: each state has two conventions, so that two members who change at once can miss both. */
export interface TeamGame {
  /** By state and joint action. */
  readonly reward: Float64Array;
  readonly successor: Uint8Array;
}

/** Index of a joint action. */
export const jointOf = (a: number, b: number, c: number): number => (a * ACTIONS + b) * ACTIONS + c;

/** Place of a state and joint action in a game's arrays. */
export const placeOf = (state: number, joint: number): number => state * JOINT + joint;

/** What a team earns whose members match the two conventions x and y times. */
export function rewardFor(x: number, y: number): number {
  if (x === MEMBERS) return 1;
  if (y === MEMBERS) return 0.9;
  if (x > 0 && y > 0) return -0.2;
  if (x === 2 || y === 2) return 0.25;
  return x === 1 || y === 1 ? 0.08 : 0;
}

/** One member's two conventional actions, different ones. */
function conventions(random: Random): readonly [number, number] {
  const first = below(random, ACTIONS);
  return [first, (first + 1 + below(random, ACTIONS - 1)) % ACTIONS];
}

/** The same, both different from those of the paired state. */
function otherConventions(random: Random, [a, b]: readonly [number, number]): readonly [number, number] {
  for (;;) {
    const [c, d] = conventions(random);
    if (c !== a && d !== b) return [c, d];
  }
}

/**
 * The game of a seed. States come in pairs: member 0 does the same in both, the others must tell them apart. Every state
 * and joint action has one successor.
 */
export function createGame(seed: number): TeamGame {
  const random = createRandom(seed, 'sat-game');
  const reward = new Float64Array(STATES * JOINT);
  const successor = new Uint8Array(STATES * JOINT);
  for (let pair = 0; pair < STATES; pair += 2) {
    const first = Array.from({ length: MEMBERS }, () => conventions(random));
    const second = first.map((own, member) => (member === 0 ? own : otherConventions(random, own)));
    setRewards(reward, pair, first);
    setRewards(reward, pair + 1, second);
  }
  for (let i = 0; i < successor.length; i++) successor[i] = below(random, STATES);
  return { reward, successor };
}

function setRewards(
  reward: Float64Array,
  state: number,
  members: readonly (readonly [number, number])[],
): void {
  for (let joint = 0; joint < JOINT; joint++) {
    const actions = [Math.floor(joint / 16), Math.floor(joint / 4) % 4, joint % 4];
    const matches = (which: 0 | 1) => actions.filter((a, i) => members[i]?.[which] === a).length;
    reward[placeOf(state, joint)] = rewardFor(matches(0), matches(1));
  }
}

/** Probabilities of every member's actions by state: member × state × action. */
export type TeamProbabilities = readonly Float64Array[];

/** Expected reward a step of a team, exactly, by dynamic programming over the horizon; every state as likely a start. */
export function teamValue(game: TeamGame, team: TeamProbabilities): number {
  let value = new Float64Array(STATES);
  for (let h = 0; h < HORIZON; h++) {
    const next = new Float64Array(STATES);
    for (let state = 0; state < STATES; state++) next[state] = stateValue(game, team, { state, value });
    value = next;
  }
  return value.reduce((sum, v) => sum + v, 0) / STATES / HORIZON;
}

function stateValue(
  { reward, successor }: TeamGame,
  team: TeamProbabilities,
  { state, value }: { readonly state: number; readonly value: Float64Array },
): number {
  const p = (member: number, action: number) => team[member]?.[state * ACTIONS + action] ?? 0;
  let sum = 0;
  for (let a = 0; a < ACTIONS; a++)
    for (let b = 0; b < ACTIONS; b++)
      for (let c = 0; c < ACTIONS; c++) {
        const place = placeOf(state, jointOf(a, b, c));
        const chance = p(0, a) * p(1, b) * p(2, c);
        sum += chance * ((reward[place] ?? 0) + (value[successor[place] ?? 0] ?? 0));
      }
  return sum;
}
