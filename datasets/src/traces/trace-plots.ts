import type { TraceTable } from './trace-table.js';

/** Calls in each of `bins` equal parts of the span; null without time or span. */
export function arrivalBins(table: TraceTable, bins: number): readonly number[] | null {
  const span = table.meta.span_ns;
  if (span === null || span === 0n) return null;
  const counts = new Array<number>(bins).fill(0);
  for (let i = 0; i < table.length; i++) {
    const bin = Math.min(bins - 1, Number(((table.at_ns(i) ?? 0n) * BigInt(bins)) / span));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

/** A histogram over powers of two: `counts[i]` calls of `from · 2^i` up to below `from · 2^(i+1)` tokens. */
export interface LengthBins {
  /** A power of two, or 0 when the first bin is that of empty texts. */
  readonly from: number;
  readonly counts: readonly number[];
}

/** How long inputs or outputs are; null where no length is known. */
export function lengthBins(table: TraceTable, side: 'input_tokens' | 'output_tokens'): LengthBins | null {
  const counts: number[] = [];
  for (let i = 0; i < table.length; i++) {
    const tokens = table[side](i);
    if (tokens === null) continue;
    const bin = tokens === 0 ? 0 : 1 + Math.floor(Math.log2(tokens));
    while (counts.length <= bin) counts.push(0);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const first = counts.findIndex((count) => count > 0);
  if (first === -1) return null;
  return { from: first === 0 ? 0 : 2 ** (first - 1), counts: counts.slice(first) };
}
