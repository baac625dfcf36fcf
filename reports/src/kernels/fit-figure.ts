import type { KernelRow, Provenance } from '@perwatt/core';
import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatNumber, formatPercent, unmeasured } from '../format.js';
import { plain } from '../site/site-parts.js';
import { pointOf } from './energy-fits.js';
import { fittedEnergy } from './fit-energy.js';
import type { SweepFit } from './sweep-fits.js';

interface Place {
  readonly row: KernelRow;
  readonly flop_per_byte: number;
  readonly measured_pj: number;
  readonly lo_pj: number;
  readonly hi_pj: number;
  readonly fitted_pj: number;
}

function placesOf({ fit: { fit }, rows }: SweepFit): Place[] {
  if (fit === null) return [];
  return rows.flatMap((row) => {
    const point = pointOf(row);
    if (point === null) return [];
    const perByte = (joules: number) => (joules / point.bytes) * 1e12;
    return [
      {
        row,
        flop_per_byte: point.flop / point.bytes,
        measured_pj: perByte(point.energy_j),
        lo_pj: perByte(row.energy_lo_j ?? point.energy_j),
        hi_pj: perByte(row.energy_hi_j ?? point.energy_j),
        fitted_pj: perByte(fittedEnergy(fit, point)),
      },
    ];
  });
}

const hover = ({ row, flop_per_byte, measured_pj, fitted_pj }: Place): string =>
  [
    `<b>${plain(row.dtype)}, ${row.k ?? 0} multiply-adds</b>`,
    plain(row.implementation),
    `${formatNumber(flop_per_byte)} FLOP/byte · ${formatNumber(measured_pj)} pJ/byte measured`,
    `${formatNumber(fitted_pj)} pJ/byte by the fit, ${formatPercent(Math.abs(fitted_pj / measured_pj - 1))} off`,
  ].join('<br>');

function tracesOf(sweep: SweepFit, color: string): object[] {
  const places = placesOf(sweep);
  const name = plain(`${sweep.fit.dtype}, ${sweep.name}`);
  const x = places.map(({ flop_per_byte }) => flop_per_byte);
  return [
    {
      type: 'scatter',
      mode: 'markers',
      name: `${name}: measured`,
      x,
      y: places.map(({ measured_pj }) => measured_pj),
      customdata: places.map(hover),
      hovertemplate: '%{customdata}<extra></extra>',
      marker: { size: 9, color },
      error_y: {
        type: 'data',
        symmetric: false,
        array: places.map(({ measured_pj, hi_pj }) => hi_pj - measured_pj),
        arrayminus: places.map(({ measured_pj, lo_pj }) => measured_pj - lo_pj),
        thickness: 1,
      },
    },
    {
      type: 'scatter',
      mode: 'lines',
      name: `${name}: fit`,
      x,
      y: places.map(({ fitted_pj }) => fitted_pj),
      hoverinfo: 'skip',
      line: { width: 1.5, dash: 'dot', color },
    },
  ];
}

/** Sweeps whose joules have one boundary and one provenance: only these stand in one figure. */
export function fitBoundaries(fits: readonly SweepFit[]): SweepFit[][] {
  const known = new Map<string, SweepFit[]>();
  for (const sweep of fits) {
    if (sweep.fit.fit === null) continue;
    const key = `${sweep.fit.scope} ${sweep.fit.provenance}`;
    known.set(key, [...(known.get(key) ?? []), sweep]);
  }
  return [...known.values()];
}

/** Gross energy a byte over intensity, measured and by the fit; null where nothing was fitted. */
export function fitFigure(sweeps: readonly SweepFit[], id: string): Figure | null {
  const [first] = sweeps;
  if (first === undefined) return null;
  const names = sweeps.map(({ name, fit }) => `${name} ${fit.dtype} ${fit.implementation}`);
  const tier = unmeasured(first.fit.provenance as Provenance);
  return {
    id,
    data: sweeps.flatMap((sweep, i) => tracesOf(sweep, modelColour(names, names[i] ?? ''))),
    layout: {
      xaxis: { title: { text: 'Intensity (FLOP/byte)' }, type: 'log' },
      yaxis: {
        title: { text: `Energy (pJ/byte, ${first.fit.scope}${tier === null ? '' : `, ${tier}`})` },
        type: 'log',
      },
    },
  };
}
