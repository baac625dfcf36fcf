import { createRng } from '@perwatt/core';
import { sigmoid } from './logistic.js';
import type { RouteOptions, RoutingItem } from './routing-items.js';

/** A simulated local and cloud model; what each got right in two repeats, and noisy features of each item. */
export interface SimulatedRouting {
  readonly repeats: readonly [RoutingItem[], RoutingItem[]];
  readonly features: ReadonlyMap<string, readonly number[]>;
}

export const simulatedOptions: RouteOptions & { readonly weak: string } = {
  models: ['local', 'cloud'],
  weak: 'local',
  strong: 'cloud',
  resource: 'energy_j',
};

/**
 * Items of a difficulty d in [0, 1] and a domain 0 or 1: local is right with σ(9(0.62 − domain/4 − d) + 0.6), cloud with
 * σ(9(1.25 − d)); 20 and 120 J. Features: d with normal noise, the domain, and a normal distractor.
 */
export function simulateRouting(
  n: number,
  { seed, noise }: { readonly seed: number; readonly noise: number },
): SimulatedRouting {
  const random = createRng(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const repeats: [RoutingItem[], RoutingItem[]] = [[], []];
  const features = new Map<string, readonly number[]>();
  for (let i = 0; i < n; i++) {
    const [d, domain] = [random(), random() < 0.5 ? 0 : 1];
    const chance = { local: sigmoid(9 * (0.62 - 0.25 * domain - d) + 0.6), cloud: sigmoid(9 * (1.25 - d)) };
    const item_id = `i${seed}-${i}`;
    features.set(item_id, [d + noise * normal(), domain, normal()]);
    for (const repeat of repeats)
      repeat.push({
        item_id,
        outcomes: {
          local: { score: random() < chance.local ? 1 : 0, energy_j: 20, flop: 1e12, cost_usd: 0 },
          cloud: { score: random() < chance.cloud ? 1 : 0, energy_j: 120, flop: 9e12, cost_usd: 0.01 },
        },
      });
  }
  return { repeats, features };
}
