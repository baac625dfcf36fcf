import { applied, type Ground, type GroundAction, isApplicable, isSolved, type State } from './ground.js';

export interface SearchOptions {
  /** States that are looked at before the search gives up; default 200,000. */
  readonly max_states?: number;
  /**
   * Fewest actions that a state may still need; must not fall by more than one from a state to the next, or plans may be longer
   * than need be. Default 0: breadth first.
   */
  readonly heuristic?: (state: State) => number;
  /** Which actions are looked at; default all. */
  readonly allow?: (action: GroundAction) => boolean;
}

/** What a search found. `unsolvable` is a proof for the actions allowed, `gave_up` says only that the limit was reached. */
export type SearchResult =
  | { readonly status: 'solved'; readonly plan: readonly GroundAction[]; readonly states: number }
  | { readonly status: 'unsolvable' | 'gave_up'; readonly states: number };

interface Node {
  readonly state: State;
  readonly cost: number;
  readonly action: GroundAction | null;
  readonly before: Node | null;
}

/** A shortest plan by A*, breadth first without a heuristic. The same problem gives the same plan. */
export function findPlan(ground: Ground, options: SearchOptions = {}): SearchResult {
  const { max_states = 200_000, heuristic = () => 0, allow = () => true } = options;
  const actions = ground.actions.filter(allow);
  const open = openNodes(heuristic);
  open.add({ state: ground.init, cost: 0, action: null, before: null });
  let states = 0;
  for (let node = open.next(); node !== undefined; node = open.next()) {
    if (isSolved(ground, node.state)) return { status: 'solved', plan: planOf(node), states };
    if (states === max_states) return { status: 'gave_up', states };
    states += 1;
    for (const after of following(node, actions)) open.add(after);
  }
  return { status: 'unsolvable', states };
}

const following = (node: Node, actions: readonly GroundAction[]): Node[] =>
  actions
    .filter((action) => isApplicable(node.state, action))
    .map((action) => ({ state: applied(node.state, action), cost: node.cost + 1, action, before: node }));

/** Nodes that are still to be looked at, the most promising first; of one state only the cheapest. */
function openNodes(heuristic: (state: State) => number) {
  const costs = new Map<State, number>();
  const queue = levelled<Node>();
  return {
    add(node: Node): void {
      if (node.cost >= (costs.get(node.state) ?? Number.POSITIVE_INFINITY)) return;
      costs.set(node.state, node.cost);
      queue.push(node, node.cost + heuristic(node.state));
    },
    next(): Node | undefined {
      let node = queue.shift();
      while (node !== undefined && node.cost > (costs.get(node.state) ?? 0)) node = queue.shift();
      return node;
    },
  };
}

function planOf(last: Node): GroundAction[] {
  const plan: GroundAction[] = [];
  for (let node: Node | null = last; node !== null && node.action !== null; node = node.before)
    plan.push(node.action);
  return plan.reverse();
}

/** A queue by whole-numbered priority, lowest first; equal ones in their order. */
function levelled<T>() {
  const levels: { readonly entries: T[]; next: number }[] = [];
  let lowest = 0;
  return {
    push(entry: T, priority: number): void {
      while (levels.length <= priority) levels.push({ entries: [], next: 0 });
      levels[priority]?.entries.push(entry);
      lowest = Math.min(lowest, priority);
    },
    shift(): T | undefined {
      for (; lowest < levels.length; lowest++) {
        const level = levels[lowest];
        if (level === undefined || level.next >= level.entries.length) continue;
        level.next += 1;
        return level.entries[level.next - 1];
      }
      return undefined;
    },
  };
}
