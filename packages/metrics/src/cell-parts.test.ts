import type { QueryRow } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { describe, expect, test } from 'vitest';
import { bookedTotals, bookedTotalsBy } from './booked-energy.js';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput, CellMetrics } from './cell-types.js';
import { columnsOfRows } from './columns-of-rows.js';
import type { MetricId } from './metric-definitions.js';
import { callRow, queryRow } from './rows.fixture.js';
import { every, seriesOf, span } from './series.fixture.js';
import { t95, wilson } from './statistics.js';

const booked = (
  gross: number,
  net: number | null,
  [lo, hi]: readonly [number, number],
): Partial<QueryRow> => ({
  energy_gross_j: gross,
  energy_net_j: net,
  energy_lo_j: lo,
  energy_hi_j: hi,
  energy_method: 'isolated',
});

/** Four queries of 2 s, two of each subject; 40, 60, 80 and 100 J. */
const queries = [
  queryRow('i0', [1, 3], { ...booked(40, 20, [38, 42]), subject: 'sums' }),
  queryRow('i1', [4, 6], { ...booked(60, 40, [58, 62]), subject: 'logic' }),
  queryRow('i2', [7, 9], { ...booked(80, 60, [78, 82]), subject: 'sums', verdict: 'incorrect', score: 0 }),
  queryRow('i3', [10, 12], { ...booked(100, 80, [98, 102]), subject: 'logic' }),
];
const domain = testDomain({ id: 'meter', source: 'meter', provenance: 'external' });
const sitting = { sitting: 0, window: span(0, 13), series: [], baselines: [] };
const cell: CellInput = {
  queries,
  calls: queries.map((query) => callRow(query)),
  sittings: [sitting],
  guess_rate: 0,
  booked: { provenance: 'external', domains: [domain] },
};
const withChanges = (changes: Partial<CellInput>): CellMetrics => cellMetrics({ ...cell, ...changes });

describe('energy of a cell without samples', () => {
  test('is what was booked to its queries, with the sums of their bounds', () => {
    expect(withChanges({}).energy).toMatchObject({
      gross_j: 280,
      gross_lo_j: 272,
      gross_hi_j: 288,
      net_j: 200,
      net_lo_j: 192,
      net_hi_j: 208,
      net_resolved: true,
      busy_ns: 8e9,
      reason: null,
      taken_from: 'queries',
    });
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, changes: Partial<CellInput>, energy: object]>([
    ['nobody says of which domains',             { booked: null },                                                          { gross_j: null, reason: 'no_power', boundary: null }],
    ['one query has none',                       { queries: queries.with(1, { ...queries[1]!, energy_gross_j: null }) },    { gross_j: null, reason: 'not_booked', net_reason: 'not_booked' }],
    ['one query has no net energy',              { queries: queries.with(1, { ...queries[1]!, energy_net_j: null }) },      { gross_j: 280, net_j: null, net_lo_j: null, net_reason: 'no_baseline' }],
    ['one query has no lower bound',             { queries: queries.with(1, { ...queries[1]!, energy_lo_j: null }) },       { gross_j: 280, gross_lo_j: 280, gross_hi_j: 288 }],
    ['net may be 0',                             { queries: queries.map((q) => ({ ...q, energy_net_j: 1 })) },              { net_j: 4, net_lo_j: -4, net_hi_j: 12, net_resolved: false }],
    ['samples go before what was booked',        { sittings: [{ ...sitting, series: [seriesOf(every(0.1, 20), (s) => 30 * s)] }] }, { gross_j: expect.closeTo(240, 9), taken_from: 'samples' }],
    ['there are no queries',                     { queries: [], calls: [] },                                                { gross_j: null }],
  ])('%s', (_, changes, energy) => {
    expect(withChanges(changes).energy).toMatchObject(energy);
  });

  test('of groups adds up to that of all, and is null for a group of none', () => {
    const own = columnsOfRows({ queries, calls: [] }).queries;
    const groups = bookedTotalsBy(own, { of: Int32Array.of(0, 2, 0, 2), count: 3 });
    expect(groups).toEqual([
      { gross: 120, net: 80, lo: 116, hi: 124 },
      { gross: null, net: null, lo: null, hi: null },
      { gross: 160, net: 120, lo: 156, hi: 164 },
    ]);
    expect(bookedTotals(own)).toEqual({ gross: 280, net: 200, lo: 272, hi: 288 });
  });

  test('is in every figure, which says so', () => {
    const { power_w, energy_per_query_j } = withChanges({}).values;
    expect(power_w).toMatchObject({ value: 35, provenance: 'external' });
    expect(energy_per_query_j.value).toBe(70);
    expect(energy_per_query_j.note).toContain('as booked to the queries');
  });
});

describe('figures of single queries', () => {
  // biome-ignore format: a table is read in columns
  test.each<[id: MetricId, value: number, why: string]>([
    ['energy_per_query_mean_j', 70,  'each query counts once'],
    ['power_query_mean_w',  35,  'the mean of 20, 30, 40 and 50 W, not energy over time'],
    ['energy_per_query_p50_j',  60,  'the second of four: nothing is interpolated'],
    ['energy_per_query_p99_j',  100, 'the greatest of four'],
  ])('%s is %d: %s', (id, value) => {
    expect(withChanges({}).values[id]).toMatchObject({ value, reason: null, provenance: 'external' });
  });

  test('have the interval of whole items, and the bounds of the sensor beside it', () => {
    const { lo, hi, sensor_lo, sensor_hi, interval } = withChanges({}).values.energy_per_query_mean_j;
    const half = t95(3) * (Math.sqrt((30 ** 2 + 10 ** 2 + 10 ** 2 + 30 ** 2) / 3) / 2);
    expect([lo, hi]).toEqual([expect.closeTo(70 - half, 9), expect.closeTo(70 + half, 9)]);
    expect({ sensor_lo, sensor_hi, interval }).toEqual({
      sensor_lo: 68,
      sensor_hi: 72,
      interval: 'item_clustered',
    });
  });

  test('differ from those of totals where long queries draw less', () => {
    const uneven = [
      queryRow('i0', [0, 1], booked(100, null, [99, 101])),
      queryRow('i1', [1, 10], booked(90, null, [89, 91])),
    ];
    const { values } = withChanges({ queries: uneven, calls: uneven.map((query) => callRow(query)) });
    expect(values.power_query_mean_w.value).toBe((100 + 10) / 2);
    expect(values.power_w.value).toBe(19);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, changes: Partial<CellInput>, reason: string]>([
    ['shares of what several had are no measurement', { queries: queries.map((q) => ({ ...q, energy_method: 'time_share' })) },  'not_isolated'],
    ['a query without energy',                        { queries: queries.with(2, { ...queries[2]!, energy_gross_j: null }) },    'not_booked'],
    ['nothing ran',                                   { queries: [], calls: [] },                                                'no_calls'],
    ['nobody says of which domains',                  { booked: null },                                                          'no_power'],
  ])('are missing: %s', (_, changes, reason) => {
    const { values } = withChanges(changes);
    const own = [values.energy_per_query_mean_j, values.energy_per_query_p50_j, values.power_query_mean_w];
    for (const figure of own)
      expect(figure).toMatchObject({ value: null, lo: null, hi: null, reason });
  });
});

describe('figures of a label', () => {
  const bySubject = (result: CellMetrics) => new Map(result.by_subject.map((own) => [own.subject, own]));

  test('are those of its own queries, intervals over its own items', () => {
    const { sums, logic } = Object.fromEntries(bySubject(withChanges({})));
    expect(sums).toMatchObject({ items: 2, queries: 2, scored: 2 });
    expect(sums?.values['accuracy']).toMatchObject({
      value: 0.5,
      lo: wilson(1, 2)?.lo,
      hi: wilson(1, 2)?.hi,
    });
    expect(logic?.values['accuracy']).toMatchObject({ value: 1, lo: wilson(2, 2)?.lo, hi: 1 });
    expect(sums?.values['energy_per_query_j']?.value).toBe(60);
    expect(logic?.values['energy_per_query_j']?.value).toBe(80);
    expect(sums?.values['power_w']?.value).toBe(30);
    expect(logic?.values['ipj_per_j']?.value).toBe(1 / 80);
    const { lo, hi } = logic?.values['energy_per_query_j'] ?? {};
    const half = (t95(1) * (Math.SQRT2 * Math.hypot(20, 20))) / 160;
    expect(Math.log(hi! / 80)).toBeCloseTo(half, 9);
    expect(Math.log(80 / lo!)).toBeCloseTo(half, 9);
  });

  test('are the same whatever the other labels hold, and none for queries without a label', () => {
    const alone = queries.filter(({ subject }) => subject === 'sums');
    const own = withChanges({ queries: alone, calls: alone.map((query) => callRow(query)) });
    expect(bySubject(own).get('sums')).toEqual(bySubject(withChanges({})).get('sums'));
    expect(withChanges({ queries: queries.map((q) => ({ ...q, subject: null })) }).by_subject).toEqual([]);
  });

  test('an item over several repeats is one item of its label', () => {
    const again = queries.map((q) => ({
      ...q,
      query_id: `${q.query_id}/1`,
      repeat: 1,
      score: 1 - (q.score ?? 0),
    }));
    const all = [...queries, ...again];
    const { sums } = Object.fromEntries(
      bySubject(withChanges({ queries: all, calls: all.map((q) => callRow(q)) })),
    );
    expect(sums).toMatchObject({ items: 2, queries: 4, scored: 4 });
    expect(sums?.values['accuracy']?.value).toBe(0.5);
    expect(sums?.values['energy_per_query_j']?.value).toBe(60);
  });

  test('energies of shares have no interval over items, accuracy has', () => {
    const shared = withChanges({ queries: queries.map((q) => ({ ...q, energy_method: 'time_share' })) });
    const { sums } = Object.fromEntries(bySubject(shared));
    expect(sums?.values['energy_per_query_j']).toEqual({ value: 60, lo: null, hi: null });
    expect(sums?.values['accuracy']?.lo).not.toBeNull();
  });
});

describe('over the whole window, and by phase', () => {
  const metered: CellInput = {
    ...cell,
    sittings: [{ ...sitting, series: [seriesOf(every(0.1, 20), (s) => 30 * s)] }],
  };

  // biome-ignore format: a table is read in columns
  test.each<[id: MetricId, value: number, why: string]>([
    ['power_window_w',                    30,           '390 J over 13 s, gaps between the queries too'],
    ['energy_per_query_window_j',         390 / 4,      'the gaps are paid by the queries'],
    ['ipw_window_per_w',                  0.75 / 30,    'accuracy over the power of the window'],
    ['ipj_window_per_j',                  3 / 390,      'accuracy over the energy of the window'],
    ['idle_energy_ratio',                 5 / 13,       '5 of 13 s nothing was in flight'],
    ['prefill_energy_per_prompt_token_j', 24 / 40,      '0.2 s of each query over its 10 prompt tokens'],
    ['decode_energy_per_output_token_j',  216 / 16,     '1.8 s of each over the four tokens after the first'],
  ])('%s is %d: %s', (id, value) => {
    const figure = cellMetrics(metered).values[id];
    expect(figure.value).toBeCloseTo(value, 9);
    expect(figure.reason).toBeNull();
  });

  test('without samples there are neither', () => {
    const { values } = withChanges({});
    for (const id of ['power_window_w', 'idle_energy_ratio', 'decode_energy_per_output_token_j'] as const)
      expect(values[id]).toMatchObject({ value: null, reason: expect.any(String) });
  });
});
