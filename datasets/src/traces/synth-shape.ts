import { createRng, PerwattError, seedFrom, type TraceRow } from '@perwatt/core';
import { type PrefixTree, prefixHasher } from './prefix-tree.js';
import { gapDraw, type SynthArrivals } from './synth-arrivals.js';
import { lognormal } from './synth-samplers.js';
import type { TraceField } from './trace-columns.js';
import type { WritableTrace } from './write-trace.js';

/** Lognormal lengths, rounded to whole tokens of at least 1; all the same for a CV of 0. */
export interface SynthLengths {
  readonly mean: number;
  readonly cv: number;
}

export interface SynthShapeOptions {
  readonly rows: number;
  readonly seed: number;
  readonly arrivals: SynthArrivals;
  readonly input: SynthLengths;
  readonly output: SynthLengths;
  readonly prefixes?: PrefixTree;
}

/**
 * A trace by its laws alone: arrivals, lengths (input and output independent of each other) and shared prefixes, each drawn
 * from a generator of its own, so that changing one leaves the others as they were. The same options give the same rows.
 */
export function synthShape(options: SynthShapeOptions): WritableTrace {
  const { prefixes, seed } = options;
  checkShape(options);
  return {
    name: 'the synthetic trace',
    present: new Set<TraceField>(prefixes === undefined ? ['at_ns'] : ['at_ns', 'hash_ids']),
    block_tokens: prefixes?.block_tokens ?? null,
    origin: { kind: 'synthetic', ...options },
    *rows() {
      const rng = (purpose: string) => createRng(seedFrom(seed, 'trace', purpose));
      const gap = gapDraw(options.arrivals, rng('arrivals'));
      const [inputRng, outputRng] = [rng('input'), rng('output')];
      const hash = prefixes === undefined ? null : prefixHasher(prefixes, rng('prefixes'));
      let at = 0;
      for (let row = 0; row < options.rows; row++) {
        if (row > 0) at += gap();
        const input = tokens(lognormal(inputRng, options.input.mean, options.input.cv));
        yield {
          row,
          at_ns: BigInt(Math.round(at)),
          input_tokens: input,
          output_tokens: tokens(lognormal(outputRng, options.output.mean, options.output.cv)),
          ...(hash === null ? {} : hashed(hash(input), prefixes?.block_tokens)),
        } satisfies TraceRow;
      }
    },
  };
}

const MOST_TOKENS = 10_000_000;

const tokens = (value: number) => Math.min(MOST_TOKENS, Math.max(1, Math.round(value)));

const hashed = (hash_ids: readonly number[], block_tokens: number | undefined) =>
  block_tokens === undefined ? { hash_ids } : { hash_ids, block_tokens };

/** Throws `INPUT_INVALID` for laws that cannot be drawn from. */
function checkShape({ rows, arrivals, input, output }: SynthShapeOptions): void {
  const positive = {
    rows,
    rate: arrivals.rate_per_s,
    'input length': input.mean,
    'output length': output.mean,
  };
  for (const [name, value] of Object.entries(positive))
    if (!(Number.isFinite(value) && value > 0)) throw invalid(`the ${name} is ${value}, not above 0`);
  if (arrivals.shape === 'gamma' && !(arrivals.cv >= 0.01 && arrivals.cv <= 100))
    throw invalid(`the CV of the gaps is ${arrivals.cv}, not 0.01…100`);
  for (const { cv } of [input, output])
    if (!(cv >= 0 && cv <= 10)) throw invalid(`the CV of the lengths is ${cv}, not 0…10`);
}

const invalid = (message: string) => new PerwattError('INPUT_INVALID', message);
