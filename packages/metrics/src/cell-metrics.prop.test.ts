import { fc, test } from '@fast-check/vitest';
import { type CallRow, instant, type QueryRow } from '@perwatt/core';
import { expect } from 'vitest';
import { attribute } from './attribute.js';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput } from './cell-types.js';
import { metrics } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, every, seriesOf, span } from './series.fixture.js';
import { busySpans, idleSpans } from './spans.js';
import type { PowerSeries, Window } from './types.js';

/** Queries one after another with gaps, on power that changes every second; as one data set, and as it twice over. */
const anyCell = fc
  .record({
    lengths: fc.array(
      fc.tuple(
        fc.integer({ min: 50, max: 900 }),
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: 3 }),
      ),
      { minLength: 1, maxLength: 25 },
    ),
    idle_w: fc.integer({ min: 0, max: 40 }),
    repeats: fc.integer({ min: 1, max: 4 }),
    watts: fc.array(fc.integer({ min: 10, max: 300 }), { minLength: 5, maxLength: 5 }),
  })
  .map(({ lengths, watts, idle_w, repeats }) => {
    const rows: QueryRow[] = [];
    let now = 0;
    for (const [i, [length_ms, gap_ms, kind]] of lengths.entries()) {
      const outcome =
        kind === 2
          ? { status: 'failed', verdict: 'error', score: 0 }
          : kind === 3
            ? { score: null, verdict: 'unscored' }
            : { score: kind, verdict: kind === 1 ? 'correct' : 'incorrect' };
      rows.push(
        queryRow(`i${Math.floor(i / repeats)}`, [now / 1e3, (now + length_ms) / 1e3], {
          ...outcome,
          repeat: i % repeats,
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
    const baselinesOf = (end: number) =>
      (['before', 'after'] as const).map((when) => ({
        domain: 'rapl:0:package-0',
        when,
        at: at(when === 'before' ? -5 : end + 5),
        power_w: when === 'before' ? idle_w : idle_w + 1,
        lo_w: idle_w - 1,
        hi_w: idle_w + 2,
      }));
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
        sittings: [
          {
            sitting: 0,
            baselines: baselinesOf(copies * length_s),
            window: span(0, copies * length_s),
            series: [series],
          },
        ],
      };
    };
    return { once: build(1), twice: build(2) };
  });

test.prop([anyCell])('the same questions twice over change no point estimate', ({ once, twice }) => {
  const slo = { ttft_any: 5e6, e2e_from_dispatch: 1e8 };
  const [a, b] = [cellMetrics({ ...once, slo }), cellMetrics({ ...twice, slo })];
  expect([b.failed_ratio, b.accuracy_bounds?.lo, b.accuracy_bounds?.hi]).toEqual(
    [a.failed_ratio, a.accuracy_bounds?.lo, a.accuracy_bounds?.hi].map((x) => expect.closeTo(x!, 12)),
  );
  // The rate of a schedule is that of its gaps: one call alone has none.
  for (const { id } of metrics.filter(({ window }) => window !== 'load')) {
    const [first, second] = [a.values[id].value, b.values[id].value];
    if (first === null || second === null) expect([id, second]).toEqual([id, first]);
    else expect(Math.abs(second - first)).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(first), 1));
  }
});

test.prop([anyCell])('queries and what no query had add up to the meter', ({ once }) => {
  const { calls, sittings } = once;
  const { series, window } = sittings[0]!;
  const spans = calls.map(({ query_id, dispatch_ns, end_ns }) => ({
    query_id,
    start: instant(dispatch_ns),
    end: instant(end_ns),
  }));
  const { queries, meter } = attribute(series[0]!, spans, window);
  let total = 0;
  for (const { energy_j } of queries.values()) total += energy_j;
  for (const idle of idleSpans(window, busySpans(spans, window))) total += bookedBetween(series[0]!, idle);
  expect(Math.abs(total - meter.energy_j!)).toBeLessThanOrEqual(1e-9 * meter.energy_j!);
});

/** Energy of a span by adding up what lies between every two readings: an integration of its own. */
function bookedBetween({ at_ns, booked_j }: PowerSeries, { start, end }: Window): number {
  let energy = 0;
  for (let i = 1; i < at_ns.length; i++) {
    const [from, to] = [Number(at_ns[i - 1]!), Number(at_ns[i]!)];
    const inside = Math.min(Number(end), to) - Math.max(Number(start), from);
    if (inside > 0) energy += ((booked_j[i]! - booked_j[i - 1]!) * inside) / (to - from);
  }
  return energy;
}
