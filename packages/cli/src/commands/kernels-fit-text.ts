import type { KernelRow } from '@perwatt/core';
import type { FitCoefficient, KernelFit } from '@perwatt/records';
import {
  fittedEnergy,
  formatJoules,
  formatNumber,
  formatPercent,
  pointOf,
  sweepRows,
} from '@perwatt/reports';
import { type TextColumn, textTable } from '../text-table.js';

/** A point of a fit with what the fit makes of it. */
export interface FitPointText {
  readonly flop_per_byte: number;
  readonly flop: number;
  readonly bytes: number;
  readonly duration_s: number;
  readonly energy_j: number;
  readonly fitted_j: number | null;
  /** (fitted − measured) / measured; null without a fit. */
  readonly residual_ratio: number | null;
}

/** The points of a sweep that have energy, by rising intensity. */
export const fitPoints = (rows: readonly KernelRow[], fit: KernelFit, session: number): FitPointText[] =>
  sweepRows(rows, fit, session).flatMap((row) => {
    const point = pointOf(row);
    if (point === null) return [];
    const fitted_j = fit.fit === null ? null : fittedEnergy(fit.fit, point);
    return [
      {
        flop_per_byte: point.flop / point.bytes,
        ...point,
        fitted_j,
        residual_ratio: fitted_j === null ? null : fitted_j / point.energy_j - 1,
      },
    ];
  });

function coefficientText({ value, half_width }: FitCoefficient, scale: number): string {
  if (half_width === null) return '0 (held there)';
  return `${formatNumber(value * scale)} ± ${formatNumber(half_width * scale, 2)}`;
}

/** A line for each fit, or why there is none. */
export const fitLines = (fits: readonly KernelFit[]): string[] =>
  fits.map(({ device, dtype, implementation, scope, fit, reason }) => {
    const what = `fit of ${device} ${dtype} by ${implementation}`;
    if (fit === null) return `${what}: none; ${reason ?? 'no reason'}`;
    return [
      `${what} (${scope ?? 'unknown scope'}, gross, ${fit.points} intensities, not a hardware constant): `,
      `${coefficientText(fit.flop_j, 1e12)} pJ/FLOP, ${coefficientText(fit.byte_j, 1e12)} pJ/byte, `,
      `${coefficientText(fit.constant_w, 1)} W; residuals ${formatPercent(fit.rms_ratio)} (root mean square)`,
    ].join('');
  });

const columns: readonly TextColumn[] = [
  'FLOP/byte',
  'time, ms',
  'measured a launch',
  'fitted a launch',
  'fitted less measured',
].map((name) => ({ name, right: true }));

/** Measured and fitted energy of every point of each sweep. */
export const fitTables = (
  rows: readonly KernelRow[],
  fits: readonly KernelFit[],
  { session, width }: { readonly session: number; readonly width: number },
): string[] =>
  fits.flatMap((fit) => {
    const points = fitPoints(rows, fit, session);
    if (points.length === 0) return [];
    const cells = points.map(({ flop_per_byte, duration_s, energy_j, fitted_j, residual_ratio }) => [
      formatNumber(flop_per_byte),
      formatNumber(duration_s * 1e3),
      formatJoules(energy_j),
      fitted_j === null ? '–' : formatJoules(fitted_j),
      residual_ratio === null
        ? '–'
        : `${residual_ratio > 0 ? '+' : ''}${formatNumber(100 * residual_ratio, 2)} %`,
    ]);
    return ['', `${fit.device} ${fit.dtype} ${fit.implementation}`, ...textTable(columns, cells, width)];
  });
