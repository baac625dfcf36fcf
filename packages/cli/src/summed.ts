import type { Domain } from '@perwatt/core';
import { boundaryOf } from '@perwatt/metrics';

/** The domains summed into one figure: of one provenance, none inside another. */
export const summedOf = (domains: readonly Domain[]): readonly Domain[] => boundaryOf(domains)?.domains ?? [];

/** The sum; null when a part of it is unknown, or when there is nothing to sum. */
export function sumKnown(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum;
}
