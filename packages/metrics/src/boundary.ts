import { type Domain, provenances, type Scope } from '@perwatt/core';
import type { Boundary } from './cell-types.js';

/** Scopes that hold everything else of a host; a domain of one stands alone. */
const whole: readonly Scope[] = ['wall', 'system'];

/**
 * The domains summed into a cell's energy: those in their source's total, of the first provenance tier present (in the
 * order of `provenances`). A wall or system domain holds the others of its tier and takes their place. Null for none.
 */
export function boundaryOf(domains: readonly Domain[]): Boundary | null {
  const unique = [...new Map(domains.map((domain) => [domain.id, domain])).values()];
  const total = unique.filter(({ in_total }) => in_total);
  const provenance = provenances.find((tier) => total.some((domain) => domain.provenance === tier));
  if (provenance === undefined) return null;
  const tier = total.filter((domain) => domain.provenance === provenance);
  const widest = whole.find((scope) => tier.some((domain) => domain.scope === scope));
  return {
    provenance,
    domains: widest === undefined ? tier : tier.filter(({ scope }) => scope === widest),
  };
}
