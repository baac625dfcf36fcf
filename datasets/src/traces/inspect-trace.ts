import type { TraceMeta } from '@perwatt/core';
import type { TraceTable } from './trace-table.js';

/** Lengths of the calls whose length is known. The median is the mean of the middle two; p95 is a value that occurs. */
export interface LengthSummary {
  readonly known_rows: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  readonly mean: number;
  /** Standard deviation (population) over mean; null when the mean is 0. */
  readonly cv: number | null;
  readonly sum: number;
}

/** How calls arrive. Gaps are those between successive calls, ties included. */
export interface ArrivalSummary {
  /** Calls over the span; null when the span is 0. */
  readonly rate_per_s: number | null;
  /** Standard deviation (population) of the gaps over their mean: 0 for a constant rate, 1 for Poisson, more for bursts. */
  readonly gap_cv: number | null;
  /** (CV − 1) / (CV + 1) of Goh and Barabási (2008): −1 regular, 0 Poisson, 1 bursts. */
  readonly burstiness: number | null;
  /** Shape of the gamma distribution with that CV: 1 / CV². */
  readonly gamma_shape: number | null;
  /** Correlation of a gap with the next one; null with fewer than 3 gaps or without spread. */
  readonly gap_autocorrelation: number | null;
  /** Variance over mean of the calls in each whole second; 1 for Poisson, null for a span below 2 s. */
  readonly dispersion_per_s: number | null;
  readonly smallest_gap_ns: number;
  readonly largest_gap_ns: number;
  readonly distinct_stamps: number;
  /** Calls whose stamp is that of the call before. */
  readonly tied_rows: number;
  readonly most_at_one_stamp: number;
}

/** Reuse of prefixes, for a cache that never forgets. */
export interface PrefixSummary {
  readonly block_tokens: number | null;
  readonly blocks: number;
  readonly distinct_blocks: number;
  /** Blocks of the unbroken run at the head of an input that were all seen before. */
  readonly hit_blocks: number;
  /** hit_blocks / blocks; null without blocks. */
  readonly hit_ratio: number | null;
}

export interface TraceInspection {
  readonly meta: TraceMeta;
  /** Null for a source without time, or with fewer than 2 calls. */
  readonly arrivals: ArrivalSummary | null;
  /** Null where no length is known. */
  readonly input: LengthSummary | null;
  readonly output: LengthSummary | null;
  /** Null without hash ids. */
  readonly prefixes: PrefixSummary | null;
  readonly conversations: number | null;
  readonly models: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  readonly images: number | null;
}

/** What there is to know of a trace before it is replayed. */
export function inspectTrace(table: TraceTable): TraceInspection {
  return {
    meta: table.meta,
    arrivals: arrivalsOf(table),
    input: lengthsOf(table.length, table.input_tokens),
    output: lengthsOf(table.length, table.output_tokens),
    prefixes: table.present.has('hash_ids') ? prefixesOf(table) : null,
    ...countsOf(table),
  };
}

function lengthsOf(length: number, get: (index: number) => number | null): LengthSummary | null {
  const known = new Float64Array(length);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const value = get(i);
    if (value !== null) known[count++] = value;
  }
  if (count === 0) return null;
  const sorted = known.subarray(0, count).sort();
  const { mean, sd } = momentsOf(sorted);
  return {
    known_rows: count,
    min: sorted[0] ?? 0,
    median: ((sorted[(count - 1) >> 1] ?? 0) + (sorted[count >> 1] ?? 0)) / 2,
    p95: quantile(sorted, 0.95),
    max: sorted[count - 1] ?? 0,
    mean,
    cv: mean === 0 ? null : sd / mean,
    sum: sorted.reduce((sum, value) => sum + value, 0),
  };
}

/** The smallest value that at least the share `q` of the values doesn't exceed. */
const quantile = (sorted: Float64Array, q: number): number =>
  sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;

function momentsOf(values: Float64Array): { readonly mean: number; readonly sd: number } {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, sd: Math.sqrt(squares / values.length) };
}

function arrivalsOf(table: TraceTable): ArrivalSummary | null {
  const gaps = gapsOf(table);
  if (gaps === null || gaps.length === 0) return null;
  const span = Number(table.meta.span_ns ?? 0n) / 1e9;
  const { mean, sd } = momentsOf(gaps);
  const cv = mean === 0 ? null : sd / mean;
  return {
    rate_per_s: span === 0 ? null : table.length / span,
    gap_cv: cv,
    burstiness: cv === null ? null : (cv - 1) / (cv + 1),
    gamma_shape: cv === null || cv === 0 ? null : 1 / cv ** 2,
    gap_autocorrelation: autocorrelation(gaps, mean, sd),
    dispersion_per_s: dispersion(table),
    smallest_gap_ns: gaps.reduce((a, b) => Math.min(a, b)),
    largest_gap_ns: gaps.reduce((a, b) => Math.max(a, b)),
    ...tiesOf(gaps),
  };
}

/** Gaps in ns in order of time; null for a source without time. */
export function gapsOf(table: TraceTable): Float64Array | null {
  if (!table.present.has('at_ns')) return null;
  const gaps = new Float64Array(Math.max(0, table.length - 1));
  let before = 0n;
  for (let i = 0; i < table.length; i++) {
    const at = table.at_ns(i) ?? 0n;
    if (i > 0) gaps[i - 1] = Number(at - before);
    before = at;
  }
  return gaps;
}

function autocorrelation(gaps: Float64Array, mean: number, sd: number): number | null {
  if (gaps.length < 3 || sd === 0) return null;
  let products = 0;
  for (let i = 1; i < gaps.length; i++) products += ((gaps[i - 1] ?? 0) - mean) * ((gaps[i] ?? 0) - mean);
  return products / (gaps.length * sd ** 2);
}

function dispersion(table: TraceTable): number | null {
  const seconds = Number((table.meta.span_ns ?? 0n) / 1_000_000_000n);
  if (seconds < 2) return null;
  const counts = new Float64Array(seconds);
  for (let i = 0; i < table.length; i++) {
    const second = Number((table.at_ns(i) ?? 0n) / 1_000_000_000n);
    if (second < seconds) counts[second] = (counts[second] ?? 0) + 1;
  }
  const { mean, sd } = momentsOf(counts);
  return mean === 0 ? null : sd ** 2 / mean;
}

function tiesOf(gaps: Float64Array) {
  let tied = 0;
  let run = 1;
  let most = 1;
  for (const gap of gaps) {
    run = gap === 0 ? run + 1 : 1;
    if (gap === 0) tied += 1;
    most = Math.max(most, run);
  }
  return { distinct_stamps: gaps.length + 1 - tied, tied_rows: tied, most_at_one_stamp: most };
}

function prefixesOf(table: TraceTable): PrefixSummary {
  const seen = new Set<number>();
  let blocks = 0;
  let hits = 0;
  for (let i = 0; i < table.length; i++) {
    const ids = table.hash_ids(i);
    const firstNew = ids.findIndex((id) => !seen.has(id));
    hits += firstNew === -1 ? ids.length : firstNew;
    blocks += ids.length;
    for (const id of ids) seen.add(id);
  }
  return {
    block_tokens: table.meta.block_tokens,
    blocks,
    distinct_blocks: seen.size,
    hit_blocks: hits,
    hit_ratio: blocks === 0 ? null : hits / blocks,
  };
}

const COUNTED = ['model', 'kind', 'conversation_id', 'images'] as const;

function countsOf({ present, rows }: TraceTable) {
  const models = new Map<string, number>();
  const kinds = new Map<string, number>();
  const conversations = new Set<string>();
  let images = 0;
  const counted = COUNTED.some((field) => present.has(field)) ? rows() : [];
  for (const row of counted) {
    countIn(models, row.model);
    countIn(kinds, row.kind);
    if (row.conversation_id !== undefined) conversations.add(row.conversation_id);
    images += row.images ?? 0;
  }
  return {
    models: Object.fromEntries(models),
    kinds: Object.fromEntries(kinds),
    conversations: present.has('conversation_id') ? conversations.size : null,
    images: present.has('images') ? images : null,
  };
}

function countIn(counts: Map<string, number>, name: string | undefined): void {
  if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
}
