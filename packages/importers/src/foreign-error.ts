import { PerwattError } from '@perwatt/core';

const hint =
  'Mend the file, or import the version that this importer knows; `perwatt import --list` shows it.';

/** `INPUT_INVALID` at a place of a foreign file, for example `results.csv:17`. */
export const foreignError = (place: string, problem: string, cause?: unknown): PerwattError =>
  new PerwattError('INPUT_INVALID', `${place}: ${problem}`, { hint, cause });
