import type { Provenance } from '@perwatt/core';
import { type Html, html } from '../html.js';
import type { CellResult } from '../results-types.js';

/** How a joule came about, in one word, and in one sentence. */
export interface Tier {
  readonly word: string;
  readonly text: string;
}

const tiers: Readonly<Record<Provenance, Tier>> = {
  counter: { word: 'measured', text: 'measured: the energy counter of the device' },
  integrated: { word: 'measured', text: 'measured: power readings of the device, integrated' },
  external: { word: 'external', text: 'measured by an external meter' },
  estimated: { word: 'estimated', text: 'estimated from load, not measured' },
  simulated: { word: 'simulated', text: 'simulated: laws say it, nothing was run' },
  replayed: { word: 'replayed', text: 'replayed from a recording' },
  published: { word: 'published', text: 'taken from a publication' },
};

const allocated: Tier = {
  word: 'allocated',
  text: 'energy of single queries was shared out by time or tokens; that of the whole cell was not',
};

/** What must stand beside the joules of a cell: where they are from, and whether queries were told apart by sharing out. */
export function cellTiers({ energy, metrics }: CellResult): Tier[] {
  if (energy.boundary === null || energy.gross_j === null) return [];
  const shared = metrics.energy_per_query_mean_j.reason === 'not_isolated';
  return [tiers[energy.boundary.provenance], ...(shared ? [allocated] : [])];
}

export const tierBadges = (cell: CellResult): Html =>
  html`${cellTiers(cell).map(({ word, text }) => html`<span class="badge ${word === 'measured' || word === 'replayed' ? 'tier' : word}" title="${text}">${word}</span> `)}`;
