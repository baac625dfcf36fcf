import { fc, test as property } from '@fast-check/vitest';
import type { SteadyRule } from '@perwatt/core';
import { expect, test } from 'vitest';
import { cellMetrics } from '../cell-metrics.js';
import type { CellInput } from '../cell-types.js';
import { columnsOfRows } from '../columns-of-rows.js';
import type { MetricId } from '../metric-definitions.js';
import { callRow, queryRow } from '../rows.fixture.js';
import { every, seriesOf, span, stepped } from '../series.fixture.js';
import { callTimes } from './call-times.js';
import { judgeSlo, sloOf } from './slo.js';
import { steadyFacts } from './steady-facts.js';

const ns = (seconds: number) => BigInt(Math.round(seconds * 1e9));

/** Five calls of 2 s due every second, sent 0.1 s late; the last one failed. First token after a tenth of their time. */
const rows = [0, 1, 2, 3, 4].map((due, i) => {
  const failed = i === 4;
  const query = queryRow(`i${i}`, [due + 0.1, due + 2.1], failed ? { status: 'failed', score: 0 } : {});
  return {
    query,
    call: callRow(query, {
      sched_ns: ns(due),
      icl_ns: [0.45e9, 0.45e9, 0.45e9, 0.45e9],
      ...(failed ? { status: 'http_error', completion_tokens: null, icl_ns: [] } : {}),
    }),
  };
});
const input: CellInput = {
  queries: rows.map(({ query }) => query),
  calls: rows.map(({ call }) => call),
  sittings: [
    { sitting: 0, window: span(0, 7), series: [seriesOf(every(0.1, 8), (s) => 10 * s)], baselines: [] },
  ],
  guess_rate: 0,
};
const slo = sloOf({ ttft_any_s: 0.25, e2e_from_schedule_s: 2.1 });
const valuesOf = (changes: Partial<CellInput> = {}) => cellMetrics({ ...input, ...changes }).values;

// biome-ignore format: a table is read in columns
test.each<[id: MetricId, value: number, why: string]>([
  ['offered_per_s',            1,         'four gaps of a second'],
  ['achieved_per_s',           1,         'sent as they were due'],
  ['ok_per_s',                 4 / 7,     'four of five ended well in a window of 7 s'],
  ['goodput_per_s',            4 / 7,     'all that ended well were within the limits'],
  ['good_fraction',            4 / 5,     'the failed call is not good'],
  ['good_fraction_of_ok',      1,         'of those that ended well'],
  ['lag_p50_ns',               0.1e9,     'sent a tenth of a second late'],
  ['lag_p99_ns',               0.1e9,     'the failed call too'],
  ['e2e_from_schedule_p50_ns', 2.1e9,     'its lag is part of it'],
])('%s of the load is %d: %s', (id, value) => {
  expect(valuesOf({ slo })[id]).toMatchObject({ reason: null });
  expect(valuesOf({ slo })[id].value).toBeCloseTo(value, 6 - Math.max(0, Math.floor(Math.log10(value))));
});

test('lag counts failed calls, latency does not', () => {
  const { lag_p50_ns, e2e_from_schedule_p50_ns } = valuesOf();
  expect([lag_p50_ns.n, e2e_from_schedule_p50_ns.n]).toEqual([5, 4]);
});

// biome-ignore format: a table is read in columns
test.each<[id: MetricId, reason: string, why: string, changes: Partial<CellInput>]>([
  ['goodput_per_s',  'no_slo',           'nobody said what is good',                 {}],
  ['good_fraction',  'no_slo',           'nobody said what is good',                 {}],
  ['good_fraction',  'no_limit_applies', 'a closed loop has no time since due',      { slo: sloOf({ e2e_from_schedule_s: 1 }), queries: input.queries.slice(0, 4), calls: input.calls.slice(0, 4).map((call) => ({ ...call, sched_ns: null })) }],
  ['offered_per_s',  'closed_loop',      'nothing was ever due',                     { calls: input.calls.map((call) => ({ ...call, sched_ns: null })) }],
  ['offered_per_s',  'all_due_at_once',  'everything at once has no rate',           { calls: input.calls.map((call) => ({ ...call, sched_ns: 0n })) }],
  ['achieved_per_s', 'too_few_calls',    'one call has no gap',                      { queries: input.queries.slice(0, 1), calls: input.calls.slice(0, 1) }],
  ['lag_p99_ns',     'no_call_has_it',   'a closed loop has no lag',                 { calls: input.calls.map((call) => ({ ...call, sched_ns: null })) }],
  ['ok_per_s',       'no_calls',         'nothing was attempted',                    { queries: [], calls: [] }],
  ['steady_power_w', 'no_steady_rule',   'nobody named a rule',                      {}],
  ['steady_tokens_per_s', 'no_steady_rule', 'nobody named a rule',                   {}],
  ['steady_ok_per_s', 'never_steady',    'a batch that never was full',              { steady: { rule: 'batch_full', batch: 50 } }],
  ['idle_energy_ratio', 'no_power',      'nothing was metered',                      { sittings: [{ sitting: 0, window: span(0, 7), series: [], baselines: [] }] }],
])('%s is null for %s: %s', (id, reason, _why, changes) => {
  expect(valuesOf(changes)[id]).toMatchObject({ value: null, reason });
});

test('a turn that was left out is neither offered as sent nor lagging, but it is not good', () => {
  const last = { ...input.calls[4]!, status: 'cancelled', error_kind: 'parent_late', dispatch_ns: ns(9) };
  const values = valuesOf({ slo, calls: [...input.calls.slice(0, 4), { ...last, end_ns: ns(9) }] });
  expect(values.achieved_per_s.value).toBeCloseTo(1, 9);
  expect(values.lag_p99_ns).toMatchObject({ n: 4 });
  expect(values.good_fraction.value).toBeCloseTo(4 / 5, 9);
});

test('a pause between two sittings is in no rate', () => {
  const later = rows.map(({ query }) => ({
    ...query,
    query_id: `${query.query_id}x`,
    sitting: 1,
    start_ns: query.start_ns + ns(1000),
    end_ns: query.end_ns + ns(1000),
  }));
  const calls = later.map((query, i) => ({
    ...input.calls[i]!,
    query_id: query.query_id,
    sitting: 1,
    sched_ns: ns(1000 + i),
    dispatch_ns: query.start_ns,
    end_ns: query.end_ns,
  }));
  const values = valuesOf({
    slo,
    queries: [...input.queries, ...later],
    calls: [...input.calls, ...calls],
    sittings: [...input.sittings, { ...input.sittings[0]!, sitting: 1, window: span(1000, 1007) }],
  });
  expect(values.offered_per_s.value).toBeCloseTo(1, 9);
  expect(values.achieved_per_s.value).toBeCloseTo(1, 9);
});

const trim: SteadyRule = { rule: 'trim', start: { seconds: 1.2 }, end: { seconds: 2 } };

test('energy, tokens and time of a steady figure are of one window', () => {
  const values = valuesOf({ steady: trim });
  expect(values.steady_power_w.value).toBeCloseTo(10, 6);
  expect(values.steady_power_w).toMatchObject({ provenance: 'counter', interval: 'sensor_bounds' });
  expect(values.steady_power_w.note).toContain('steady window by trim (1.2 s and 2 s), 2.8 s');
  // From 1.3 s to 4.1 s: the last two tokens of call 0, all of calls 1 and 2, and of call 3 those at 3.3 and 3.75 s.
  const inside = 2 + 4 + 5 + 2;
  expect(values.steady_tokens_per_s.value).toBeCloseTo(inside / 2.8, 6);
  expect(values.steady_energy_per_output_token_j.value).toBeCloseTo((10 * 2.8) / inside, 6);
  expect(values.steady_ok_per_s.value).toBeCloseTo(2 / 2.8, 6);
});

test('tokens without recorded gaps are taken to have come evenly', () => {
  const calls = input.calls.map((call) => ({ ...call, icl_ns: [] }));
  expect(steadyFacts(columnsOfRows({ queries: input.queries, calls }), trim).tokens).toBe(
    steadyFacts(columnsOfRows(input), trim).tokens,
  );
});

property.prop([fc.integer({ min: 1, max: 5999 })], { numRuns: 50 })(
  'two windows that meet hold the tokens of both together',
  (cut_ms) => {
    const cut = cut_ms / 1000;
    const columns = columnsOfRows(input);
    const tokens = (start: number, end: number) =>
      steadyFacts(columns, { rule: 'trim', start: { seconds: start }, end: { seconds: end } }).tokens;
    const whole = tokens(0, 0) ?? 0;
    expect((tokens(0, 6 - cut) ?? 0) + (tokens(cut, 0) ?? 0)).toBeCloseTo(whole, 9);
  },
);

property.prop(
  [
    fc.array(
      fc.record({
        due: fc.option(fc.integer({ min: 0, max: 50 })),
        length: fc.integer({ min: 1, max: 40 }),
        ok: fc.boolean(),
      }),
      { minLength: 1, maxLength: 30 },
    ),
    fc.integer({ min: 1, max: 40 }),
  ],
  { numRuns: 60 },
)('counts of good calls agree with the verdict on each call', (calls, limit) => {
  const limits = sloOf({ ttft_any_s: limit / 10, e2e_from_schedule_s: limit });
  const own = calls.map(({ due, length, ok }, i) => {
    const query = queryRow(`q${i}`, [51 + i, 51 + i + length]);
    return {
      query,
      call: callRow(query, { sched_ns: due === null ? null : ns(due), status: ok ? 'ok' : 'timeout' }),
    };
  });
  const verdicts = own.map(({ call }) => {
    const number = (at: bigint | null) => (at === null ? null : Number(at));
    const ok = call.status === 'ok';
    const times = callTimes({
      sched_ns: number(call.sched_ns),
      dispatch_ns: Number(call.dispatch_ns),
      first_any_ns: number(call.first_any_ns),
      first_content_ns: number(call.first_content_ns),
      last_content_ns: number(call.last_content_ns),
      end_ns: Number(call.end_ns),
      streamed: true,
      ok,
      tokens: call.completion_tokens,
    });
    return judgeSlo(times, limits, ok).good;
  });
  const judged = verdicts.filter((good) => good !== null);
  const values = cellMetrics({
    ...input,
    slo: limits,
    queries: own.map(({ query }) => query),
    calls: own.map(({ call }) => call),
  }).values;
  expect(values.good_fraction.value).toBeCloseTo(judged.filter(Boolean).length / judged.length, 9);
});

test('where idle time dominates, energy per query over the window says so and the busy one does not', () => {
  const starts = [60, 360, 660, 960];
  const busy = starts.flatMap((start): [number, number][] => [
    [start, 40],
    [start + 2, 20],
  ]);
  const queries = starts.map((start, i) => queryRow(`i${i}`, [start, start + 2]));
  const { values } = cellMetrics({
    queries,
    calls: queries.map((query) => callRow(query, { sched_ns: query.start_ns })),
    sittings: [
      {
        sitting: 0,
        window: span(0, 1200),
        series: [seriesOf(every(0.5, 1210), stepped([[0, 20], ...busy]))],
        baselines: [],
      },
    ],
    guess_rate: 0,
  });
  expect(values.energy_per_query_j.value).toBeCloseTo(80, 1);
  expect(values.energy_per_query_window_j.value).toBeCloseTo((1200 * 20 + 8 * 20) / 4, 1);
  expect(values.idle_energy_ratio.value).toBeCloseTo(1 - 320 / (1200 * 20 + 160), 3);
  expect(values.idle_energy_ratio).toMatchObject({ provenance: 'counter', reason: null });
});
