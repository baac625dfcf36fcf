import type { KernelRow } from '@perwatt/core';
import type { KernelFit } from '@perwatt/records';
import { energyFits, sweepRows } from './energy-fits.js';
import type { KernelSet } from './kernel-sets.js';

/** A fit with the rows that it is of. */
export interface SweepFit {
  readonly fit: KernelFit;
  /** Device for readers, with host and session where there are several. */
  readonly name: string;
  readonly rows: readonly KernelRow[];
}

/** The fits of all sweeps of a site, worked out from the rows. */
export function sweepFits(sets: readonly KernelSet[]): SweepFit[] {
  const several = new Set(sets.map(({ run }) => run.results.host.hostname)).size > 1;
  return sets.flatMap(({ run, sessions, rows }) =>
    sessions.flatMap(({ session }) =>
      energyFits(rows, session).map((fit) => {
        const host = several ? ` on ${run.results.host.hostname}` : '';
        const which = sessions.length > 1 ? `, session ${session}` : '';
        return {
          fit,
          name: `${fit.device_name} (${fit.device}${host}${which})`,
          rows: sweepRows(rows, fit, session),
        };
      }),
    ),
  );
}
