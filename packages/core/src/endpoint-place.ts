import type { EndpointFacts } from './client.js';
import type { Domain } from './power.js';

type Place = Pick<EndpointFacts, 'kind' | 'endpoint'>;

/** Whether what answers behind an endpoint runs on another host: an HTTP address that is no loopback one. */
export function isElsewhere({ kind, endpoint }: Place): boolean {
  if (kind !== 'http') return false;
  const { hostname } = URL.canParse(endpoint) ? new URL(endpoint) : { hostname: '' };
  return !/^(localhost|.+\.localhost|127(\.\d+){1,3}|\[::1\]|)$/i.test(hostname);
}

/**
 * Whether a domain's power can be that of an endpoint: a host's own sensors say nothing of another host. An external meter
 * is taken to hang where it belongs, and an agent to run where the endpoint does. A simulated device that has a `host` is that
 * of the simulated endpoint of this name, and of no other.
 */
export function coversEndpoint(
  { provenance, host }: Pick<Domain, 'provenance' | 'host'>,
  endpoint: Place | null,
): boolean {
  if (provenance === 'external') return true;
  if (provenance === 'simulated' && host !== undefined)
    return endpoint?.kind === 'simulated' && endpoint.endpoint === host;
  return (host !== undefined) === (endpoint !== null && isElsewhere(endpoint));
}

/**
 * Of what is metered, what may be summed for a cell whose calls go to several endpoints: all that is one of theirs. Nothing where
 * an endpoint has none, since a sum over the others would be too small. Null stands for an endpoint that nothing is known of.
 */
export function coverEndpoints<T>(
  metered: readonly T[],
  endpoints: readonly (Place | null)[],
  domainOf: (one: T) => Pick<Domain, 'provenance' | 'host'>,
): T[] {
  const covers = (one: T, endpoint: Place | null) => coversEndpoint(domainOf(one), endpoint);
  if (endpoints.some((endpoint) => !metered.some((one) => covers(one, endpoint)))) return [];
  return metered.filter((one) => endpoints.some((endpoint) => covers(one, endpoint)));
}
