import { below, type Random } from '../numeric/random.js';
import { actionAt, probabilities, type SoftmaxTable } from '../numeric/softmax.js';
import { type ActorPolicy, act, CLONE, type Episode, ROOT } from './actor.js';

/** Sizes of the pieces that a root may hand out; 0 for none: it works alone. */
export const chunkSizes = [0, 2, 3, 4] as const;

/** A policy that may delegate: the actors', and a row of chunk sizes by size of the item. */
export interface TeamPolicy extends ActorPolicy {
  readonly delegation: SoftmaxTable;
}

/** Rows of the delegation table. */
export const SIZE_BUCKETS = 4;

/** Row of the delegation table for an item of n operands. */
export const sizeBucket = (n: number): number => Math.min(Math.floor(n / 4), 3);

/** One item put once through root and clones. */
export interface Rollout {
  readonly operands: number;
  /** Index into `chunkSizes`, with the probabilities it was drawn by; null where delegation is off. */
  readonly choice: { readonly action: number; readonly p: Float64Array } | null;
  readonly root: Episode;
  readonly clones: readonly Episode[];
  readonly right: boolean;
  readonly answered: boolean;
  /** Tokens of root and clones, and those of root and longest clone. */
  readonly total_tokens: number;
  readonly sequential_tokens: number;
}

/** Operands of an item, 8 to 16. */
export const drawOperands = (random: Random): number => 8 + below(random, 9);

/** Puts an item of n operands through the policy; without delegation the root works alone. */
export function rollOut(
  policy: TeamPolicy,
  operands: number,
  { random, delegation }: { readonly random: Random; readonly delegation: 'on' | 'off' },
): Rollout {
  const choice = delegation === 'on' ? chooseChunk(policy, operands, random) : null;
  const chunk = chunkSizes[choice?.action ?? 0] ?? 0;
  const clones = groupsOf(operands, chunk)
    .filter((size) => size >= 2)
    .map((size) => act(policy, { role: CLONE, merges: size - 1, context: size }, random));
  const sound = clones.every(({ answered, right }) => right || !answered);
  const unreturned = clones.reduce((sum, clone) => sum + (clone.answered ? 0 : clone.merges), 0);
  const parts = chunk === 0 ? 0 : Math.ceil(operands / chunk);
  const task =
    chunk === 0
      ? { role: ROOT, merges: operands - 1, context: operands }
      : { role: ROOT, merges: parts - 1 + unreturned, context: operands + parts };
  const root = act(policy, task, random);
  const longest = clones.reduce((most, { tokens }) => Math.max(most, tokens), 0);
  return {
    operands,
    choice,
    root,
    clones,
    right: root.right && sound,
    answered: root.answered,
    total_tokens: clones.reduce((sum, { tokens }) => sum + tokens, root.tokens),
    sequential_tokens: root.tokens + longest,
  };
}

function chooseChunk(policy: TeamPolicy, operands: number, random: Random) {
  const p = new Float64Array(chunkSizes.length);
  probabilities(policy.delegation, sizeBucket(operands), p);
  return { action: actionAt(p, random.next()), p };
}

/** Sizes of the pieces that n operands are cut into; none without a chunk size. */
function groupsOf(operands: number, chunk: number): number[] {
  if (chunk === 0) return [];
  const sizes: number[] = [];
  for (let at = 0; at < operands; at += chunk) sizes.push(Math.min(chunk, operands - at));
  return sizes;
}

/** Tokens of the longest clone; 0 without clones. */
export const longestClone = ({ clones }: Rollout): number =>
  clones.reduce((most, { tokens }) => Math.max(most, tokens), 0);
