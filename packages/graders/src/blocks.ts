/** The four operators of Blocksworld under the names of one domain. */
export interface BlocksNames {
  readonly pickUp: string;
  readonly putDown: string;
  readonly stack: string;
  readonly unstack: string;
  readonly clear: string;
  readonly onTable: string;
  readonly handEmpty: string;
  readonly holding: string;
  readonly on: string;
}

/** A step of a plan: the operator's name in its domain and its objects. */
export interface PlanStep {
  readonly action: string;
  readonly objects: readonly string[];
}

/** Names of the plain domain and of PlanBench's obfuscated one. */
export const blocksNames: Readonly<Record<'blocksworld' | 'mystery-blocksworld', BlocksNames>> = {
  blocksworld: {
    pickUp: 'pick-up',
    putDown: 'put-down',
    stack: 'stack',
    unstack: 'unstack',
    clear: 'clear',
    onTable: 'ontable',
    handEmpty: 'handempty',
    holding: 'holding',
    on: 'on',
  },
  'mystery-blocksworld': {
    pickUp: 'attack',
    putDown: 'succumb',
    stack: 'overcome',
    unstack: 'feast',
    clear: 'province',
    onTable: 'planet',
    handEmpty: 'harmony',
    holding: 'pain',
    on: 'craves',
  },
};

interface Effect {
  readonly pre: readonly string[];
  readonly add: readonly string[];
  readonly del: readonly string[];
}

const fact = (...parts: readonly string[]) => parts.join(' ');

function effectOf({ action, objects }: PlanStep, n: BlocksNames): Effect | null {
  const [x, y] = objects;
  if (x === undefined) return null;
  if (objects.length === 1 && action === n.pickUp) {
    const free = [fact(n.clear, x), fact(n.onTable, x), n.handEmpty];
    return { pre: free, add: [fact(n.holding, x)], del: free };
  }
  if (objects.length === 1 && action === n.putDown) {
    const held = [fact(n.holding, x)];
    return { pre: held, add: [fact(n.clear, x), n.handEmpty, fact(n.onTable, x)], del: held };
  }
  if (objects.length !== 2 || y === undefined) return null;
  if (action === n.stack) {
    const pre = [fact(n.clear, y), fact(n.holding, x)];
    return { pre, add: [n.handEmpty, fact(n.clear, x), fact(n.on, x, y)], del: pre };
  }
  if (action === n.unstack) {
    const pre = [fact(n.on, x, y), fact(n.clear, x), n.handEmpty];
    return { pre, add: [fact(n.holding, x), fact(n.clear, y)], del: pre };
  }
  return null;
}

/**
 * Carries out a plan. Null when it is valid: every step possible where it stands, and the goal part of the last state;
 * else why not, in words. Steps count from 1.
 */
export function planFault(
  steps: readonly PlanStep[],
  names: BlocksNames,
  problem: {
    readonly init: readonly (readonly string[])[];
    readonly goal: readonly (readonly string[])[];
  },
): string | null {
  const state = new Set(problem.init.map((parts) => fact(...parts)));
  for (const [i, step] of steps.entries()) {
    const effect = effectOf(step, names);
    const text = `step ${i + 1} (${fact(step.action, ...step.objects)})`;
    if (effect === null) return `${text} is no action with ${step.objects.length} objects`;
    const missing = effect.pre.find((pre) => !state.has(pre));
    if (missing !== undefined) return `${text} needs ${missing}`;
    for (const del of effect.del) state.delete(del);
    for (const add of effect.add) state.add(add);
  }
  const open = problem.goal.map((parts) => fact(...parts)).filter((goal) => !state.has(goal));
  return open.length === 0 ? null : `the plan ends without ${open.join(', ')}`;
}
