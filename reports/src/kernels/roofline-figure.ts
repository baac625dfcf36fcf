import type { KernelRow } from '@perwatt/core';
import { modelColour } from '../colours.js';
import type { Figure } from '../figure.js';
import { formatNanos, formatNumber, formatPercent } from '../format.js';
import { plain } from '../site/site-parts.js';
import { ceilingRows, type DeviceRows, shapeOf } from './kernel-sets.js';

/** Rows that have a place on a roofline: right, timed, with work at all. */
const placed = (row: KernelRow): boolean => row.status === 'ok' && row.time_mean_ns !== null && row.flop > 0;

const intensity = ({ flop, bytes }: KernelRow): number => flop / bytes;
const rate = ({ flop, time_mean_ns }: KernelRow): number =>
  time_mean_ns === null ? 0 : (flop / time_mean_ns) * 1e9;

function hover(row: KernelRow): string {
  const share =
    row.roofline_ratio === null ? 'no ceiling' : `${formatPercent(row.roofline_ratio)} of the roofline`;
  return [
    `<b>${plain(row.kernel)} ${plain(row.dtype)}</b> ${plain(shapeOf(row))}`,
    plain(row.implementation),
    `${formatNanos(row.time_mean_ns ?? 0)} · ${formatNumber(rate(row) / 1e9)} GFLOP/s`,
    `${formatNumber(intensity(row))} FLOP/byte · ${share}`,
  ].join('<br>');
}

function pointsOf(kernels: readonly string[], kernel: string, rows: readonly KernelRow[]) {
  const own = rows.filter((row) => row.kernel === kernel);
  return {
    type: 'scatter',
    mode: 'markers',
    name: kernel,
    x: own.map(intensity),
    y: own.map(rate),
    customdata: own.map(hover),
    hovertemplate: '%{customdata}<extra></extra>',
    marker: {
      size: 9,
      color: modelColour(kernels, kernel),
      symbol: own.map(({ portable }) => (portable === true ? 'circle-open' : 'circle')),
    },
  };
}

/** The roof of one type: along the bandwidth up to the ridge, then along the peak. */
function roofOf(row: KernelRow, range: readonly [number, number]) {
  const { dtype, bandwidth_bytes_per_s: bandwidth, peak_flop_per_s: peak } = row;
  if (bandwidth === null || peak === null) return [];
  const ridge = peak / bandwidth;
  const [from, to] = [Math.min(range[0], ridge / 2), Math.max(range[1], ridge * 2)];
  return [
    {
      type: 'scatter',
      mode: 'lines',
      name: `ceilings, ${dtype}`,
      x: [from, ridge, to],
      y: [from * bandwidth, peak, peak],
      hovertemplate: `${plain(dtype)}: ${formatNumber(peak / 1e9)} GFLOP/s by ${plain(row.peak_implementation ?? '')}, ${formatNumber(bandwidth / 1e9)} GB/s<extra></extra>`,
      line: { width: 1.5, dash: 'dot' },
    },
  ];
}

const roofs = (rows: readonly KernelRow[], range: readonly [number, number]) =>
  ceilingRows(rows).flatMap((row) => roofOf(row, range));

/**
 * The roofline of one device: a point for each implementation that was right and timed (open where it is a portable one), and the
 * measured ceilings of each type. Copies have no FLOP and no place. Null without a point.
 */
export function rooflineFigure({ rows }: DeviceRows, id: string): Figure | null {
  const shown = rows.filter(placed);
  if (shown.length === 0) return null;
  const kernels = [...new Set(shown.map(({ kernel }) => kernel))];
  const xs = shown.map(intensity);
  const range = [Math.min(...xs) / 2, Math.max(...xs) * 2] as const;
  return {
    id,
    data: [...roofs(shown, range), ...kernels.map((kernel) => pointsOf(kernels, kernel, shown))],
    layout: {
      xaxis: { title: { text: 'Intensity (FLOP/byte)' }, type: 'log' },
      yaxis: { title: { text: 'Rate (FLOP/s)' }, type: 'log' },
    },
  };
}
