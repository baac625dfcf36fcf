import { type DatasetEntry, type DatasetSpec, type MatrixFile, seedFrom } from '@perwatt/core';

/** What a loader is told of a data set of a matrix, and the seed it draws from. */
export function datasetSpec(
  entry: DatasetEntry,
  { seed: runSeed }: Pick<MatrixFile, 'seed'>,
): { readonly spec: DatasetSpec; readonly seed: number } {
  const { id, kind, limit, seed, max_tokens: _, system: __, when: ___, grading: ____, ...options } = entry;
  return {
    spec: { kind: kind ?? id, options, ...(limit === undefined ? {} : { limit }) },
    seed: seed ?? seedFrom(runSeed, 'dataset', id),
  };
}
