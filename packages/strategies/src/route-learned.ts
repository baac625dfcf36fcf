import type { Strategy } from '@perwatt/core';
import * as z from 'zod';
import { candidateOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { routedCall } from './route-threshold.js';
import { outcomeOf } from './votes.js';

/** Parameters of a fitted router. */
export const RouteLearnedParams = z.strictObject({
  router: z.string().min(1).describe('File of a fitted router, as `perwatt route --out` writes it'),
  threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe(
      'Items whose probability of needing the strong model reaches this go there; default: as it was fitted',
    ),
  strong: endpointName.default('strong').describe('Endpoint of the stronger model'),
  weak: endpointName.default('weak').describe('Endpoint of the weaker model'),
  ...samplingFields(0),
});
/** Parameters that were checked, defaults filled in. */
export type RouteLearnedParams = z.infer<typeof RouteLearnedParams>;

/** Sends an item to the strong endpoint when a fitted router says that it needs it. */
export const routeLearned: Strategy<RouteLearnedParams> = {
  id: 'route_learned',
  version: 1,
  summary: 'sends each item to a strong or a weak model as a fitted router says',
  needs: ({ strong, weak, router }) => ({ endpoints: [...new Set([weak, strong])], router }),
  params: parameters('route_learned', RouteLearnedParams),
  calls: () => 1,
  async *run(item, params, context) {
    const { router } = context;
    if (router === undefined) throw new RangeError('the strategy needs a router and was given none');
    const { threshold = router.threshold } = params;
    const score = router.score(item.prompt);
    const endpoint = score >= threshold ? params.strong : params.weak;
    const results = yield [routedCall(item, endpoint, { params, context })];
    return outcomeOf(
      results[0],
      results.map((result) => candidateOf(result, context.answers)),
      [`probability ${score.toFixed(4)} against ${threshold}: ${endpoint}`],
    );
  },
};
