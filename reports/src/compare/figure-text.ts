import {
  DASH,
  formatNanos,
  formatNumber,
  formatPercent,
  meaningfulDigits,
  provenanceMark,
} from '../format.js';
import type { ComparableFigure } from './comparable.js';

type Shown = Pick<ComparableFigure, 'unit' | 'value' | 'lo' | 'hi'> & {
  readonly provenance?: ComparableFigure['provenance'];
  readonly bound?: ComparableFigure['bound'];
};

function bare(value: number, unit: string, digits: number): string {
  if (unit === '1') return formatPercent(value);
  return unit === 'ns' ? formatNanos(value) : formatNumber(value, digits);
}

/** A value with as many digits as its interval supports: per cent, time, or a number; marks for estimated (~), simulated (†) and upper bounds (≤). */
export function valueText({ unit, value, lo, hi, provenance, bound }: Shown): string {
  if (value === null) return DASH;
  const mark = `${provenanceMark(provenance ?? null)}${bound === 'upper' ? '≤ ' : ''}`;
  return `${mark}${bare(value, unit, meaningfulDigits({ value, lo, hi }))}`;
}

/** `[lo, hi]` in the unit of the value; empty without an interval, open where it has one end. */
export function rangeText({ unit, value, lo, hi }: Shown): string {
  if (value === null || (lo === null && hi === null)) return '';
  const digits = Math.max(2, meaningfulDigits({ value, lo, hi }));
  const end = (bound: number | null, open: string) => (bound === null ? open : bare(bound, unit, digits));
  return `[${end(lo, '…')}, ${end(hi, '…')}]`;
}

/** A ratio as `×1.25`, a difference of shares in points: `+5.0 pp`. */
export function effectText(value: number, scale: 'ratio' | 'difference'): string {
  if (scale === 'ratio') return Number.isFinite(value) ? `×${formatNumber(value)}` : '∞';
  return `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)} pp`;
}

/** p as a number of three places; a dash for none. */
export const pText = (p: number | null): string => (p === null ? DASH : p < 0.001 ? '<0.001' : p.toFixed(3));
