import type { KernelRow, Provenance } from '@perwatt/core';
import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatNumber, unmeasured } from '../format.js';
import { plain } from '../site/site-parts.js';
import { type DeviceRows, shapeOf } from './kernel-sets.js';

/** What joules are set against. */
export type JoulesPer = 'flop' | 'byte';

/** Kernels whose ratio says nothing: bytes of work that computes, FLOP of work that moves, both of a sweep, which has a fit. */
const meaningless: Readonly<Record<JoulesPer, readonly string[]>> = {
  byte: ['gemm', 'prefill', 'fma'],
  flop: ['copy', 'triad', 'fma'],
};

/** A ratio of one row with the ends of its interval, pJ. */
export interface JouleRatio {
  readonly row: KernelRow;
  readonly value_pj: number;
  readonly lo_pj: number | null;
  readonly hi_pj: number | null;
}

/** Picojoules a FLOP or a byte, gross; null where the energy was not measured, or the ratio would say nothing. */
export function jouleRatio(row: KernelRow, per: JoulesPer): JouleRatio | null {
  const amount = per === 'flop' ? row.flop : row.bytes;
  if (row.status !== 'ok' || row.energy_gross_j === null) return null;
  if (amount === 0 || meaningless[per].includes(row.kernel)) return null;
  const scaled = (joules: number | null) => (joules === null ? null : (joules / amount) * 1e12);
  return {
    row,
    value_pj: (row.energy_gross_j / amount) * 1e12,
    lo_pj: scaled(row.energy_lo_j),
    hi_pj: scaled(row.energy_hi_j),
  };
}

/** Devices whose joules have one boundary and one provenance: only these stand in one figure. */
export interface Boundary {
  readonly scope: string;
  readonly provenance: string;
  readonly devices: readonly DeviceRows[];
}

/** Devices by what their joules cover and where they are from. */
export function boundariesOf(devices: readonly DeviceRows[]): Boundary[] {
  const known = new Map<string, Boundary>();
  for (const device of devices) {
    const row = device.rows.find(({ energy_gross_j }) => energy_gross_j !== null);
    if (row?.energy_scope == null || row.energy_provenance === null) continue;
    const { energy_scope: scope, energy_provenance: provenance } = row;
    const key = `${scope} ${provenance}`;
    const before = known.get(key)?.devices ?? [];
    known.set(key, { scope, provenance, devices: [...before, device] });
  }
  return [...known.values()];
}

/** Bars of joules a FLOP or a byte, a colour a device; null where there are none. */
export function joulesFigure(
  { devices, scope, provenance }: Boundary,
  per: JoulesPer,
  id: string,
): Figure | null {
  const names = devices.map(({ name }) => name);
  const bars = devices.flatMap(({ name, rows }) => {
    const ratios = rows.flatMap((row) => jouleRatio(row, per) ?? []);
    return ratios.length === 0 ? [] : [barsOf(name, ratios, modelColour(names, name))];
  });
  if (bars.length === 0) return null;
  const tier = unmeasured(provenance as Provenance);
  const unit = per === 'flop' ? 'pJ/FLOP' : 'pJ/byte';
  return {
    id,
    data: bars,
    layout: {
      barmode: 'group',
      xaxis: {
        title: { text: `Energy (${unit}, ${scope}${tier === null ? '' : `, ${tier}`})` },
        rangemode: 'tozero',
      },
      yaxis: { automargin: true },
    },
  };
}

const label = ({ row }: JouleRatio): string => plain(`${row.kernel} ${row.dtype} ${shapeOf(row)}`);

function barsOf(name: string, ratios: readonly JouleRatio[], color: string) {
  return {
    type: 'bar',
    orientation: 'h',
    name: plain(name),
    x: ratios.map(({ value_pj }) => value_pj),
    y: ratios.map(label),
    customdata: ratios.map(
      ({ row, value_pj }) => `${formatNumber(value_pj)} pJ · ${plain(row.implementation)}`,
    ),
    hovertemplate: '%{y}<br>%{customdata}<extra></extra>',
    marker: { color },
    error_x: {
      type: 'data',
      symmetric: false,
      array: ratios.map(({ value_pj, hi_pj }) => (hi_pj ?? value_pj) - value_pj),
      arrayminus: ratios.map(({ value_pj, lo_pj }) => value_pj - (lo_pj ?? value_pj)),
      thickness: 1,
    },
  };
}
