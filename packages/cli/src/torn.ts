import type { TornSegment } from '@perwatt/records';
import type { Io } from './io.js';

/** Says on standard error what of a run could not be read; the rest was used. */
export function printTorn(io: Io, torn: readonly TornSegment[]): void {
  for (const { file, reason, rows } of torn)
    io.printError(`warning: ${file}: ${reason}; ${rows} rows were read`);
}
