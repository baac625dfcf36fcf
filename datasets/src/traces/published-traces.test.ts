import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inspectTrace } from './inspect-trace.js';
import { loadTrace } from './load-trace.js';

const shared = process.env['PERWATT_SHARED'] ?? '../shared';
const root = resolve(fileURLToPath(new URL('../../..', import.meta.url)), shared, 'data/traces');
const there = existsSync(root);
if (!there) process.stderr.write(`published traces are not checked: ${root} does not exist\n`);

const inspect = async (file: string) => inspectTrace(await loadTrace(file, { root, zeroOutput: 'keep' }));

// biome-ignore format: a table is read in columns
const rows = [
  // file, format, rows, span ns, input [min, median, max, sum], output [min, median, max, sum], why
  ['AzureLLMInferenceTrace_code.csv', 'azure-llm', 8819, 3_435_948_056_000n, [3, 1469, 7437, 18_059_974], [6, 13, 1899, 245_896], 'CRLF, 7 digits of a second, no newline at the end'],
  ['AzureLLMInferenceTrace_conv.csv', 'azure-llm', 19_366, 3_501_721_937_000n, [2, 1020, 14_050, 22_361_870], [7, 129, 1000, 4_088_665], 'an even number of rows'],
  ['mooncake_conversation_trace.head.jsonl', 'mooncake', 5980, 1_866_000_000_000n, [891, 7601, 123_192, 76_504_042], [1, 356, 2000, 2_074_183], 'milliseconds, in ticks of three seconds'],
  ['mooncake_synthetic_trace.jsonl', 'mooncake', 3993, 1_022_025_000_000n, [13, 11_587, 191_378, 61_194_628], [1, 69, 893, 595_432], 'milliseconds, hardly a tie'],
] as const;

describe.skipIf(!there)('published traces', () => {
  test.each(rows)('%s is read as it is', async (file, format, count, span, input, output) => {
    const found = await inspect(file);
    expect(found.meta).toMatchObject({
      format,
      rows: count,
      span_ns: span,
      bad_rows: 0,
      unsorted_rows: 0,
      zero_output_rows: 0,
      notes: [],
    });
    expect([found.input?.min, found.input?.median, found.input?.max, found.input?.sum]).toEqual(input);
    expect([found.output?.min, found.output?.median, found.output?.max, found.output?.sum]).toEqual(output);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    // file, rate, CV, smallest ns, largest ns, distinct stamps, most at one stamp
    ['AzureLLMInferenceTrace_code.csv', 2.567, 13.1513, 6000, 217_168_952_000, 8819, 1],
    ['AzureLLMInferenceTrace_conv.csv', 5.53, 1.0942, 2000, 4_314_579_000, 19_366, 1],
    ['mooncake_conversation_trace.head.jsonl', 3.205, null, 0, 3_001_000_000, 623, 23],
    ['mooncake_synthetic_trace.jsonl', 3.907, null, 0, null, 3982, 2],
  ] as const)('%s arrives as published', async (file, rate, cv, smallest, largest, distinct, most) => {
    const { arrivals } = await inspect(file);
    expect(arrivals?.rate_per_s).toBeCloseTo(rate, 3);
    if (cv !== null) expect(arrivals?.gap_cv).toBeCloseTo(cv, 4);
    expect(arrivals?.smallest_gap_ns).toBe(smallest);
    if (largest !== null) expect(arrivals?.largest_gap_ns).toBe(largest);
    expect(arrivals).toMatchObject({ distinct_stamps: distinct, most_at_one_stamp: most });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['mooncake_conversation_trace.head.jsonl', 152_254, 99_628, 0.3456],
    ['mooncake_synthetic_trace.jsonl', 121_877, 43_924, 0.6396],
  ] as const)('%s reuses prefixes as published', async (file, blocks, distinct, ratio) => {
    const { prefixes } = await inspect(file);
    expect(prefixes).toMatchObject({ block_tokens: 512, blocks, distinct_blocks: distinct });
    expect(prefixes?.hit_ratio).toBeCloseTo(ratio, 4);
  });

  test('the ticks of the conversation trace are 2,999, 3,000 and 3,001 ms apart', async () => {
    const table = await loadTrace('mooncake_conversation_trace.head.jsonl', { root, zeroOutput: 'keep' });
    const gaps = new Map<bigint, number>();
    for (let i = 1; i < table.length; i++) {
      const gap = ((table.at_ns(i) ?? 0n) - (table.at_ns(i - 1) ?? 0n)) / 1_000_000n;
      gaps.set(gap, (gaps.get(gap) ?? 0) + 1);
    }
    gaps.delete(0n);
    expect(Object.fromEntries(gaps)).toEqual({ 3000: 354, 2999: 134, 3001: 134 });
  });

  test('the first and the last row of a file are those of the table', async () => {
    const table = await loadTrace('AzureLLMInferenceTrace_code.csv', { root, zeroOutput: 'keep' });
    expect(table.meta.first_stamp).toBe('2023-11-16 18:17:03.9799600');
    expect(table.meta.sha256).toBe('54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6');
    expect(table.row(0)).toEqual({ row: 0, at_ns: 0n, input_tokens: 4808, output_tokens: 10 });
    expect(table.row(1)).toEqual({ row: 1, at_ns: 52_000_000n, input_tokens: 3180, output_tokens: 8 });
    expect(table.row(8818)).toMatchObject({
      at_ns: 3_435_948_056_000n,
      input_tokens: 549,
      output_tokens: 173,
    });
  });
});
