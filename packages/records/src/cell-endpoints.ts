import type { EndpointFacts } from '@perwatt/core';
import type { CellFile } from './manifest.js';

/** What answers behind the endpoints of a cell, that of `main` first; null for a cell of which that isn't known. */
export const cellEndpoints = ({ provenance }: Pick<CellFile, 'provenance'>): (EndpointFacts | null)[] =>
  provenance === null
    ? [null]
    : [provenance.endpoint, ...Object.values(provenance.bound ?? {}).map(({ endpoint }) => endpoint)];
