import { PerwattError } from '@perwatt/core';
import type { DataFile } from './data-file.js';

/**
 * The sha256 of a file, compared with the one it is pinned to. Without a pin it is computed only where `wanted`, and else null.
 * Throws `DATASET_CHANGED`.
 */
export async function pinned(
  file: DataFile,
  sha256: string | undefined,
  wanted: boolean,
): Promise<string | null> {
  if (sha256 === undefined && !wanted) return null;
  const found = await file.sha256();
  if (sha256 !== undefined && sha256.toLowerCase() !== found)
    throw new PerwattError('DATASET_CHANGED', `${file.path} has sha256 ${found}, but ${sha256} is pinned`, {
      hint: 'Restore the pinned file, or change the `sha256` of the data set if the new one is meant.',
    });
  return found;
}
