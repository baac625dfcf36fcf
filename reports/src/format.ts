import type { Provenance } from '@perwatt/core';
import type { MetricValue } from '@perwatt/metrics';

/** What stands for a value that is missing. */
export const DASH = '–';

const order = (value: number): number => Math.floor(Math.log10(Math.abs(value)));

/**
 * How many digits of a value its interval supports: the last one is of the size of the half-width's first. Never fewer
 * than 2 or more than 3; 3 where no interval is known.
 */
export function meaningfulDigits({ value, lo, hi }: Pick<MetricValue, 'value' | 'lo' | 'hi'>): number {
  if (value === null || lo === null || hi === null || value === 0) return 3;
  const half = (hi - lo) / 2;
  if (!(half > 0)) return 3;
  return Math.min(Math.max(order(value) - order(half) + 1, 2), 3);
}

/** A number to so many significant digits, without exponent between 0.0001 and a million. */
export function formatNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return DASH;
  if (value === 0) return '0';
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (size < 1e-4 || size >= 1e6) return rounded.toExponential(digits - 1).replace('e+', 'e');
  return rounded.toFixed(Math.max(digits - 1 - order(rounded), 0));
}

/** A share 0…1 as per cent; `100 %` and `0 %` only for exactly 1 and 0. */
export function formatPercent(ratio: number): string {
  const text = (ratio * 100).toFixed(Math.abs(ratio) < 0.1 && ratio !== 0 ? 1 : 0);
  if (text === '100' && ratio < 1) return '>99 %';
  if (text === '0.0') return '<0.1 %';
  return `${text} %`;
}

/** `75 % [65, 83]`: a share with its 95 % interval in per cent. A dash when missing. */
export function formatShare({ value, lo, hi }: Pick<MetricValue, 'value' | 'lo' | 'hi'>): string {
  if (value === null) return DASH;
  if (lo === null || hi === null) return formatPercent(value);
  return `${formatPercent(value)} [${Math.round(lo * 100)}, ${Math.round(hi * 100)}]`;
}

const spans = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
] as const;

/** A span of time (ns) in the unit that suits it. */
export function formatNanos(ns: number): string {
  if (!Number.isFinite(ns)) return DASH;
  const [scale, unit] = spans.find(([size]) => Math.abs(ns) >= size) ?? [1, 'ns'];
  return `${formatNumber(ns / scale)} ${unit}`;
}

/** Joules in J, kJ or MJ. */
export function formatJoules(joules: number): string {
  const size = Math.abs(joules);
  if (size >= 1e6) return `${formatNumber(joules / 1e6)} MJ`;
  if (size >= 1e4) return `${formatNumber(joules / 1e3)} kJ`;
  return `${formatNumber(joules)} J`;
}

/** What a figure that no sensor measured is called: `estimated`, `simulated`; null for any other. */
export const unmeasured = (provenance: Provenance | null): 'estimated' | 'simulated' | null =>
  provenance === 'estimated' || provenance === 'simulated' ? provenance : null;

/** What stands before such a figure: `~` estimated, `†` simulated. */
export const provenanceMark = (provenance: Provenance | null): '' | '~' | '†' =>
  provenance === 'estimated' ? '~' : provenance === 'simulated' ? '†' : '';

/** What the marks of some figures mean, one line each. */
export const markNotes = (tiers: readonly (Provenance | null)[]): string[] => [
  ...(tiers.includes('estimated') ? ['~ estimated from processor load, not measured'] : []),
  ...(tiers.includes('simulated') ? ['† simulated: laws say it, nothing was run or measured'] : []),
];

/** One metric without its unit, for a table whose head has it: per cent, time, or digits that mean something. */
export function formatMetric(metric: MetricValue): string {
  const { value, unit } = metric;
  if (value === null) return DASH;
  const mark = provenanceMark(metric.provenance);
  if (unit === '1') return formatShare(metric);
  if (unit === 'ns') return formatNanos(value);
  return `${mark}${formatNumber(value, meaningfulDigits(metric))}`;
}

/** One metric with its unit. */
export function formatWithUnit(metric: MetricValue): string {
  const text = formatMetric(metric);
  return metric.value === null || metric.unit === '1' || metric.unit === 'ns'
    ? text
    : `${text} ${metric.unit}`;
}
