import {
  type Dataset,
  type Item,
  type Needs,
  PerwattError,
  type Rng,
  type SafeLanguage,
  type StrategyContext,
  type World,
} from '@perwatt/core';
import type { HarnessDeps, RouteScorer } from './deps.js';
import { gradeText } from './grade-answer.js';
import type { Cell } from './plan.js';

/** What a strategy is given beside calls, resolved before a run. */
export interface StrategyAids {
  readonly worldOf: ((item: Item) => World | null) | null;
  readonly language: SafeLanguage | null;
  readonly router: RouteScorer | null;
}

/** For strategies that need nothing but calls. */
export const noAids: StrategyAids = { worldOf: null, language: null, router: null };

interface AidsPlace {
  readonly strategy: string;
  readonly needs: Needs;
  readonly dataset: Dataset;
  /** Queries in flight at most. */
  readonly concurrency: number;
  readonly deps: HarnessDeps;
}

/**
 * Finds what a strategy needs beside its endpoints. Throws `MATRIX_INVALID` where the data set is set in no world, or nothing here
 * has the language, and what reading a router's file throws.
 */
export async function aidsOf({
  strategy,
  needs,
  dataset,
  concurrency,
  deps,
}: AidsPlace): Promise<StrategyAids> {
  const fail = (message: string, hint: string) =>
    new PerwattError('MATRIX_INVALID', `strategy "${strategy}" ${message}`, { hint });
  const { worldOf = null, language = null, routeScorer } = deps;
  const placeless = dataset.items.find((item) => (worldOf?.(item) ?? null) === null);
  if (needs.environment === true && placeless !== undefined)
    throw fail(
      `acts in a world, and data set "${dataset.id}" is set in none`,
      'Take a data set of a world; `perwatt datasets list` names them.',
    );
  if (needs.language === true && language === null)
    throw fail('runs programs, and nothing here can', 'Leave the strategy out.');
  if (needs.router !== undefined && routeScorer === undefined)
    throw fail('needs a fitted router, and nothing here can read one', 'Leave the strategy out.');
  if (needs.energy === true && concurrency > 1)
    throw fail(
      `has a budget of joules, which can't be told for one of ${concurrency} queries in flight`,
      'Set `concurrency: 1`, or a budget of calls, tokens or seconds.',
    );
  return {
    worldOf: needs.environment === true ? worldOf : null,
    language: needs.language === true ? language : null,
    router: needs.router === undefined ? null : ((await routeScorer?.(needs.router)) ?? null),
  };
}

/** What a strategy sees while it works on `item`. */
export function strategyContext(
  cell: Pick<Cell, 'grader' | 'mode' | 'max_tokens' | 'aids'>,
  item: Item,
  { rng, energy_j }: { readonly rng: Rng; readonly energy_j?: () => number | null },
): StrategyContext {
  const { grader, mode, aids, max_tokens } = cell;
  const world = aids.worldOf?.(item) ?? null;
  return {
    answers: {
      extract: (text) => grader.extract(text, item),
      same: (a, b) => grader.same(a, b),
    },
    rng,
    max_tokens,
    check: ({ text, finish }) =>
      gradeText(text, { grader, mode, item, finish_reason: finish, failed: false }).verdict === 'correct',
    ...(world !== null && { openWorld: () => world.open(item) }),
    ...(aids.language !== null && { language: aids.language }),
    ...(aids.router !== null && { router: aids.router }),
    ...(energy_j !== undefined && { energy_j }),
  };
}
