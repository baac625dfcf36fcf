import { describe, expect, test } from 'vitest';
import { inspectTrace, type TraceInspection } from './inspect-trace.js';
import { prefixTree } from './prefix-tree.js';
import { synthLike } from './synth-like.js';
import { type SynthShapeOptions, synthShape } from './synth-shape.js';
import { loadText } from './trace-files.fixture.js';
import type { TraceTable } from './trace-table.js';
import { traceBytes, type WritableTrace } from './write-trace.js';

const loaded = (trace: WritableTrace) => loadText('t.arrow', Buffer.concat([...traceBytes(trace, 'arrow')]));
const inspected = async (trace: WritableTrace) => inspectTrace(await loaded(trace));

const laws: SynthShapeOptions = {
  rows: 20_000,
  seed: 11,
  arrivals: { shape: 'poisson', rate_per_s: 50, cv: 1 },
  input: { mean: 800, cv: 1.2 },
  output: { mean: 200, cv: 0.5 },
};

describe('a trace by its laws', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['constant', 1, 0, 'CV 0, to the rounding of a ns'],
    ['poisson', 1, 1, 'CV 1'],
    ['gamma', 3, 3, 'bursts'],
    ['gamma', 0.5, 0.5, 'smoother than Poisson'],
  ] as const)('%s arrivals of CV %d have CV %d', async (shape, cv, expected, _) => {
    const { arrivals } = await inspected(synthShape({ ...laws, arrivals: { shape, rate_per_s: 50, cv } }));
    expect(arrivals?.gap_cv).toBeGreaterThanOrEqual(expected * 0.96);
    expect(arrivals?.gap_cv).toBeLessThanOrEqual(expected * 1.04 + 0.001);
    const spread = (4 * Math.max(expected, 0.01)) / Math.sqrt(laws.rows);
    expect(Math.abs((arrivals?.rate_per_s ?? 0) / 50 - 1)).toBeLessThan(spread);
    expect(Math.abs(arrivals?.gap_autocorrelation ?? 0)).toBeLessThan(4 / Math.sqrt(laws.rows));
  });

  test('lengths have the mean and the CV that were asked', async () => {
    const { input, output } = await inspected(synthShape(laws));
    expect(Math.abs((input?.mean ?? 0) / 800 - 1)).toBeLessThan(0.03);
    expect(Math.abs((input?.cv ?? 0) / 1.2 - 1)).toBeLessThan(0.08);
    expect(Math.abs((output?.mean ?? 0) / 200 - 1)).toBeLessThan(0.015);
    expect(Math.abs((output?.cv ?? 0) / 0.5 - 1)).toBeLessThan(0.05);
    const fixed = await inspected(synthShape({ ...laws, rows: 10, input: { mean: 512, cv: 0 } }));
    expect([fixed.input?.min, fixed.input?.max]).toEqual([512, 512]);
  });

  test('the same seed gives the same bytes, another seed others, and one law does not move another', async () => {
    const bytes = (options: SynthShapeOptions) =>
      Buffer.concat([...traceBytes(synthShape({ ...options, rows: 200 }), 'csv')]).toString();
    expect(bytes(laws)).toBe(bytes(laws));
    expect(bytes({ ...laws, seed: 12 })).not.toBe(bytes(laws));
    const column = (text: string, i: number) => text.split('\n').map((line) => line.split(',')[i]);
    const slower = bytes({ ...laws, arrivals: { ...laws.arrivals, rate_per_s: 1 } });
    expect(column(slower, 2)).toEqual(column(bytes(laws), 2));
    expect(column(slower, 1)).not.toEqual(column(bytes(laws), 1));
  });

  test('prefixes form the tree that was asked', async () => {
    const prefixes = prefixTree('2x1024,3x512', 512);
    const table = await loaded(synthShape({ ...laws, rows: 3000, input: { mean: 2100, cv: 0 }, prefixes }));
    const heads = new Map<string, Set<string>>();
    for (let i = 0; i < table.length; i++) {
      const ids = table.hash_ids(i);
      expect(ids).toHaveLength(5);
      const root = ids.slice(0, 2).join(' ');
      heads.set(root, (heads.get(root) ?? new Set()).add(`${ids[2]}`));
    }
    expect([...heads.values()].map((leaves) => leaves.size)).toEqual([3, 3]);
    expect(inspectTrace(table).prefixes?.hit_ratio).toBeCloseTo(3 / 5, 2);
    expect(inspectTrace(table).prefixes?.distinct_blocks).toBe(2 * 2 + 6 + 3000 * 2);
  });

  test('an input shorter than its prefix shares the whole blocks it has', async () => {
    const prefixes = prefixTree('1x1024', 512);
    const table = await loaded(synthShape({ ...laws, rows: 2, input: { mean: 600, cv: 0 }, prefixes }));
    const [a, b] = [table.hash_ids(0), table.hash_ids(1)];
    expect([a.length, a[0] === b[0], a[1] === b[1]]).toEqual([2, true, false]);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [{ rows: 0 }, 'the rows is 0, not above 0'],
    [{ arrivals: { shape: 'poisson', rate_per_s: 0, cv: 1 } }, 'the rate is 0, not above 0'],
    [{ arrivals: { shape: 'gamma', rate_per_s: 1, cv: 0 } }, 'the CV of the gaps is 0'],
    [{ input: { mean: Number.NaN, cv: 0 } }, 'the input length is NaN'],
    [{ output: { mean: 1, cv: -1 } }, 'the CV of the lengths is -1'],
  ] as const)('laws that cannot be drawn from are refused: %j', (change, message) => {
    expect(() => synthShape({ ...laws, ...change })).toThrow(message);
  });

  test.each(['4', '0x512', '4x500', '1000x512,1000x512,1000x512'])('%s is no tree', (text) => {
    expect(() => prefixTree(text, 512)).toThrow();
  });
});

/** A source with bursts, quiet spells, long inputs with short outputs, and a shared prompt. */
async function source(): Promise<TraceTable> {
  const lines: string[] = [];
  let at = 0;
  for (let i = 0; i < 2000; i++) {
    const quiet = i % 50 === 0;
    at += quiet ? 60_000 + (i % 7) * 1000 : 20 + ((i * 37) % 100);
    const blocks = 2 + ((i * 13) % 9);
    const own = Array.from({ length: blocks - 1 }, (_, b) => 1_000_000 + Math.floor(i / 4) * 100 + b);
    lines.push(
      JSON.stringify({
        timestamp: at,
        input_length: blocks * 512,
        output_length: 1000 - blocks * 80,
        hash_ids: [0, ...own],
      }),
    );
  }
  return loadText('m.jsonl', lines.join('\n'));
}

const ratio = (a: number | null | undefined, b: number | null | undefined) => (a ?? 0) / (b ?? 1);

function correlation(table: TraceTable): number {
  let [sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < table.length; i++) {
    const [x, y] = [table.input_tokens(i) ?? 0, table.output_tokens(i) ?? 0];
    sx += x;
    sy += y;
    sxx += x * x;
    syy += y * y;
    sxy += x * y;
  }
  const n = table.length;
  return (n * sxy - sx * sy) / Math.sqrt((n * sxx - sx ** 2) * (n * syy - sy ** 2));
}

function expectAlike(found: TraceInspection, like: TraceInspection): void {
  expect(Math.abs(ratio(found.arrivals?.rate_per_s, like.arrivals?.rate_per_s) - 1)).toBeLessThan(0.011);
  expect(Math.abs(ratio(found.arrivals?.gap_cv, like.arrivals?.gap_cv) - 1)).toBeLessThan(0.05);
  for (const side of ['input', 'output'] as const) {
    expect(Math.abs(ratio(found[side]?.mean, like[side]?.mean) - 1)).toBeLessThan(0.02);
    expect(Math.abs(ratio(found[side]?.median, like[side]?.median) - 1)).toBeLessThan(0.02);
    expect(Math.abs(ratio(found[side]?.cv, like[side]?.cv) - 1)).toBeLessThan(0.05);
  }
  expect(Math.abs((found.prefixes?.hit_ratio ?? 0) - (like.prefixes?.hit_ratio ?? 0))).toBeLessThan(0.02);
}

describe('a trace like another', () => {
  test.each([2000, 20_000, 24_567])('of %d rows has its rate, bursts, lengths and reuse', async (rows) => {
    const like = await source();
    const table = await loaded(synthLike(like, { rows, seed: 5 }));
    expect(table.length).toBe(rows);
    expectAlike(inspectTrace(table), inspectTrace(like));
    expect(correlation(table)).toBeCloseTo(correlation(like), 1);
    expect(inspectTrace(table).arrivals?.dispersion_per_s).toBeGreaterThan(5);
  });

  test('keeps gaps whole where the rate is near enough', async () => {
    const like = await source();
    const known = new Set(Array.from({ length: 1999 }, (_, i) => like.at_ns(i + 1)! - like.at_ns(i)!));
    const table = await loaded(synthLike(like, { rows: 4000, seed: 5 }));
    const made = Array.from({ length: 3999 }, (_, i) => table.at_ns(i + 1)! - table.at_ns(i)!);
    expect(made.filter((gap) => !known.has(gap)).length).toBeLessThanOrEqual(4);
  });

  test('is scaled to the rate where the blocks at hand miss it', async () => {
    const like = await source();
    const table = await loaded(synthLike(like, { rows: 700, seed: 5 }));
    const { arrivals } = inspectTrace(table);
    expect(Math.abs(ratio(arrivals?.rate_per_s, inspectTrace(like).arrivals?.rate_per_s) - 1)).toBeLessThan(
      0.12,
    );
  });

  test('is another trace for another seed, and the same for the same', async () => {
    const like = await source();
    const bytes = (seed: number) =>
      Buffer.concat([...traceBytes(synthLike(like, { rows: 500, seed }), 'jsonl')]).toString();
    expect(bytes(1)).toBe(bytes(1));
    expect(bytes(2)).not.toBe(bytes(1));
  });

  test('shares only what is common when it is dealt again', async () => {
    const like = await source();
    const table = await loaded(synthLike(like, { rows: 6000, seed: 5 }));
    const distinct = inspectTrace(like).prefixes?.distinct_blocks ?? 0;
    expect(inspectTrace(table).prefixes?.distinct_blocks).toBe(3 * (distinct - 1) + 1);
  });

  test('can have another rate, or other arrivals', async () => {
    const like = await source();
    const faster = await inspected(synthLike(like, { rows: 4000, seed: 5, rate_per_s: 100 }));
    expect(faster.arrivals?.rate_per_s).toBeCloseTo(100, 0);
    expect(ratio(faster.arrivals?.gap_cv, inspectTrace(like).arrivals?.gap_cv)).toBeCloseTo(1, 1);
    const even = await inspected(
      synthLike(like, { rows: 4000, seed: 5, arrivals: { shape: 'constant', rate_per_s: 10, cv: 1 } }),
    );
    expect(even.arrivals?.gap_cv).toBeLessThan(0.001);
    expect(ratio(even.input?.mean, inspectTrace(like).input?.mean)).toBeCloseTo(1, 2);
  });

  test('needs times and lengths', async () => {
    const timeless = await loadText('s.json', '[{"conversations":[{"from":"human","value":"a"}]}]');
    expect(() => synthLike(timeless, { rows: 5, seed: 1 })).toThrow('has no time to take arrivals from');
    const arrivals = { shape: 'poisson', rate_per_s: 1, cv: 1 } as const;
    const uncounted = synthLike(timeless, { rows: 5, seed: 1, arrivals });
    expect(() => [...uncounted.rows()]).toThrow('row 0 of the trace has no token counts');
  });
});
