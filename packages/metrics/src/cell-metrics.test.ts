import { describe, expect, test } from 'vitest';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput, CellMetrics, SittingInput } from './cell-types.js';
import { type MetricId, metrics } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, every, seriesOf, span } from './series.fixture.js';

/** 30 W all along, 10 W of them idle; four queries of 2 s each with 1 s between them, three right. */
const power = seriesOf(every(0.1, 20), (s) => 30 * s);
const times: [number, number][] = [
  [1, 3],
  [4, 6],
  [7, 9],
  [10, 12],
];
const queries = times.map((time, i) =>
  queryRow(`i${i}`, time, i === 3 ? { verdict: 'incorrect', score: 0 } : {}),
);
const sitting: SittingInput = {
  sitting: 0,
  window: span(0, 13),
  series: [power],
  baselines: (['before', 'after'] as const).map((when) => ({
    domain: power.domain.id,
    when,
    at: at(when === 'before' ? -2 : 15),
    power_w: 10,
    lo_w: 9.9,
    hi_w: 10.1,
  })),
};
const cell: CellInput = {
  queries,
  calls: queries.map((query) => callRow(query)),
  sittings: [sitting],
  guess_rate: 0,
};
const withChanges = (changes: Partial<CellInput>): CellMetrics => cellMetrics({ ...cell, ...changes });
const metric = (result: CellMetrics, id: MetricId) => result.values[id];

// biome-ignore format: a table is read in columns
test.each<[id: MetricId, value: number, why: string]>([
  ['accuracy',                       0.75,         'three of four'],
  ['power_w',                        30,           '240 J over 8 busy seconds, idle gaps left out'],
  ['energy_per_query_j',             60,           '240 J over four queries'],
  ['ipw_per_w',                      0.75 / 30,    'accuracy over mean power'],
  ['ipj_per_j',                      0.75 / 60,    'accuracy over energy per query'],
  ['energy_per_correct_j',           80,           '240 J over three right answers'],
  ['energy_per_output_token_j',      12,           '240 J over 20 tokens'],
  ['energy_per_token_j',             4,            '240 J over 60 tokens'],
  ['tokens_per_s',                   2.5,          '20 tokens in 8 s'],
  ['tokens_per_j',                   20 / 240,     'tokens per second per watt is tokens per joule'],
  ['net_power_w',                    20,           'less 10 W idle'],
  ['net_energy_per_query_j',         40,           'less 10 W over the 8 busy seconds'],
  ['net_ipw_per_w',                  0.75 / 20,    'accuracy over net power'],
  ['net_ipj_per_j',                  0.75 / 40,    'accuracy over net energy per query'],
  ['net_energy_per_correct_j',       160 / 3,      '160 J over three right answers'],
  ['net_energy_per_output_token_j',  8,            '160 J over 20 tokens'],
  ['net_energy_per_token_j',         160 / 60,     '160 J over 60 tokens'],
  ['net_tokens_per_j',               20 / 160,     'tokens over net joules'],
  ['ttft_any_p50_ns',                0.2e9,        'a tenth of 2 s'],
  ['ttft_content_p99_ns',            0.2e9,        'the same for answer text'],
  ['tpot_p50_ns',                    0.45e9,       '1.8 s over four tokens after the first'],
  ['e2e_from_dispatch_p99_ns',       2e9,          'dispatch to last token'],
])('%s of the cell is %d: %s', (id, value) => {
  expect(metric(cellMetrics(cell), id).value).toBeCloseTo(value, 9 - Math.max(0, Math.log10(value)));
  expect(metric(cellMetrics(cell), id).reason).toBeNull();
});

test('every metric has a value with its unit, and every energy figure its provenance and its warning', () => {
  const { values } = cellMetrics(cell);
  expect(Object.keys(values).sort()).toEqual(metrics.map(({ id }) => id).sort());
  for (const { id, unit } of metrics) expect(values[id].unit).toBe(unit);
  expect(values.energy_per_query_j).toMatchObject({
    provenance: 'counter',
    interval: 'sensor_bounds',
    note: 'between-run spread unknown',
    spread: { sd: null, source: 'unknown', reason: 'between-run spread unknown' },
  });
  expect(values.ipj_per_j).toMatchObject({
    provenance: 'counter',
    interval: 'items_and_sensor',
    note: 'between-run spread unknown; of another draw of items only accuracy is in the interval',
  });
  expect(values.energy_per_token_j.note).toContain('tokens by server_usage');
  expect(values.accuracy).toMatchObject({ provenance: null, interval: 'wilson', n: 4 });
});

test('bounds of the sensor turn around in a ratio over energy', () => {
  const { energy_per_query_j: energy, ipj_per_j: ipj, accuracy } = cellMetrics(cell).values;
  expect(energy.lo!).toBeLessThan(60);
  expect(ipj.sensor_lo).toBeCloseTo(0.75 / energy.hi!, 12);
  expect(ipj.sensor_hi).toBeCloseTo(0.75 / energy.lo!, 12);
  expect(ipj.sampling_lo).toBeCloseTo(accuracy.lo! / 60, 12);
  expect(ipj.sampling_hi).toBeCloseTo(accuracy.hi! / 60, 12);
  expect(ipj.lo).toBeCloseTo(accuracy.lo! / energy.hi!, 12);
  expect(ipj.hi).toBeCloseTo(accuracy.hi! / energy.lo!, 12);
});

describe('what is missing is null, with the reason', () => {
  const failed = queryRow('i9', [12, 12.5], {
    status: 'failed',
    verdict: 'error',
    score: 0,
    completion_tokens: null,
  });
  const unscored = queries.map((q) => ({ ...q, verdict: 'unscored', score: null }));
  const wrong = queries.map((q) => ({ ...q, verdict: 'incorrect', score: 0 }));
  const hot = {
    ...sitting,
    baselines: sitting.baselines.map((b) => ({ ...b, power_w: 30, lo_w: 29, hi_w: 31 })),
  };
  const noTokens = cell.calls.map((c) => ({ ...c, completion_tokens: null, token_source: null }));
  const unstreamed = cell.calls.map((c) => ({
    ...c,
    events: 0,
    first_any_ns: null,
    first_content_ns: null,
    last_content_ns: null,
  }));
  const twoDomains = {
    ...sitting,
    series: [power, { ...power, domain: { ...power.domain, id: 'dram', scope: 'dram' as const } }],
  };
  const second = { ...sitting, sitting: 1, window: span(13, 20) };
  const later = queryRow('i5', [14, 15], { sitting: 1 });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, changes: Partial<CellInput>, id: MetricId, reason: string]>([
    ['no power was recorded',            { sittings: [{ ...sitting, series: [] }] },           'ipw_per_w',              'no_power'],
    ['nothing ran',                      { queries: [], calls: [] },                           'energy_per_query_j',     'no_calls'],
    ['nothing ran, so nothing is right', { queries: [], calls: [] },                           'accuracy',               'nothing_scored'],
    ['power ends before the cell',       { sittings: [{ ...sitting, series: [seriesOf(every(0.1, 8), (s) => 30 * s)] }] }, 'power_w', 'not_covered'],
    ['nothing could be scored',          { queries: unscored },                                'ipj_per_j',              'nothing_scored'],
    ['nothing is right',                 { queries: wrong },                                   'energy_per_correct_j',   'nothing_correct'],
    ['no baseline',                      { sittings: [{ ...sitting, baselines: [] }] },        'net_energy_per_query_j', 'no_baseline'],
    ['net may be 0',                     { sittings: [hot] },                                  'net_ipj_per_j',          'net_not_resolved'],
    ['tokens nobody counted',            { calls: noTokens },                                  'tokens_per_s',           'tokens_unknown'],
    ['tokens nobody counted',            { calls: noTokens },                                  'energy_per_token_j',     'tokens_unknown'],
    ['no first token was seen',          { calls: unstreamed },                                'ttft_any_p50_ns',        'no_call_has_it'],
    ['a domain is missing in a sitting', { queries: [...queries, later], calls: [...cell.calls, callRow(later)], sittings: [twoDomains, second] }, 'power_w', 'domain_missing'],
  ])('%s', (_, changes, id, reason) => {
    expect(metric(withChanges(changes), id)).toMatchObject({ value: null, lo: null, hi: null, reason });
  });

  test('net energy itself is shown when it is not resolved, below 0 too', () => {
    const below = { ...hot, baselines: hot.baselines.map((b) => ({ ...b, power_w: 30.5 })) };
    expect(metric(withChanges({ sittings: [below] }), 'net_energy_per_query_j').value).toBeCloseTo(-1, 9);
  });

  test('energy that may be 0 by its bounds still has ratios, without an upper bound', () => {
    const slow = seriesOf(every(0.1, 20), (s) => 30 * s, { update_period_ns: 10e9 });
    const { energy_per_query_j: energy, ipj_per_j: ipj } = withChanges({
      sittings: [{ ...sitting, series: [slow] }],
    }).values;
    expect(energy).toMatchObject({ value: expect.closeTo(60, 9), lo: 0 });
    expect(ipj).toMatchObject({
      value: expect.closeTo(0.75 / 60, 9),
      sensor_lo: expect.closeTo(0.75 / energy.hi!, 9),
      sensor_hi: null,
      hi: null,
    });
  });

  test('no energy at all leaves no ratio over it', () => {
    const off = seriesOf(every(0.1, 20), () => 0, { kind: 'gauge' });
    const { power_w, ipj_per_j } = withChanges({ sittings: [{ ...sitting, series: [off] }] }).values;
    expect(power_w.value).toBe(0);
    expect(ipj_per_j).toMatchObject({ value: null, reason: 'no_energy' });
  });

  test('accuracy 0 is a value, and so is the IPW that follows', () => {
    expect(metric(withChanges({ queries: wrong }), 'ipw_per_w')).toMatchObject({ value: 0, reason: null });
  });

  test('a call that was not streamed lasts until its end', () => {
    expect(metric(withChanges({ calls: unstreamed }), 'e2e_from_dispatch_p50_ns').value).toBe(2e9);
  });

  test('a failed query scores 0, keeps its energy and invalidates a small cell', () => {
    const calls = [
      ...cell.calls,
      callRow(failed, { status: 'timeout', completion_tokens: null, token_source: null }),
    ];
    const result = withChanges({ queries: [...queries, failed], calls });
    expect(metric(result, 'accuracy').value).toBe(0.6);
    expect(metric(result, 'energy_per_query_j').value).toBeCloseTo(255 / 5, 9);
    expect(metric(result, 'tokens_per_j').note).toContain('1 failed calls without a count');
    expect(result).toMatchObject({
      failed_ratio: 0.2,
      flags: [{ code: 'failed_queries', severity: 'invalid' }],
    });
    expect(result.counts).toMatchObject({ attempted: 5, failed: 1, calls: 5, calls_ok: 4 });
    expect(result.counts.verdicts).toMatchObject({ correct: 3, incorrect: 1, error: 1 });
  });

  test('unscored queries leave accuracy alone, bound it, and flag the cell', () => {
    const result = withChanges({
      queries: queries.map((q, i) => (i === 0 ? { ...q, verdict: 'unscored', score: null } : q)),
    });
    expect(metric(result, 'accuracy').value).toBeCloseTo(2 / 3, 12);
    expect(result.accuracy_bounds).toEqual({ lo: 0.5, hi: 0.75 });
    expect(result.flags.map(({ code }) => code)).toEqual(['unscored']);
  });
});

// biome-ignore format: a table is read in columns
test.each<[failed: number, of: number, severity: string | undefined]>([
  [1, 100, undefined], [2, 100, 'flagged'], [5, 100, 'flagged'], [6, 100, 'invalid'],
])('%d failed queries of %d make the cell %s', (failed, of, severity) => {
  const rows = Array.from({ length: of }, (_, i) =>
    queryRow(`i${i}`, [i / 100, i / 100 + 0.01], i < failed ? { status: 'failed', verdict: 'error', score: 0 } : {}),
  );
  const result = withChanges({ queries: rows, calls: rows.map((row) => callRow(row)) });
  expect(result.flags.find(({ code }) => code === 'failed_queries')?.severity).toBe(severity);
});

describe('only what counts is summed', () => {
  test('calls of warm-up and of queries without a row are no busy time; the latter are counted', () => {
    const open = queryRow('lost', [12.2, 12.8]);
    const warm = queryRow('warm', [0, 1]);
    const calls = [...cell.calls, callRow(open), callRow(warm, { phase: 'warmup' })];
    const result = withChanges({ calls });
    expect(result.energy).toMatchObject({ busy_ns: 8e9 });
    expect(result.counts.unsettled).toBe(1);
  });

  test('a query settled in a later sitting leaves the calls of the earlier one out', () => {
    const redone = queryRow('i0', [14, 16], { sitting: 1 });
    const earlier = callRow(queryRow('i0', [1, 3]));
    const calls = [earlier, ...cell.calls.slice(1), callRow(redone)];
    const sittings = [sitting, { ...sitting, sitting: 1, window: span(13.5, 17) }];
    const result = withChanges({ queries: [redone, ...queries.slice(1)], calls, sittings });
    expect(result.energy.busy_ns).toBe(8e9);
    expect(result.energy.gross_j).toBeCloseTo(240, 9);
    expect(result.counts.unsettled).toBe(0);
  });

  test('domains inside another, of another tier, or below a wall meter are not summed', () => {
    const other = (id: string, changes: object) => ({
      ...power,
      domain: { ...power.domain, id, ...changes },
    });
    const series = [
      power,
      other('core', { in_total: false }),
      other('guess', { provenance: 'estimated' }),
      other('gpu', { scope: 'gpu' }),
    ];
    const summed = withChanges({ sittings: [{ ...sitting, series }] }).energy;
    expect(summed.boundary?.domains.map(({ id }) => id)).toEqual([power.domain.id, 'gpu']);
    expect(summed.gross_j).toBeCloseTo(480, 9);
    const walled = [...series, other('wall', { scope: 'wall' })];
    expect(withChanges({ sittings: [{ ...sitting, series: walled }] }).energy.boundary?.domains).toHaveLength(
      1,
    );
  });
});

describe('repeats', () => {
  const repeated = (count: number): CellInput => {
    const rows = Array.from({ length: count }, (_, repeat) =>
      times.slice(0, 2).map(([start, end], i) =>
        queryRow(`i${i}`, [start + repeat * 6, end + repeat * 6], {
          repeat,
          score: (repeat + i) % 2,
          verdict: 'correct',
        }),
      ),
    ).flat();
    const watts = (s: number) => 30 * s + (s > 7 ? 6 * Math.min(s - 7, 6) : 0);
    return {
      queries: rows,
      calls: rows.map((row) => callRow(row)),
      guess_rate: null,
      sittings: [{ ...sitting, window: span(0, 19), series: [seriesOf(every(0.1, 20), watts)] }],
    };
  };

  test('three of them tell the spread of energy', () => {
    const { energy_per_query_j: energy, accuracy } = cellMetrics(repeated(3)).values;
    expect(energy).toMatchObject({
      interval: 'repeats_t',
      note: 'another draw of items is not in the interval',
    });
    expect(energy.value).toBeCloseTo((60 + 72 + 60) / 3, 9);
    const half = (4.302653 * Math.sqrt(48)) / Math.sqrt(3) / 64;
    expect(Math.log(energy.hi! / 64)).toBeCloseTo(half, 5);
    expect(Math.log(64 / energy.lo!)).toBeCloseTo(half, 5);
    expect(energy).toMatchObject({ sampling_lo: energy.lo, sampling_hi: energy.hi });
    expect(energy.sensor_hi! - energy.sensor_lo!).toBeLessThan(1);
    expect(energy.spread).toMatchObject({
      repeats: 3,
      source: 'measured',
      sd: expect.closeTo(Math.sqrt(48), 9),
    });
    expect(accuracy.interval).toBe('item_bootstrap');
  });

  test('a net figure has the spread and the error of the baseline that all of them share', () => {
    const input = repeated(3);
    const { net_power_w: net, power_w: gross } = cellMetrics({
      ...input,
      sittings: input.sittings.map((s) => ({
        ...s,
        baselines: [
          { domain: 'rapl:0:package-0', when: 'before', at: at(-5), power_w: 10, lo_w: 1, hi_w: 19 },
        ],
      })),
    }).values;
    expect(net.interval).toBe('repeats_and_sensor');
    expect(net.value).toBeCloseTo(gross.value! - 10, 9);
    expect(net.lo).toBeLessThan(gross.value! - 19);
    expect(net.hi).toBeGreaterThan(gross.value! - 1);
  });

  test('two do not', () => {
    expect(cellMetrics(repeated(2)).values.energy_per_query_j).toMatchObject({
      interval: 'sensor_bounds',
      note: 'between-run spread unknown',
    });
  });
});

test('accuracy is told from guessing by its interval', () => {
  expect(withChanges({ guess_rate: 0.25 }).above_guessing).toBe(true);
  expect(withChanges({ guess_rate: 0.5 }).above_guessing).toBe(false);
  expect(withChanges({ guess_rate: null }).above_guessing).toBeNull();
});
