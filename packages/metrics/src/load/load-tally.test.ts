import { expect, test } from 'vitest';
import { type CallStampsOf, callTimes } from './call-times.js';
import { createLoadTally } from './load-tally.js';
import { judgeSlo } from './slo.js';

const MS = 1e6;

/** A call whose stamps are given in ms after its dispatch, which is at `at` ms. */
function call(
  at: number,
  own: Partial<Record<'any' | 'content' | 'last' | 'end' | 'sched', number>> &
    Partial<Pick<CallStampsOf, 'ok' | 'tokens' | 'streamed'>> = {},
): CallStampsOf {
  const stamp = (ms: number | undefined) => (ms === undefined ? null : (at + ms) * MS);
  return {
    sched_ns: stamp(own.sched),
    dispatch_ns: at * MS,
    first_any_ns: stamp(own.any),
    first_content_ns: stamp(own.content),
    last_content_ns: stamp(own.last),
    end_ns: (at + (own.end ?? own.last ?? 0)) * MS,
    streamed: own.streamed ?? true,
    ok: own.ok ?? true,
    tokens: own.tokens ?? null,
  };
}

const inMs = (times: ReturnType<typeof callTimes>) =>
  Object.fromEntries(Object.entries(times).map(([k, v]) => [k, v === null ? null : v / MS]));

// biome-ignore format: a table is read in columns
test.each([
  { why: 'one stream, ten tokens 10 ms apart', own: { any: 500, content: 500, last: 590, tokens: 10 },
    want: { ttft_any: 500, ttft_content: 500, tpot: 10, e2e_from_dispatch: 590 } },
  { why: 'usage and [DONE] come after the last token', own: { any: 100, content: 100, last: 120, end: 421, tokens: 3 },
    want: { e2e_from_dispatch: 120, tpot: 10 } },
  { why: 'fewer tokens than were asked for', own: { any: 200, content: 200, last: 290, tokens: 10 },
    want: { tpot: 10 } },
  { why: 'an event may hold several tokens', own: { any: 500, last: 580, tokens: 12 },
    want: { tpot: 80 / 11 } },
  { why: 'reasoning first', own: { any: 500, content: 600, last: 600, tokens: 11 },
    want: { ttft_any: 500, ttft_content: 600, tpot: 10 } },
  { why: 'reasoning only', own: { any: 500, last: 690, tokens: 20 },
    want: { ttft_any: 500, ttft_content: null, tpot: 10 } },
  { why: 'one token has no time per token', own: { any: 5, content: 5, last: 5, tokens: 1 }, want: { tpot: null } },
  { why: 'no count, no time per token', own: { any: 5, content: 5, last: 50 }, want: { tpot: null } },
  { why: 'ended well without a token', own: { end: 30, tokens: 0 },
    want: { ttft_any: null, tpot: null, e2e_from_dispatch: null, e2e_from_schedule: null } },
  { why: 'not streamed: from dispatch to the end', own: { end: 70, streamed: false, tokens: 4, sched: -5 },
    want: { ttft_any: null, e2e_from_dispatch: 70, e2e_from_schedule: 75, lag: 5 } },
  { why: 'failed: only its lag', own: { any: 5, last: 50, ok: false, sched: -3 },
    want: { ttft_any: null, e2e_from_dispatch: null, e2e_from_schedule: null, lag: 3 } },
  { why: 'closed loop', own: { any: 5, last: 50 }, want: { e2e_from_schedule: null, lag: null } },
])('times of a call: $why', ({ own, want }) => {
  expect(inMs(callTimes(call(1000, own)))).toMatchObject(want);
});

test('a queue in the client is in the latency from the schedule and not in the one from dispatch', () => {
  const tally = createLoadTally();
  for (let i = 0; i < 8; i++) tally.add(call(500 * i, { sched: -400 * i, any: 1, last: 500 }), 'ok');
  const { times, late, offered_per_s, achieved_per_s } = tally.summary();
  expect(times.e2e_from_dispatch).toMatchObject({ p50: 500 * MS, max: 500 * MS, n: 8 });
  expect(times.e2e_from_schedule).toMatchObject({ p50: 1700 * MS, p99: 3300 * MS, max: 3300 * MS });
  expect(times.lag).toMatchObject({ max: 2800 * MS });
  expect(late).toBe(7);
  expect(offered_per_s).toBeCloseTo(10);
  expect(achieved_per_s).toBeCloseTo(2);
});

test('failures are a population of their own', () => {
  const tally = createLoadTally({ slo: { ttft_any: 100 * MS } });
  for (let i = 0; i < 100; i++) {
    const failed = i % 10 === 0;
    tally.add(
      call(i * 10, failed ? { ok: false, end: 1 } : { any: 50, last: 60, tokens: 2 }),
      failed ? 'http_error' : 'ok',
    );
  }
  const summary = tally.summary();
  expect(summary).toMatchObject({
    calls: 100,
    ok: 90,
    failed: 10,
    good_fraction: 0.9,
    good_fraction_of_ok: 1,
  });
  expect(summary.statuses).toEqual({ http_error: 10, ok: 90 });
  expect(summary.times.ttft_any).toMatchObject({ n: 90, p50: 50 * MS });
  expect(summary.output_tokens).toBe(180);
});

test('a load in which nothing ended well has no latency, no tokens and no good call', () => {
  const tally = createLoadTally({ slo: { tpot: MS } });
  for (let i = 0; i < 100; i++) tally.add(call(i, { ok: false, end: 1 }), 'http_error');
  const summary = tally.summary();
  expect(summary).toMatchObject({ ok: 0, output_tokens: null, output_tokens_per_s: null, good_fraction: 0 });
  expect(summary.good_fraction_of_ok).toBeNull();
  expect(summary.times.ttft_any).toBeNull();
  expect(summary.goodput_per_s).toBe(0);
});

test('nothing at all is nothing, not 0', () => {
  expect(createLoadTally({ slo: { tpot: 1 } }).summary()).toMatchObject({
    calls: 0,
    span_ns: null,
    offered_per_s: null,
    achieved_per_s: null,
    ok_per_s: null,
    output_tokens: null,
    late: null,
    goodput_per_s: null,
    good_fraction: null,
  });
});

test('one call without a count makes the sum of tokens unknown, not smaller', () => {
  const tally = createLoadTally();
  tally.add(call(0, { any: 1, last: 2, tokens: 5 }), 'ok');
  tally.add(call(1, { any: 1, last: 2 }), 'ok');
  expect(tally.summary().output_tokens).toBeNull();
});

test('ten thousand calls keep their quantiles: nothing is sampled or interpolated', () => {
  const tally = createLoadTally();
  for (let i = 1; i <= 10_000; i++) tally.add(call(0, { any: (i * 7919) % 10_007, last: 20_000 }), 'ok');
  const seen = Array.from({ length: 10_000 }, (_, i) => ((i + 1) * 7919) % 10_007).sort((a, b) => a - b);
  expect(tally.summary().times.ttft_any).toMatchObject({
    p50: (seen[4999] ?? 0) * MS,
    p99: (seen[9899] ?? 0) * MS,
  });
});

// biome-ignore format: a table is read in columns
test.each([
  { why: 'within every limit',             own: { any: 10, last: 30, tokens: 3 },              good: true,  not_applied: false },
  { why: 'a limit itself is met',          own: { any: 20, last: 40, tokens: 3 },              good: true,  not_applied: false },
  { why: 'one limit is missed',            own: { any: 21, last: 22, tokens: 3 },              good: false, not_applied: false },
  { why: 'one token: the other decides',   own: { any: 10, last: 10, tokens: 1 },              good: true,  not_applied: true },
  { why: 'one token, late',                own: { any: 30, last: 30, tokens: 1 },              good: false, not_applied: true },
  { why: 'no time at all: no verdict',     own: { end: 5, tokens: 0 },                         good: null,  not_applied: true },
  { why: 'a failed call is not good',      own: { any: 1, last: 2, tokens: 2, ok: false },     good: false, not_applied: false },
])('limits on a call: $why', ({ own, good, not_applied }) => {
  const one = call(0, own);
  expect(judgeSlo(callTimes(one), { ttft_any: 20 * MS, tpot: 10 * MS }, one.ok)).toEqual({ good, not_applied });
});

test('without limits there is no verdict', () => {
  expect(judgeSlo(callTimes(call(0, { any: 1, last: 2 })), {}, true)).toEqual({
    good: null,
    not_applied: false,
  });
});

test('the time between two sittings counts for nothing', () => {
  const tally = createLoadTally();
  for (const [sitting, from] of [
    [0, 0],
    [1, 1e9],
  ] as const) {
    for (let i = 0; i < 11; i++)
      tally.add(call(from + 100 * i, { sched: 0, any: 10, last: 100, tokens: 2 }), 'ok', sitting);
  }
  const summary = tally.summary();
  expect(summary.span_ns).toBe(2200 * MS);
  expect(summary).toMatchObject({
    offered_per_s: 10,
    achieved_per_s: 10,
    ok_per_s: 10,
    output_tokens_per_s: 20,
  });
});

test('a tally of some of the times counts the same calls', () => {
  const all = createLoadTally();
  const some = createLoadTally({ times: ['lag', 'tpot'] });
  for (const tally of [all, some])
    for (let i = 0; i < 20_000; i++)
      tally.add(call(i, { sched: -(i % 9), any: 1, last: 3 + (i % 5), tokens: 3 }), 'ok');
  const [whole, part] = [all.summary(), some.summary()];
  expect(part.times).toEqual({
    ttft_any: null,
    ttft_content: null,
    tpot: whole.times.tpot,
    e2e_from_dispatch: null,
    e2e_from_schedule: null,
    lag: whole.times.lag,
  });
  expect({ ...part, times: null }).toEqual({ ...whole, times: null });
});
