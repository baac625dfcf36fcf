import type { KernelRow } from '@perwatt/core';
import type { Catalogue } from '@perwatt/metrics';
import {
  ceilingRows,
  type DatasheetPeak,
  datasheetPeak,
  formatNumber,
  formatPercent,
  shareOf,
} from '@perwatt/reports';
import { type TextColumn, textTable } from '../text-table.js';

const DASH = '–';

/** Ceilings of a device for one type, as a session measured them, with what a datasheet says beside. */
export interface CeilingOf {
  readonly device: string;
  readonly device_name: string;
  readonly dtype: string;
  readonly peak_flop_per_s: number | null;
  readonly peak_implementation: string | null;
  readonly bandwidth_bytes_per_s: number | null;
  /** Of the whole part; never a ceiling. */
  readonly datasheet: DatasheetPeak;
  /** Measured over datasheet; null while one isn't known. */
  readonly peak_datasheet_ratio: number | null;
  readonly bandwidth_datasheet_ratio: number | null;
}

/** The ceilings of a session by device and type. */
export function ceilingsIn(rows: readonly KernelRow[], catalogue: Catalogue): CeilingOf[] {
  return ceilingRows(rows).map((row) => {
    const { device, device_name, dtype, peak_flop_per_s, peak_implementation, bandwidth_bytes_per_s } = row;
    const datasheet = datasheetPeak(catalogue, device_name, dtype);
    return {
      device,
      device_name,
      dtype,
      peak_flop_per_s,
      peak_implementation,
      bandwidth_bytes_per_s,
      datasheet,
      peak_datasheet_ratio: shareOf(peak_flop_per_s, datasheet.peak_flop_per_s),
      bandwidth_datasheet_ratio: shareOf(bandwidth_bytes_per_s, datasheet.bandwidth_bytes_per_s),
    };
  });
}

const columns: readonly TextColumn[] = [
  { name: 'device', right: false },
  { name: 'type', right: false },
  { name: 'GFLOP/s', right: true },
  { name: 'by', right: false },
  { name: 'GB/s', right: true },
  { name: 'ridge, FLOP/byte', right: true },
  { name: 'datasheet GFLOP/s', right: true },
  { name: 'of it', right: true },
  { name: 'datasheet GB/s', right: true },
  { name: 'of it', right: true },
];

const giga = (rate: number | null): string => (rate === null ? DASH : formatNumber(rate / 1e9));
const share = (ratio: number | null): string => (ratio === null ? DASH : formatPercent(ratio));

/** Ceilings of each device and type with the intensity at which they meet, the datasheet's rates beside them, and whence those are. */
export function ceilingLines(ceilings: readonly CeilingOf[], width: number): string[] {
  if (ceilings.length === 0) return ['no ceilings were measured'];
  const cells = ceilings.map((one) => {
    const { peak_flop_per_s: peak, bandwidth_bytes_per_s: bandwidth, datasheet } = one;
    return [
      one.device,
      one.dtype,
      giga(peak),
      one.peak_implementation ?? DASH,
      giga(bandwidth),
      peak === null || bandwidth === null ? DASH : formatNumber(peak / bandwidth),
      giga(datasheet.peak_flop_per_s),
      share(one.peak_datasheet_ratio),
      giga(datasheet.bandwidth_bytes_per_s),
      share(one.bandwidth_datasheet_ratio),
    ];
  });
  const notes = ceilings.map(({ device, dtype, datasheet: { accelerator, source, reason } }) =>
    accelerator === null
      ? `datasheet of ${device}: ${reason}`
      : `datasheet of ${device}, ${dtype}: ${reason ?? `${accelerator} of the catalogue, by ${source ?? 'no source'}; never a ceiling`}`,
  );
  return [...textTable(columns, cells, width), ...new Set(notes)];
}
