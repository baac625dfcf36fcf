import type { Random } from '../numeric/random.js';
import { below } from '../numeric/random.js';
import type { Trajectory } from './student.js';

/** A point that failed trajectories have in common: they took the same first `depth` actions. */
export interface PrefixNode {
  readonly depth: number;
  /** Indices of the trajectories that pass through it. */
  readonly members: readonly number[];
}

/** Deepest node of single trajectories that is tried where no two share more than the start. */
const SHALLOW = 4;

/** Which points count: all that at least two trajectories share, or only those where they part. */
export type Nodes = 'shared' | 'parting';

/** Nodes that a teacher may take over at, the root among them: shared ones, or else the first few steps of each. */
export function prefixNodes(failed: readonly Trajectory[], which: Nodes): PrefixNode[] {
  const nodes = new Map<string, { depth: number; members: number[]; next: Set<number> }>();
  failed.forEach(({ actions }, index) => {
    let key = '';
    for (let depth = 0; depth < actions.length; depth++) {
      const node = nodes.get(key) ?? { depth, members: [], next: new Set() };
      node.members.push(index);
      node.next.add(actions[depth] ?? 0);
      nodes.set(key, node);
      key += `${actions[depth]},`;
    }
  });
  const all = [...nodes.values()];
  const shared = all.filter(
    ({ depth, members, next }) => depth > 0 && (which === 'shared' ? members.length : next.size) >= 2,
  );
  const chosen = shared.length > 0 ? shared : all.filter(({ depth }) => depth >= 1 && depth <= SHALLOW);
  return [...all.filter(({ depth }) => depth === 0), ...chosen];
}

/** Which nodes are tried, one after the other: from the deepest up its ancestors, or drawn ones. */
export type Backtracking = 'deepest' | 'random';

/** Most nodes that are tried in a group. */
const MOST_NODES = 3;

/**
 * The nodes to try. Deepest first: the deepest one (the one with most members among equals), then its nearest ancestors.
 */
export function nodesToTry(
  nodes: readonly PrefixNode[],
  backtracking: Backtracking,
  random: Random,
): PrefixNode[] {
  if (backtracking === 'random') return drawn(nodes, random);
  const byDepth = [...nodes].sort((a, b) => b.depth - a.depth || b.members.length - a.members.length);
  const [deepest] = byDepth;
  if (deepest === undefined) return [];
  const chain = byDepth.filter(
    (node) => node === deepest || (node.depth < deepest.depth && covers(node, deepest)),
  );
  return chain.slice(0, MOST_NODES);
}

/** Of nodes at different depths: whether one is an ancestor, which holds all members of the other. */
const covers = (ancestor: PrefixNode, node: PrefixNode): boolean =>
  node.members.every((member) => ancestor.members.includes(member));

function drawn(nodes: readonly PrefixNode[], random: Random): PrefixNode[] {
  const rest = [...nodes];
  const chosen: PrefixNode[] = [];
  while (rest.length > 0 && chosen.length < MOST_NODES)
    chosen.push(...rest.splice(below(random, rest.length), 1));
  return chosen;
}
