import { didYouMean, type ParameterInfo, PerwattError, type Strategy } from '@perwatt/core';
import { bestOfN } from './best-of-n.js';
import { type Budget, budgeted, parseBudget } from './budget.js';
import { budgetForcing } from './budget-forcing.js';
import { cascade } from './cascade.js';
import { computeOptimal } from './compute-optimal.js';
import { debate } from './debate.js';
import { delegate } from './delegate.js';
import { envReact } from './env-react.js';
import { evolve } from './evolve.js';
import { minion } from './minion.js';
import { minions } from './minions.js';
import { proposeSolve } from './propose-solve.js';
import { proveVerifyRefine } from './prove-verify-refine.js';
import { repeatedSampling } from './repeated-sampling.js';
import { routeLearned } from './route-learned.js';
import { routeThreshold } from './route-threshold.js';
import { selfConsistency } from './self-consistency.js';
import { sequentialRevision } from './sequential-revision.js';
import { single } from './single.js';
import { spawnJoin } from './spawn-join.js';
import { teamVote } from './team-vote.js';
import { weightedVote } from './weighted-vote.js';

const all: readonly Strategy[] = [
  erased(single),
  erased(selfConsistency),
  erased(weightedVote),
  erased(bestOfN),
  erased(repeatedSampling),
  erased(sequentialRevision),
  erased(computeOptimal),
  erased(budgetForcing),
  erased(debate),
  erased(proveVerifyRefine),
  erased(delegate),
  erased(spawnJoin),
  erased(teamVote),
  erased(envReact),
  erased(routeThreshold),
  erased(routeLearned),
  erased(cascade),
  erased(minion),
  erased(minions),
  erased(proposeSolve),
  erased(evolve),
];

/**
 * A strategy whose parameters are checked where they come in and opaque to whoever runs it. All take `budget`, what a query may
 * spend, beside their own.
 */
function erased<P extends object>(strategy: Strategy<P>): Strategy {
  const within = ({ budget }: Split<P>) => (budget === undefined ? strategy : budgeted(strategy, budget));
  return {
    ...strategy,
    params: {
      describe: () => [...(strategy.params.describe?.() ?? []), budgetInfo],
      parse(input) {
        const { own, budget } = split<object>(input ?? {});
        const params = strategy.params.parse(own);
        return budget === undefined ? params : { ...params, budget: parseBudget(strategy.id, budget) };
      },
    },
    needs(params) {
      const { own, budget } = split<P>(params);
      return { ...strategy.needs(own), ...(budget?.joules !== undefined && { energy: true as const }) };
    },
    calls(params) {
      const parts = split<P>(params);
      return within(parts).calls(parts.own);
    },
    run(item, params, context) {
      const parts = split<P>(params);
      return within(parts).run(item, parts.own, context);
    },
  };
}

const budgetInfo: ParameterInfo = {
  name: 'budget',
  type: '{ calls, tokens, seconds, joules }',
  default: null,
  summary: 'What a query may spend; what is left out is not limited',
};

interface Split<P> {
  readonly own: P;
  readonly budget?: Budget;
}

function split<P>(params: unknown): Split<P> {
  const { budget, ...own } = params as { readonly budget?: Budget };
  return { own: own as P, ...(budget !== undefined && { budget }) };
}

/** Every strategy there is, by name. */
export const strategies = (): readonly Strategy[] => all;

/** The strategy of a name. Throws `STRATEGY_UNKNOWN` with the nearest name. */
export function strategyById(id: string): Strategy {
  const strategy = all.find((s) => s.id === id);
  if (strategy !== undefined) return strategy;
  const names = all.map((s) => s.id);
  throw new PerwattError('STRATEGY_UNKNOWN', `unknown strategy "${id}"${didYouMean(id, names)}`);
}
