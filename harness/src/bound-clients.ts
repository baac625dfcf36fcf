import type { EndpointFacts } from '@perwatt/core';
import { PerwattError } from '@perwatt/core';
import type { OpenClient } from './client-pool.js';

/** An open client behind an endpoint of a strategy. */
export interface BoundClient extends OpenClient {
  /** Id of the model in tables, and its name as its server knows it. */
  readonly model: string;
  readonly request_model: string;
}

/** By the names that the strategy calls them by; `main` is always there. Names may share a client. */
export type BoundClients = ReadonlyMap<string, BoundClient>;

/** The client behind an endpoint. Throws `ENDPOINT_UNKNOWN` where there is none. */
export function clientFor(clients: BoundClients, endpoint: string): BoundClient {
  const bound = clients.get(endpoint);
  if (bound !== undefined) return bound;
  throw new PerwattError(
    'ENDPOINT_UNKNOWN',
    `the strategy called endpoint "${endpoint}", which stands for no model; it has ${[...clients.keys()].join(', ')}`,
  );
}

/** What answers behind them, each once. */
export const factsOf = (clients: BoundClients): EndpointFacts[] => [
  ...new Set([...clients.values()].map(({ facts }) => facts)),
];
