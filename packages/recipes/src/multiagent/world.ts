import { below, createRandom, normal, type Random } from '../numeric/random.js';
import { actionAt, createTable, type SoftmaxTable } from '../numeric/softmax.js';

/** Types of items, ways to solve one, and members of a team. */
export const TYPES = 24;
export const WAYS = 5;
export const MEMBERS = 5;

/** The right answer; 1 to 7 are wrong ones. */
export const RIGHT = 0;
const WRONG = 7;
/** Share of wrong answers that are the systematic one of a way. */
const SYSTEMATIC_SHARE = 0.6;

/** How well each way does by type, and what it says when it goes wrong. */
export interface WaysWorld {
  /** By type and way, 0…1. */
  readonly accuracy: Float64Array;
  /** By type and way, 1 to 3. */
  readonly systematic: Uint8Array;
}

/** How hard the items are: in `hard` the plurality is often wrong. */
export type Regime = 'easy' | 'hard';

/** The world of a seed. */
export function createWorld(seed: number, regime: Regime): WaysWorld {
  const random = createRandom(seed, 'multiagent-world');
  const lowest = regime === 'easy' ? 0.15 : 0;
  const accuracy = Float64Array.from({ length: TYPES * WAYS }, () => lowest + 0.7 * random.next());
  const systematic = Uint8Array.from({ length: TYPES * WAYS }, () => 1 + below(random, 3));
  return { accuracy, systematic };
}

/** Share of systematic answers among wrong ones, by regime. */
export const systematicShare = (regime: Regime): number => (regime === 'easy' ? SYSTEMATIC_SHARE : 0.9);

/** A generator as all members start from: nearly indifferent between ways. */
export function createGenerator(seed: number): SoftmaxTable {
  const random = createRandom(seed, 'multiagent-generator');
  const table = createTable(TYPES, WAYS);
  for (let i = 0; i < table.logits.length; i++) table.logits[i] = 0.3 * normal(random);
  return table;
}

/** What one attempt at an item was: the way, and the answer it led to. */
export interface Attempt {
  readonly way: number;
  readonly answer: number;
}

/** What attempts are made in. */
export interface Solving {
  readonly world: WaysWorld;
  readonly systematic_share: number;
  readonly random: Random;
}

/** Tries an item of a type by a way drawn from p. */
export function attempt(
  type: number,
  p: Float64Array,
  { world, systematic_share, random }: Solving,
): Attempt {
  const way = actionAt(p, random.next());
  const place = type * WAYS + way;
  if (random.next() < (world.accuracy[place] ?? 0)) return { way, answer: RIGHT };
  const answer = random.next() < systematic_share ? (world.systematic[place] ?? 1) : 1 + below(random, WRONG);
  return { way, answer };
}
