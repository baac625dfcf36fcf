import { fc, test } from '@fast-check/vitest';
import type { CallRow, QueryRow } from '@perwatt/core';
import { expect } from 'vitest';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput } from './cell-types.js';
import { metrics } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { every, seriesOf, span } from './series.fixture.js';

/** Queries one after another with gaps, on power that changes every second; as one data set, and as it twice over. */
const anyCell = fc
  .record({
    lengths: fc.array(
      fc.tuple(
        fc.integer({ min: 50, max: 900 }),
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: 2 }),
      ),
      { minLength: 1, maxLength: 25 },
    ),
    watts: fc.array(fc.integer({ min: 10, max: 300 }), { minLength: 5, maxLength: 5 }),
  })
  .map(({ lengths, watts }) => {
    const rows: QueryRow[] = [];
    let now = 0;
    for (const [i, [length_ms, gap_ms, kind]] of lengths.entries()) {
      const outcome =
        kind === 2
          ? { status: 'failed', verdict: 'error', score: 0 }
          : { score: kind, verdict: kind === 1 ? 'correct' : 'incorrect' };
      rows.push(
        queryRow(`i${i}`, [now / 1e3, (now + length_ms) / 1e3], {
          ...outcome,
          completion_tokens: 2 + (length_ms % 7),
        }),
      );
      now += length_ms + gap_ms;
    }
    const length_s = Math.ceil(now / 1e3);
    const energy = (s: number) => {
      let [sum, second] = [0, 0];
      for (; second + 1 <= s; second++) sum += watts[(second % length_s) % 5]!;
      return sum + (s - second) * watts[(second % length_s) % 5]!;
    };
    const build = (copies: number): CellInput => {
      const all = Array.from({ length: copies }, (_, copy) =>
        rows.map((row): QueryRow => {
          const shift = BigInt(copy * length_s) * 1_000_000_000n;
          return {
            ...row,
            item_id: `${row.item_id}/${copy}`,
            query_id: `${row.query_id}/${copy}`,
            start_ns: row.start_ns + shift,
            end_ns: row.end_ns + shift,
          };
        }),
      ).flat();
      const calls = all.map(
        (row): CallRow => callRow(row, row.status === 'failed' ? { status: 'timeout' } : {}),
      );
      const series = seriesOf(every(0.25, copies * length_s), energy);
      return {
        queries: all,
        calls,
        guess_rate: 0,
        sittings: [{ sitting: 0, baselines: [], window: span(0, copies * length_s), series: [series] }],
      };
    };
    return { once: build(1), twice: build(2) };
  });

test.prop([anyCell])('the same questions twice over change no point estimate', ({ once, twice }) => {
  const [a, b] = [cellMetrics(once), cellMetrics(twice)];
  for (const { id } of metrics) {
    const [first, second] = [a.values[id].value, b.values[id].value];
    if (first === null || second === null) expect([id, second]).toEqual([id, first]);
    else expect(Math.abs(second - first)).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(first), 1));
  }
});
