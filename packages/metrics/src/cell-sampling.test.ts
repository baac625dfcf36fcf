import { describe, expect, test } from 'vitest';
import { cellContributions } from './cell-contributions.js';
import { cellMetrics } from './cell-metrics.js';
import type { CellInput, SittingInput } from './cell-types.js';
import { type ProductName, productNames } from './energy-figures.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, seriesOf, span } from './series.fixture.js';

interface Shape {
  readonly items: number;
  readonly repeats: number;
  /** Score of an item in a repeat. */
  readonly score?: (item: number, repeat: number) => number;
  /** Watts in a repeat. */
  readonly watts?: (repeat: number) => number;
  readonly method?: string;
  readonly sitting?: Partial<SittingInput>;
  readonly band?: number;
}

const mixed = (item: number): number => (item % 4 === 0 ? 0 : 1);

/** One query of 1 s after another, every item in every repeat. */
function cellOf(shape: Shape): CellInput {
  const {
    items,
    repeats,
    score = mixed,
    watts = () => 30,
    method = 'isolated',
    sitting = {},
    band = 0,
  } = shape;
  const [times, booked] = [[0], [0]];
  const queries = Array.from({ length: items * repeats }, (_, i) => {
    const [item, repeat] = [i % items, Math.floor(i / items)];
    times.push(i + 1);
    booked.push(booked.at(-1)! + watts(repeat));
    return queryRow(`i${item}`, [i, i + 1], {
      repeat,
      score: score(item, repeat),
      verdict: score(item, repeat) === 1 ? 'correct' : 'incorrect',
      energy_gross_j: watts(repeat),
      energy_net_j: watts(repeat) - 10,
      energy_method: method,
    });
  });
  const power = seriesOf(times, (time) => booked[time]!);
  const series = {
    ...power,
    lo_j: power.booked_j.map((j) => j * (1 - band)),
    hi_j: power.booked_j.map((j) => j * (1 + band)),
    ...(band > 0 ? { domain: { ...power.domain, provenance: 'estimated' as const } } : {}),
  };
  const window = span(0, items * repeats);
  return {
    queries,
    calls: queries.map((query) => callRow(query)),
    guess_rate: null,
    sittings: [{ sitting: 0, baselines: [], window, series: [series], ...sitting }],
  };
}

const wobble = (repeat: number): number => 30 + [0, 3, -3, 1][repeat % 4]!;

test('estimated figures of three repeats have the spread and the band in every interval, and both alone', () => {
  const { values } = cellMetrics(cellOf({ items: 25, repeats: 3, watts: wobble, band: 0.4 }));
  for (const name of productNames.filter((own) => own !== 'accuracy' && own !== 'tokens_per_s')) {
    const { lo, hi, interval, sampling_lo, sampling_hi, sensor_lo, sensor_hi, spread } = values[name];
    expect(interval).toBe('repeats_and_sensor');
    expect(lo).toBeLessThan(Math.min(sampling_lo!, sensor_lo!));
    expect(hi).toBeGreaterThan(Math.max(sampling_hi!, sensor_hi!));
    expect(spread?.source).toBe('measured');
  }
});

test('accuracy that wanders between repeats widens IPW as it widens accuracy, and no further', () => {
  const score = (item: number, repeat: number) => ((item * 7 + repeat * 5) % 11 < 4 + repeat ? 1 : 0);
  const { values } = cellMetrics(cellOf({ items: 40, repeats: 3, score }));
  const relative = ({ value, sampling_lo, sampling_hi }: (typeof values)[ProductName]) => [
    sampling_lo! / value!,
    sampling_hi! / value!,
  ];
  for (const name of ['ipw_per_w', 'ipj_per_j'] as const) {
    expect(values[name].interval).toBe('repeats_t');
    expect(relative(values[name])).toEqual(relative(values.accuracy).map((end) => expect.closeTo(end, 2)));
  }
});

describe('another draw of items', () => {
  const width = (input: CellInput, name: ProductName): number => {
    const { sampling_lo, sampling_hi } = cellMetrics(input).values[name];
    return Math.log(sampling_hi! / sampling_lo!);
  };

  test('is in IPJ and IPW beside the spread of repeats, and smaller with more items', () => {
    const watts = (repeat: number) => 30 + repeat / 10;
    const few = cellOf({ items: 24, repeats: 3, watts });
    const many = cellOf({ items: 96, repeats: 3, watts });
    const alike = cellOf({ items: 24, repeats: 3, watts, score: () => 0.75 });
    expect(width(few, 'ipj_per_j')).toBeGreaterThan(width(many, 'ipj_per_j'));
    expect(width(many, 'ipj_per_j')).toBeGreaterThan(width(alike, 'ipj_per_j'));
    expect(width(few, 'ipw_per_w')).toBeGreaterThan(width(few, 'power_w'));
  });

  test('of one repeat is as wide as accuracy says, and energy alone has none', () => {
    const { ipj_per_j, energy_per_correct_j, accuracy, power_w } = cellMetrics(
      cellOf({ items: 40, repeats: 1 }),
    ).values;
    expect(ipj_per_j.sampling_lo).toBeCloseTo(accuracy.lo! / 30, 12);
    expect(ipj_per_j.sampling_hi).toBeCloseTo(accuracy.hi! / 30, 12);
    expect(energy_per_correct_j.sampling_hi).toBeCloseTo(30 / accuracy.lo!, 9);
    expect(power_w).toMatchObject({ interval: 'sensor_bounds', sampling_lo: null, sampling_hi: null });
  });

  test('stays where every answer is right: Wilson says that the next may be wrong', () => {
    const { ipj_per_j, accuracy } = cellMetrics(cellOf({ items: 10, repeats: 1, score: () => 1 })).values;
    expect(accuracy.lo).toBeLessThan(0.75);
    expect(ipj_per_j.sampling_lo).toBeCloseTo(accuracy.lo! / 30, 12);
    expect(ipj_per_j.sampling_hi).toBeCloseTo(1 / 30, 12);
  });

  test.each([1, 3])('of %d repeats where none is right reaches from 0 to what accuracy may be', (repeats) => {
    const input = cellOf({ items: 25, repeats, score: () => 0 });
    const { ipj_per_j, ipw_per_w, accuracy, energy_per_correct_j } = cellMetrics(input).values;
    expect(ipj_per_j).toMatchObject({ value: 0, lo: 0, sampling_lo: 0 });
    expect(ipj_per_j.sampling_hi).toBeCloseTo(accuracy.hi! / 30, 9);
    expect(ipw_per_w.sampling_hi).toBeCloseTo(accuracy.hi! / 30, 9);
    expect(energy_per_correct_j).toMatchObject({ value: null, reason: 'nothing_correct' });
  });

  test('of allocated energy goes by blocks of items; too few of them leave only accuracy, and it says so', () => {
    const shared = cellOf({ items: 40, repeats: 3, watts: wobble, method: 'time_share' });
    const { units, isolated } = cellContributions(shared.queries, shared.calls);
    expect(isolated).toBe(false);
    expect(new Set(units?.map(({ item }) => item)).size).toBe(20);
    expect(cellMetrics(shared).values.ipj_per_j).toMatchObject({ interval: 'repeats_t', note: null });
    const few = cellOf({ items: 19, repeats: 3, watts: wobble, method: 'time_share' });
    expect(cellMetrics(few).values.ipj_per_j.note).toContain('only accuracy is in the interval');
    expect(cellMetrics(few).values.power_w.note).toContain('another draw of items is not in the interval');
  });
});

describe('contributions', () => {
  test('add up to the totals of the cell, time shared between calls in flight', () => {
    const queries = [queryRow('a', [0, 2]), queryRow('b', [1, 3]), queryRow('c', [5, 6])];
    const { queries: own } = cellContributions(
      queries,
      queries.map((query) => callRow(query)),
    );
    expect(own.map(({ item, totals }) => [item, totals[3]])).toEqual([
      ['a', expect.closeTo(1.5, 9)],
      ['b', expect.closeTo(1.5, 9)],
      ['c', expect.closeTo(1, 9)],
    ]);
    expect(own[0]?.totals.slice(0, 3)).toEqual([1, 1, 1]);
    expect(own[0]?.totals.slice(6)).toEqual([5, 15]);
    expect(own[0]?.totals[4]).toBeNaN();
  });

  test('of nothing are nothing', () => {
    expect(cellContributions([], [])).toEqual({ queries: [], isolated: true, units: [] });
  });
});

test('net energy resolved below 0 is shown, and what would divide by it is null with the reason', () => {
  const baselines = (['before', 'after'] as const).map((when) => ({
    domain: 'rapl:0:package-0',
    when,
    at: at(when === 'before' ? -5 : 80),
    power_w: 50,
    lo_w: 49,
    hi_w: 51,
  }));
  const { values } = cellMetrics(cellOf({ items: 25, repeats: 3, sitting: { baselines } }));
  expect(values.net_energy_per_query_j.value).toBeCloseTo(-20, 9);
  for (const id of ['net_ipw_per_w', 'net_ipj_per_j', 'net_tokens_per_j'] as const)
    expect(values[id]).toMatchObject({ value: null, lo: null, hi: null, reason: 'net_negative' });
  expect(values.net_energy_per_correct_j.value).toBeLessThan(0);
  expect(values.net_energy_per_query_j.interval).toBe('repeats_and_sensor');
});
