import type { KernelRow } from '@perwatt/core';
import type { Catalogue } from '@perwatt/metrics';
import { DASH, formatNumber, formatPercent } from '../format.js';
import { type Html, html } from '../html.js';
import { breakable } from '../page-parts.js';
import { headsOf, printable, scrollTable } from '../site/site-parts.js';
import { datasheetPeak, shareOf } from './datasheet-peak.js';
import { ceilingRows, type DeviceRows } from './kernel-sets.js';

const giga = (rate: number | null): string => (rate === null ? DASH : formatNumber(rate / 1e9));
const reached = (ratio: number | null): string =>
  ratio === null ? '' : `${formatPercent(ratio)} of it measured`;

function ceilingRow(row: KernelRow, catalogue: Catalogue): Html {
  const { dtype, device, device_name, peak_flop_per_s: peak, bandwidth_bytes_per_s: bandwidth } = row;
  const sheet = datasheetPeak(catalogue, device_name, dtype);
  const from =
    sheet.reason ?? `${sheet.accelerator ?? ''} of the catalogue, by ${sheet.source ?? 'no source'}`;
  return html`<tr><th scope="row">${printable(device_name)}<small>${dtype}, ${breakable(printable(device))}</small></th><td class="n">${giga(peak)}<small>${breakable(printable(row.peak_implementation ?? 'no product of this type'))}</small></td><td class="n">${giga(sheet.peak_flop_per_s)}<small>${reached(shareOf(peak, sheet.peak_flop_per_s))}</small></td><td class="n">${giga(bandwidth)}</td><td class="n">${giga(sheet.bandwidth_bytes_per_s)}<small>${reached(shareOf(bandwidth, sheet.bandwidth_bytes_per_s))}</small></td><td>${printable(from)}</td></tr>`;
}

/** Measured ceilings of each device and type beside what a datasheet says of the part; nothing without a ceiling. */
export function ceilingsSection(devices: readonly DeviceRows[], catalogue: Catalogue): Html {
  const rows = devices.flatMap(({ rows: own }) => ceilingRows(own).map((row) => ceilingRow(row, catalogue)));
  if (rows.length === 0) return html``;
  const heads = headsOf([
    'Device',
    '>Peak|GFLOP/s, measured',
    '>Peak|GFLOP/s, datasheet',
    '>Bandwidth|GB/s, measured',
    '>Bandwidth|GB/s, datasheet',
    'Datasheet|source, or why none',
  ]);
  return html`<section><h2>Ceilings</h2><p class="soft small">Measured: the best product of matrices of the type, and the best copy or triad, of the same session. Datasheets speak of the whole part, dense, at clocks of their own; they stand here for comparison and are never a ceiling.</p>${scrollTable(heads, rows, { label: 'Ceilings' })}</section>`;
}
