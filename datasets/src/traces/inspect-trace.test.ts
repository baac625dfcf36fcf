import { describe, expect, test } from 'vitest';
import { inspectTrace } from './inspect-trace.js';
import { loadText } from './trace-files.fixture.js';
import { arrivalBins, lengthBins } from './trace-plots.js';

const burst = (rows: readonly (readonly [number, number, number])[]) =>
  loadText(
    'b.csv',
    ['Timestamp,Request tokens,Response tokens', ...rows.map((row) => row.join(','))].join('\n'),
  );

const moon = (lists: readonly (readonly number[])[]) =>
  loadText(
    'm.jsonl',
    lists
      .map((hash_ids, timestamp) =>
        JSON.stringify({ timestamp, input_length: hash_ids.length * 512, output_length: 1, hash_ids }),
      )
      .join('\n'),
  );

describe('arrivals', () => {
  test('of one call there are none', async () => {
    expect(inspectTrace(await burst([[1, 1, 1]])).arrivals).toBeNull();
  });

  test('at one stamp have no rate and no spread', async () => {
    const found = inspectTrace(
      await burst([
        [1, 1, 1],
        [1, 2, 1],
        [1, 3, 1],
      ]),
    );
    expect(found.arrivals).toMatchObject({
      rate_per_s: null,
      gap_cv: null,
      burstiness: null,
      gamma_shape: null,
      gap_autocorrelation: null,
      dispersion_per_s: null,
      distinct_stamps: 1,
      tied_rows: 2,
      most_at_one_stamp: 3,
    });
  });

  test('of gaps 1, 3, 1, 3 s have CV 0.5 and turn each time', async () => {
    const found = inspectTrace(
      await burst([
        [0, 1, 1],
        [1, 1, 1],
        [4, 1, 1],
        [5, 1, 1],
        [8, 1, 1],
      ]),
    );
    expect(found.arrivals).toMatchObject({
      rate_per_s: 5 / 8,
      gap_cv: 0.5,
      burstiness: -1 / 3,
      gamma_shape: 4,
      gap_autocorrelation: -0.75,
      smallest_gap_ns: 1e9,
      largest_gap_ns: 3e9,
      tied_rows: 0,
    });
    expect(found.arrivals?.dispersion_per_s).toBeCloseTo(0.5, 9);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [[5], 5, 5, 'one'],
  [[5, 1], 3, 5, 'even: the mean of the middle two'],
  [[5, 1, 9], 5, 9, 'odd'],
  [[1, 1, 1, 100], 1, 100, 'ties'],
] as const)('lengths %j have median %d and p95 %d', async (lengths, median, p95, _) => {
  const { input } = inspectTrace(await burst(lengths.map((tokens, i) => [i, tokens, 1] as const)));
  expect(input).toMatchObject({ median, p95, known_rows: lengths.length });
});

// biome-ignore format: a table is read in columns
test.each([
  [[[1, 2, 3], [1, 2, 4]], 2, 4, 'a shared head'],
  [[[1, 2, 3], [9, 2, 3]], 0, 4, 'known blocks behind an unknown one are no prefix'],
  [[[1, 1, 1]], 0, 1, 'a row does not hit itself'],
  [[[1], [1], [1]], 2, 1, 'the whole input'],
  [[[1], []], 0, 1, 'an input without blocks'],
] as const)('of blocks %j, %d hit', async (lists, hit_blocks, distinct_blocks, _) => {
  const { prefixes } = inspectTrace(await moon(lists));
  expect(prefixes).toMatchObject({ hit_blocks, distinct_blocks });
});

describe('plots', () => {
  test('count every call once, the last in the last bin', async () => {
    const table = await burst([
      [0, 1, 0],
      [1, 2, 1],
      [9, 3, 4],
      [10, 1024, 5],
    ]);
    expect(arrivalBins(table, 5)).toEqual([2, 0, 0, 0, 2]);
    expect(lengthBins(table, 'input_tokens')).toEqual({ from: 1, counts: [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1] });
    expect(lengthBins(table, 'output_tokens')).toEqual({ from: 0, counts: [1, 1, 0, 2] });
  });

  test('are none where there is nothing to draw', async () => {
    const table = await loadText('s.json', '[{"conversations":[{"from":"human","value":"a"}]}]');
    expect([arrivalBins(table, 5), lengthBins(table, 'input_tokens')]).toEqual([null, null]);
  });
});
