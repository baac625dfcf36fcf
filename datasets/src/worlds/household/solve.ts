import type { Ground, GroundAction } from '../strips/ground.js';
import { findPlan } from '../strips/search.js';
import { type House, type Task, type Way, wantedState, waysOf } from './tasks.js';
import { placeKind } from './things.js';

const MAX_STATES = 20_000;

/**
 * A shortest plan for a task; null when none is found. Each way to fulfil it is searched alone, with the things and places
 * that it needs: anything else an actor could touch only takes steps.
 */
export function shortestPlan(task: Task, house: House, ground: Ground): readonly GroundAction[] | null {
  const numbers = new Map(ground.facts.map((fact, i): [string, number] => [fact, i]));
  let best: readonly GroundAction[] | null = null;
  for (const way of waysOf(task, house)) {
    const goal = way.goal.map((atom) => numbers.get(atom.join(' ')));
    if (!goal.every((fact) => fact !== undefined)) continue;
    const found = findPlan(
      { ...ground, goals: [goal] },
      { max_states: MAX_STATES, allow: needed(task, house, way) },
    );
    if (found.status === 'solved' && (best === null || found.plan.length < best.length)) best = found.plan;
  }
  return best;
}

function needed(
  task: Task,
  { places, things }: House,
  { things: set, place, lamp }: Way,
): (action: GroundAction) => boolean {
  const state = wantedState(task.type);
  const sources = things.filter(([name = '']) => set.includes(name)).map(([, where = '']) => where);
  const tools = state === null ? [] : places.filter((name) => placeKind(name)?.makes === state);
  const visited = new Set([place, ...sources, ...tools]);
  const treatment = { clean: 'clean', hot: 'heat', cool: 'cool' } as const;
  return ({ operator, objects: [first = '', second = ''] }) => {
    switch (operator) {
      case 'go':
        return visited.has(second);
      case 'open':
        return visited.has(first);
      case 'take':
        return set.includes(first) && sources.includes(second);
      case 'move':
        return set.includes(first) && second === place;
      case 'switch-on':
        return first === lamp;
      default:
        return state !== null && operator === treatment[state] && set.includes(first);
    }
  };
}
