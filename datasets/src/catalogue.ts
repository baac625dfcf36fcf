import { type Dataset, type DatasetSpec, didYouMean, PerwattError } from '@perwatt/core';
import { arithmetic } from './arithmetic.js';
import { choiceBasic } from './choice-basic.js';
import type { CatalogueEntry, LoadContext, Loader } from './dataset.js';
import { csv, jsonl } from './file-loaders.js';
import { allSets } from './sets/all-sets.js';
import { allGenerated } from './worlds/all-generated.js';

const loaders: readonly Loader[] = [arithmetic, choiceBasic, ...allGenerated, ...allSets, jsonl, csv];

/** Every data set and file loader there is. */
export const datasetCatalogue = (): readonly CatalogueEntry[] => loaders.map((loader) => loader.entry);

/**
 * Loads a data set. Throws `DATASET_UNKNOWN`, `INPUT_INVALID` for options it doesn't take, `FILE_UNREADABLE`, and
 * `DATASET_ROW_INVALID` with file and line for a row it can't use.
 */
export async function loadDataset(spec: DatasetSpec, context: LoadContext): Promise<Dataset> {
  context.signal?.throwIfAborted();
  const loader = loaders.find((l) => l.entry.id === spec.kind);
  const names = loaders.map((l) => l.entry.id);
  if (loader === undefined)
    throw new PerwattError(
      'DATASET_UNKNOWN',
      `unknown data set "${spec.kind}"${didYouMean(spec.kind, names)}`,
    );
  return loader.load(spec, context);
}
