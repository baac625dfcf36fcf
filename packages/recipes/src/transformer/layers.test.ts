import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createRandom, normal } from '../numeric/random.js';
import { attentionBackward, attentionForward } from './attention.js';
import { multiply } from './multiply.js';
import { normBackward, normForward } from './norm.js';

const seeds = fc.integer({ min: 0, max: 1_000_000 });

const drawn = (seed: number, n: number): Float64Array => {
  const random = createRandom(seed, 'layers');
  return Float64Array.from({ length: n }, () => normal(random));
};

const dotOf = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Slope of a function along a direction, by the central difference. */
function slope(at: Float64Array, along: Float64Array, f: (x: Float64Array) => number): number {
  const h = 1e-5;
  const moved = (s: number) => f(at.map((value, i) => value + s * h * along[i]!));
  return (moved(1) - moved(-1)) / (2 * h);
}

describe('a product', () => {
  test.prop([
    seeds,
    fc.integer({ min: 0, max: 9 }),
    fc.integer({ min: 0, max: 9 }),
    fc.integer({ min: 1, max: 3 }),
  ])('is the sum over k of row times column, however both lie in memory', (seed, m, k, blocks) => {
    const n = 4 * blocks;
    const [a, b] = [drawn(seed, m * k), drawn(seed + 1, k * n)];
    const want = Array.from({ length: m * n }, (_, i) =>
      Array.from({ length: k }, (_, p) => a[Math.floor(i / n) * k + p]! * b[p * n + (i % n)]!).reduce(
        (x, y) => x + y,
        0,
      ),
    );
    const turned = (x: Float64Array, rows: number, columns: number) =>
      Float64Array.from({ length: x.length }, (_, i) => x[(i % rows) * columns + Math.floor(i / rows)]!);
    const close = (out: Float64Array, base: number) => {
      for (const [i, value] of want.entries()) expect(out[i]).toBeCloseTo(value + base, 10);
    };
    const plain = new Float64Array(m * n).fill(9);
    multiply(plain, a, b, { m, k, n, a_m: k, a_k: 1, b_k: n, b_n: 1, add: false });
    close(plain, 0);
    const added = new Float64Array(m * n).fill(9);
    const [at, bt] = [turned(a, m, k), turned(b, k, n)];
    multiply(added, at, bt, { m, k, n, a_m: 1, a_k: m, b_k: 1, b_n: k, add: true });
    close(added, 9);
  });

  it('gives a row the same bits alone as among others', () => {
    const [m, k, n] = [7, 33, 8];
    const [a, b] = [Float32Array.from(drawn(1, m * k)), Float32Array.from(drawn(2, k * n))];
    const shape = { k, n, a_m: k, a_k: 1, b_k: 1, b_n: k, add: false };
    const all = new Float32Array(m * n);
    multiply(all, a, b, { ...shape, m });
    for (let i = 0; i < m; i++) {
      const one = new Float32Array(n);
      multiply(one, a.subarray(i * k), b, { ...shape, m: 1 });
      expect(one).toEqual(all.slice(i * n, (i + 1) * n));
    }
  });
});

describe('a norm', () => {
  const [rows, width] = [3, 8];
  const scale = new Float64Array(rows);

  test.prop([seeds])('has the gradient that finite differences have', (seed) => {
    const [x, gain, d_out, along] = [1, 2, 3, 4].map((i) => drawn(seed + i, i === 2 ? width : rows * width));
    const loss = (input: Float64Array, gains: Float64Array) => {
      const out = new Float64Array(rows * width);
      normForward(out, input, gains, { rows, width, scale });
      return dotOf(out, d_out!);
    };
    loss(x!, gain!);
    const [d_x, d_gain] = [new Float64Array(rows * width), new Float64Array(width)];
    normBackward(d_x, { rows, width, scale, x: x!, gain: gain!, d_out: d_out!, d_gain });
    expect(dotOf(d_x, along!)).toBeCloseTo(
      slope(x!, along!, (input) => loss(input, gain!)),
      5,
    );
    const turn = along!.slice(0, width);
    expect(dotOf(d_gain, turn)).toBeCloseTo(
      slope(gain!, turn, (gains) => loss(x!, gains)),
      5,
    );
  });
});

describe('attention', () => {
  const [width, heads, positions] = [8, 2, 6];
  const starts = Int32Array.of(0, 4, 5, 10);
  const rows = { starts, width, heads, positions };
  const n = 10;
  const forward = (qkv: Float64Array) => {
    const [out, shares] = [new Float64Array(n * width), new Float64Array(n * heads * positions)];
    attentionForward(out, qkv, shares, rows);
    return { out, shares };
  };

  test.prop([seeds])('has the gradient that finite differences have', (seed) => {
    const [qkv, d_out, along] = [
      drawn(seed, n * 3 * width),
      drawn(seed + 1, n * width),
      drawn(seed + 2, n * 3 * width),
    ];
    const { shares } = forward(qkv);
    const d_qkv = new Float64Array(n * 3 * width).fill(7);
    attentionBackward(d_qkv, { qkv, shares, d_out }, rows);
    expect(dotOf(d_qkv, along)).toBeCloseTo(
      slope(qkv, along, (own) => dotOf(forward(own).out, d_out)),
      5,
    );
  });

  test.prop([seeds, fc.integer({ min: 0, max: n - 1 })])(
    'sees neither what comes later nor other sequences',
    (seed, moved) => {
      const qkv = drawn(seed, n * 3 * width);
      const before = forward(qkv).out;
      for (let c = 0; c < 3 * width; c++) qkv[moved * 3 * width + c]! += 1;
      const after = forward(qkv).out;
      const sequence = (row: number) => starts.findIndex((start) => start > row);
      for (let row = 0; row < n; row++)
        if (row < moved || sequence(row) !== sequence(moved))
          expect(after.slice(row * width, (row + 1) * width)).toEqual(
            before.slice(row * width, (row + 1) * width),
          );
      expect(after.slice(moved * width, (moved + 1) * width)).not.toEqual(
        before.slice(moved * width, (moved + 1) * width),
      );
    },
  );
});
