import { didYouMean, PerwattError, type Strategy } from '@perwatt/core';
import { selfConsistency } from './self-consistency.js';
import { single } from './single.js';

const all: readonly Strategy[] = [erased(single), erased(selfConsistency)];

/** A strategy whose parameters are checked where they come in and opaque to whoever runs it. */
function erased<P>(strategy: Strategy<P>): Strategy {
  const { parse } = strategy.params;
  return {
    ...strategy,
    needs: (params) => strategy.needs(parse(params)),
    calls: (params) => strategy.calls(parse(params)),
    run: (item, params, context) => strategy.run(item, parse(params), context),
  };
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
