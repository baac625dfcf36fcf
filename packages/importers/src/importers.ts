import { didYouMean, PerwattError } from '@perwatt/core';
import { aiBenchmarks } from './ai-benchmarks.js';
import { ecocompute } from './ecocompute.js';
import type { Importer } from './importer.js';
import { ipw } from './ipw.js';
import { mlEnergy } from './ml-energy.js';
import { powerCap } from './power-cap.js';

/** Every importer, in the order of lists. */
export const importers: readonly Importer[] = [mlEnergy, aiBenchmarks, ecocompute, powerCap, ipw];

/** The importer of that kind. Throws `USAGE` naming those there are. */
export function importerByKind(kind: string): Importer {
  const found = importers.find((importer) => importer.kind === kind);
  if (found !== undefined) return found;
  const kinds = importers.map((importer) => importer.kind);
  throw new PerwattError('USAGE', `no importer "${kind}"${didYouMean(kind, kinds)}`);
}
