import { seedFrom } from '@perwatt/core';
import * as z from 'zod';
import { createRandom } from '../numeric/random.js';
import { defineRecipe, type Trainer } from '../recipe.js';
import { drawQuery, needsCloud, type RouterQuery, routedQuality, routerLogit } from './queries.js';
import { routerModelOf } from './router-model.js';

/** Parameters of `router_fit`. */
export const RouterFitParams = z.strictObject({
  steps: z.int().min(1).max(100_000).default(300).describe('Gradient steps over all training queries'),
  queries: z.int().min(10).max(1_000_000).default(2000).describe('Training queries'),
  lr: z.number().gt(0).max(100).default(2).describe('Step length'),
  noise: z.number().min(0).max(10).default(0.15).describe('How badly difficulty can be seen'),
  eval_items: z.int().min(10).max(1_000_000).default(2000).describe('Held-out queries'),
  eval_every: z.int().min(1).default(30).describe('Steps between two evaluations'),
});
type Params = z.infer<typeof RouterFitParams>;

/** A `router_fit` trainer with its model. */
export interface RouterTrainer extends Trainer {
  /** Weights of the intercept and of the three features. */
  readonly weights: Float64Array;
  readonly test: readonly RouterQuery[];
  readonly params: Params;
  /** Training queries that need the cloud. */
  readonly positives: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function queriesOf(
  seed: number,
  purpose: string,
  { count, noise }: { readonly count: number; readonly noise: number },
) {
  const random = createRandom(seedFrom(seed, purpose), 'router');
  return Array.from({ length: count }, () => drawQuery(random, noise));
}

function start(params: Params, seed: number): RouterTrainer {
  const { noise } = params;
  const training = queriesOf(seed, 'training', { count: params.queries, noise });
  const test = queriesOf(seed, 'held-out', { count: params.eval_items, noise });
  const weights = new Float64Array(4);
  const counters = new Float64Array(1);
  return {
    weights,
    test,
    params,
    positives: training.filter(needsCloud).length,
    state: { weights, counters },
    get step() {
      return counters[0] ?? 0;
    },
    train() {
      const reward = ascendLikelihood(weights, training, params.lr);
      counters[0] = (counters[0] ?? 0) + 1;
      return {
        step: counters[0],
        tokens: training.length,
        env_actions: 0,
        privileged_actions: 0,
        calls: 0,
        verification_tokens: counters[0] === 1 ? 2 * training.length : 0,
        updates: 1,
        rejected_updates: 0,
        reward,
      };
    },
    evaluate() {
      const scores = Float64Array.from(test, (query) => routerLogit(weights, query));
      const toCloud = new Set([...test.keys()].sort(byScore(scores)).slice(0, test.length / 2));
      const right = test.map(({ cloud_right, local_right }, i) =>
        (toCloud.has(i) ? cloud_right : local_right) ? 1 : 0,
      );
      const figures = routedQuality(test, scores);
      return {
        step: counters[0] ?? 0,
        scores: Float64Array.from(right),
        tokens: test.length,
        calls: test.length,
        measures: { ...figures },
      };
    },
  };
}

/** One step up the mean log-likelihood of all queries, which is returned as it was before. */
function ascendLikelihood(weights: Float64Array, queries: readonly RouterQuery[], lr: number): number {
  const gradient = new Float64Array(weights.length);
  let likelihood = 0;
  for (const query of queries) {
    const p = sigmoid(routerLogit(weights, query));
    const needs = needsCloud(query);
    likelihood += Math.log(needs ? p : 1 - p);
    [1, ...query.features].forEach((value, i) => {
      gradient[i] = (gradient[i] ?? 0) + ((needs ? 1 : 0) - p) * value;
    });
  }
  weights.forEach((weight, i) => {
    weights[i] = weight + (lr * (gradient[i] ?? 0)) / queries.length;
  });
  return likelihood / queries.length;
}

/** Falling order of scores; those of one score keep theirs, so that a router without weights routes by chance. */
const byScore = (scores: Float64Array) => (a: number, b: number) => (scores[b] ?? 0) - (scores[a] ?? 0);

/** A router between a local and a cloud model. */
export const routerFit = defineRecipe({
  id: 'router_fit',
  version: 1,
  title: 'Learned router',
  summary: 'a logistic model learns which queries need the cloud; it loads in the strategy route_learned',
  effort: 'tokens',
  claims: [
    {
      text: 'An oracle is at least as good as the learned router, and that at least as good as chance.',
      status: 'supported',
    },
    { text: 'The worse difficulty can be seen, the less the router recovers.', status: 'supported' },
    { text: 'A threshold hits the requested share of cloud calls within one point.', status: 'supported' },
    {
      text: 'A router that is right 80 % of the time keeps 80 % of the savings at equal quality.',
      status: 'not_supported',
    },
  ],
  params: RouterFitParams,
  length: ({ steps, eval_every }) => ({ steps, eval_every }),
  start,
  model: {
    name: 'router',
    of: (trainer, seed) =>
      routerModelOf(trainer, { weak: 'local', strong: 'cloud', strong_share: 0.5, seed }),
  },
});
