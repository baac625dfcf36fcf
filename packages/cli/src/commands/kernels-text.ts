import type { KernelRow } from '@perwatt/core';
import { formatJoules, formatNanos, formatNumber, type StepPrediction } from '@perwatt/reports';
import { type TextColumn, textTable } from '../text-table.js';

const DASH = '–';

/** The sizes of a row's shape, in one text. */
export const shapeText = (row: KernelRow): string => {
  const sizes = [
    ['m', row.m],
    ['n', row.n],
    ['k', row.k],
    ['b', row.batch],
    ['g', row.group],
    ['h', row.heads],
    ['kv', row.kv_heads],
    ['d', row.head_dim],
    ['l', row.length],
    ['p', row.prefix],
    ['s', row.suffix],
    ['r', row.rows],
    ['w', row.width],
  ] as const;
  const words = sizes.flatMap(([name, size]) => (size === null ? [] : [`${name}${size}`]));
  return [...words, ...(row.options === null ? [] : [row.options])].join(' ');
};

const perSecond = (amount: number, { time_mean_ns }: KernelRow): string =>
  time_mean_ns === null || amount === 0 ? DASH : formatNumber(amount / time_mean_ns);

const orDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? DASH : format(value);

const columns: readonly TextColumn[] = [
  { name: 'kernel', right: false },
  { name: 'type', right: false },
  { name: 'shape', right: false },
  { name: 'implementation', right: false },
  { name: 'time', right: true },
  { name: 'cold', right: true },
  { name: 'GFLOP/s', right: true },
  { name: 'GB/s', right: true },
  { name: 'of roofline', right: true },
  { name: 'J/launch', right: true },
  { name: 'error', right: true },
  { name: 'status', right: false },
];

/** Rows as a table, a device after the other. What a device has not is counted below, and not shown. */
export function rowLines(rows: readonly KernelRow[], width: number): string[] {
  const devices = [...new Map(rows.map((row) => [row.device, row.device_name]))];
  return devices.flatMap(([device, name]) => {
    const own = rows.filter((row) => row.device === device);
    const shown = own.filter(({ status }) => status !== 'unsupported');
    const missing = own.length - shown.length;
    return [
      `${device}: ${name}`,
      ...(shown.length === 0 ? [] : textTable(columns, shown.map(cellsOf), width)),
      ...(missing === 0 ? [] : [`${missing} kernels that it has not`]),
      '',
    ];
  });
}

function cellsOf(row: KernelRow): string[] {
  const spread =
    row.time_hi_ns === null || row.time_mean_ns === null || row.time_mean_ns === 0
      ? ''
      : ` ±${formatNumber((100 * (row.time_hi_ns - row.time_mean_ns)) / row.time_mean_ns, 2)} %`;
  return [
    row.kernel,
    row.dtype,
    shapeText(row),
    row.implementation,
    `${orDash(row.time_mean_ns, formatNanos)}${spread}`,
    orDash(row.cold_mean_ns, formatNanos),
    perSecond(row.flop, row),
    perSecond(row.bytes, row),
    orDash(row.roofline_ratio, (ratio) => `${formatNumber(100 * ratio, 2)} %`),
    orDash(row.energy_gross_j, formatJoules),
    orDash(row.error_ratio, (error) => (error === 0 ? '0' : error.toExponential(0))),
    row.status === 'ok'
      ? row.flags === null
        ? 'ok'
        : `ok (${row.flags})`
      : `${row.status}: ${row.reason ?? ''}`,
  ];
}

/** What models take by their kernels alone, a line a step and device. */
export const predictionLines = (predictions: readonly StepPrediction[]): string[] =>
  predictions.map(({ step, device, time_ns, tokens_per_s, energy_per_token_j, kernels }) => {
    const what = `${step.model} ${step.phase}, batch ${step.batch}, context ${step.context}, weights ${step.weights}, on ${device}`;
    if (time_ns === null) {
      const missing = kernels.flatMap(({ kernel, time_ns: time }) => (time === null ? kernel.parts : []));
      return `${what}: unknown; no time of ${missing.join(', ')}`;
    }
    const rate = tokens_per_s === null ? '' : `, at most about ${formatNumber(tokens_per_s)} tokens/s`;
    const energy =
      energy_per_token_j === null ? '; energy not measured' : `, ${formatJoules(energy_per_token_j)} a token`;
    return `${what}: ${formatNanos(time_ns)} a step by its kernels${rate}${energy}`;
  });

/** A row as JSON has it: instants as texts. */
export const rowJson = (row: KernelRow): Record<string, unknown> => ({
  ...row,
  start_ns: row.start_ns === null ? null : String(row.start_ns),
  end_ns: row.end_ns === null ? null : String(row.end_ns),
});
