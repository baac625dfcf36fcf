import { didYouMean, PerwattError } from '@perwatt/core';
import { type CatalogueEntry, type DatasetCard, datasetCatalogue } from '@perwatt/datasets';

/** The catalogue's entry of a name. Throws `DATASET_UNKNOWN` with the nearest one. */
export function entryOf(name: string): CatalogueEntry {
  const entries = datasetCatalogue();
  const entry = entries.find((e) => e.id === name);
  if (entry !== undefined) return entry;
  const names = entries.map((e) => e.id);
  throw new PerwattError('DATASET_UNKNOWN', `unknown data set "${name}"${didYouMean(name, names)}`);
}

/** The card of a published data set. Throws `INPUT_INVALID` for a generated one or a file loader. */
export function cardOf({ id, kind, card }: CatalogueEntry): DatasetCard {
  if (card !== undefined) return card;
  const why = kind === 'generated' ? 'is generated and needs no files' : 'reads any file by `path`';
  throw new PerwattError('INPUT_INVALID', `data set "${id}" ${why}`, {
    hint: `See \`perwatt datasets show ${id}\`.`,
  });
}
