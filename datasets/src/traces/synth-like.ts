import { createRng, PerwattError, seedFrom, type TraceRow } from '@perwatt/core';
import { gapsOf } from './inspect-trace.js';
import { gapDraw, type SynthArrivals } from './synth-arrivals.js';
import { shuffled } from './synth-samplers.js';
import type { TraceField } from './trace-columns.js';
import type { TraceTable } from './trace-table.js';
import { metaJson, type WritableTrace } from './write-trace.js';

export interface SynthLikeOptions {
  readonly rows: number;
  readonly seed: number;
  /** Calls per second; the trace's own unless given. */
  readonly rate_per_s?: number;
  /** Arrivals by a law instead of the trace's. */
  readonly arrivals?: SynthArrivals;
}

/** Relative error of the mean gap beyond which all gaps are scaled. */
const RATE_TOLERANCE = 0.01;
/** An id in at least this share of the rows is shared by all of the new trace, as a system prompt is. */
const COMMON_SHARE = 0.05;

/**
 * A trace of any length that is like another: a block bootstrap (Künsch, 1989). Blocks of √n successive rows are dealt out
 * in random order until all are used, then dealt again from another starting row, so that every row is used about as often as
 * any other; a row brings its gap, its lengths and its kind, so bursts and the joint distribution of lengths stay. Hash ids
 * are renamed at each deal, but for those common to many rows. Gaps are scaled where their mean is off by more than 1 %.
 * Conversation links and texts are not carried over. Throws `INPUT_INVALID` when the trace lacks times or lengths.
 */
export function synthLike(table: TraceTable, options: SynthLikeOptions): WritableTrace {
  const { rows, seed, arrivals } = options;
  if (!(Number.isSafeInteger(rows) && rows > 0)) throw invalid(`${rows} is no number of rows`);
  const gaps = arrivals === undefined ? sourceGaps(table) : null;
  const kept: readonly TraceField[] = ['at_ns', 'hash_ids', 'images', 'kind', 'model'];
  return {
    name: `the trace like ${table.meta.path}`,
    present: new Set(kept.filter((field) => field === 'at_ns' || table.present.has(field))),
    block_tokens: table.meta.block_tokens,
    origin: { kind: 'synthetic', ...options, like: metaJson(table.meta) },
    *rows() {
      const rename = renamer(table);
      const nextGap = gaps === null ? lawGaps(options) : scaledGaps(gaps, table.length, options);
      let at = 0;
      let row = 0;
      for (const { index, deal } of dealt(table.length, rows, seed)) {
        const gap = nextGap(index);
        if (row > 0) at += gap;
        yield likeRow(table.row(index), {
          row: row++,
          at_ns: BigInt(Math.round(at)),
          rename: (id) => rename(id, deal),
        });
      }
    },
  };
}

const invalid = (message: string, hint?: string) =>
  new PerwattError('INPUT_INVALID', message, hint === undefined ? {} : { hint });

/** The gap before each row; the first has the mean of all. */
function sourceGaps(table: TraceTable): Float64Array {
  const between = gapsOf(table);
  if (between === null || between.length === 0 || table.meta.span_ns === 0n)
    throw invalid(`${table.meta.path} has no time to take arrivals from`, 'Give --shape and --rate.');
  const mean = Number(table.meta.span_ns ?? 0n) / between.length;
  const gaps = new Float64Array(table.length);
  gaps[0] = mean;
  gaps.set(between, 1);
  return gaps;
}

const lawGaps = ({ arrivals, seed }: SynthLikeOptions) =>
  arrivals === undefined ? () => 0 : gapDraw(arrivals, createRng(seedFrom(seed, 'trace', 'arrivals')));

function scaledGaps(
  gaps: Float64Array,
  length: number,
  options: SynthLikeOptions,
): (index: number) => number {
  const { rows, seed, rate_per_s } = options;
  const sum = gaps.reduce((a, b) => a + b, 0);
  let drawn = 0;
  for (const { index } of dealt(length, rows, seed)) drawn += gaps[index] ?? 0;
  const wanted = rate_per_s === undefined ? sum / length : 1e9 / rate_per_s;
  const factor = wanted / (drawn / rows);
  const scale = Math.abs(factor - 1) > RATE_TOLERANCE ? factor : 1;
  return (index) => (gaps[index] ?? 0) * scale;
}

/** Rows of the source in the order they are used, with the number of the deal. */
function* dealt(length: number, rows: number, seed: number) {
  const rng = createRng(seedFrom(seed, 'trace', 'blocks'));
  const size = Math.max(1, Math.round(Math.sqrt(length)));
  const blocks = Math.ceil(length / size);
  let made = 0;
  for (let deal = 0; made < rows; deal++) {
    const start = Math.floor(rng() * length);
    for (const block of shuffled(rng, blocks)) {
      const end = Math.min(length, (block + 1) * size);
      for (let i = block * size; i < end && made < rows; i++, made++)
        yield { index: (start + i) % length, deal };
    }
  }
}

interface NewRow {
  readonly row: number;
  readonly at_ns: bigint;
  readonly rename: (id: number) => number;
}

function likeRow(source: TraceRow, { row, at_ns, rename }: NewRow): TraceRow {
  const { input_tokens, output_tokens, images, kind, model, hash_ids, block_tokens } = source;
  if (input_tokens === null || output_tokens === null)
    throw invalid(`row ${source.row} of the trace has no token counts to be like`);
  return {
    row,
    at_ns,
    input_tokens,
    output_tokens,
    ...(hash_ids === undefined ? {} : { hash_ids: hash_ids.map(rename) }),
    ...(hash_ids === undefined || block_tokens === undefined ? {} : { block_tokens }),
    ...(images === undefined ? {} : { images }),
    ...(kind === undefined ? {} : { kind }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Ids from 0, one range for each deal; common ids keep theirs. */
function renamer(table: TraceTable): (id: number, deal: number) => number {
  const uses = new Map<number, number>();
  for (let i = 0; i < table.length && table.present.has('hash_ids'); i++)
    for (const id of table.hash_ids(i)) uses.set(id, (uses.get(id) ?? 0) + 1);
  const common = Math.max(3, table.length * COMMON_SHARE);
  const numbers = new Map([...uses.keys()].map((id, number) => [id, number]));
  return (id, deal) => {
    const number = numbers.get(id) ?? 0;
    return (uses.get(id) ?? 0) >= common ? number : number + deal * numbers.size;
  };
}
