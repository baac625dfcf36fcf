import type { CellFile } from './manifest.js';

/** Repeats that a cell has, or is to have: where a rule ends them, those at which it did, or the most there may be. */
export const repeatsMade = ({ repeats, stopping }: Pick<CellFile, 'repeats' | 'stopping'>): number =>
  stopping == null || stopping.stopped === null ? repeats : stopping.repeats;
