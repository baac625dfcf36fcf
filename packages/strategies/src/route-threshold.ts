import type { Item, Strategy } from '@perwatt/core';
import * as z from 'zod';
import { attemptCall, candidateOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { outcomeOf } from './votes.js';

/** Parameters of a router that needs no fitting. */
export const RouteThresholdParams = z.strictObject({
  router: z
    .enum(['prompt_length', 'random'])
    .default('prompt_length')
    .describe('`prompt_length`: characters of the prompt; `random`: a number in [0, 1)'),
  threshold: z
    .number()
    .min(0)
    .default(400)
    .describe('Items that score this or more go to the strong endpoint'),
  strong: endpointName.default('strong').describe('Endpoint of the stronger model'),
  weak: endpointName.default('weak').describe('Endpoint of the weaker model'),
  ...samplingFields(0),
});
/** Parameters that were checked, defaults filled in. */
export type RouteThresholdParams = z.infer<typeof RouteThresholdParams>;

/**
 * Sends an item to the strong endpoint when its score reaches a threshold, else to the weak one. For a share p of strong calls the
 * threshold is the (1 − p) quantile of the scores on a calibration set; of `random` it is 1 − p.
 */
export const routeThreshold: Strategy<RouteThresholdParams> = {
  id: 'route_threshold',
  version: 1,
  summary: 'sends each item to a strong or a weak model by a score',
  needs: ({ strong, weak }) => ({ endpoints: [...new Set([weak, strong])] }),
  params: parameters('route_threshold', RouteThresholdParams),
  calls: () => 1,
  async *run(item, params, context) {
    const score = params.router === 'random' ? context.rng() : item.prompt.length;
    const endpoint = score >= params.threshold ? params.strong : params.weak;
    const results = yield [routedCall(item, endpoint, { params, context })];
    return outcomeOf(
      results[0],
      results.map((result) => candidateOf(result, context.answers)),
      [`score ${Number(score.toFixed(4))} against ${params.threshold}: ${endpoint}`],
    );
  },
};

/** The one call of a routed item. */
export const routedCall = (item: Item, endpoint: string, options: Parameters<typeof attemptCall>[1]) =>
  attemptCall(item, options, { branch: 0, endpoint });
