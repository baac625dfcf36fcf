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
 * Whether a domain's power can be that of an endpoint. This host's own sensors say nothing of another host; an external
 * meter is taken to hang where it belongs.
 */
export const coversEndpoint = ({ provenance }: Pick<Domain, 'provenance'>, endpoint: Place | null): boolean =>
  endpoint === null || !isElsewhere(endpoint) || provenance === 'external';
