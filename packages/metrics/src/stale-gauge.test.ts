import { expect, test } from 'vitest';
import { cellEnergy } from './cell-energy.js';
import { cellMetrics } from './cell-metrics.js';
import type { SittingInput } from './cell-types.js';
import { callRow, queryRow } from './rows.fixture.js';
import { every, seriesOf, span } from './series.fixture.js';
import { gaugesForStale, seriesWithoutStale, standsStillBeside } from './stale-gauge.js';
import type { PowerSeries } from './types.js';

const times = every(0.1, 20);
const gpu = { scope: 'gpu', update_period_ns: 1e8, quantum: 0.001 } as const;
const counter = (energy: (seconds: number) => number, device = 'gpu'): PowerSeries =>
  seriesOf(times, energy, { ...gpu, id: `${device}:energy` });
const power = (watts: number, device = 'gpu'): PowerSeries =>
  seriesOf(times, (t) => watts * t, {
    ...gpu,
    id: `${device}:power`,
    kind: 'gauge',
    provenance: 'integrated',
    in_total: false,
  });
const sitting = (series: readonly PowerSeries[]): SittingInput => ({
  sitting: 0,
  window: span(2, 18),
  series,
  baselines: [],
});
const energyOf = (series: readonly PowerSeries[]) =>
  cellEnergy([sitting(series)], { origin_ns: 0n, bySitting: new Map([[0, Float64Array.of(3e9, 13e9)]]) });

const steady = (t: number) => 100 * t;
/** Stands still from a time on, for so long. */
const still = (from: number, length: number) => (t: number) =>
  100 * (t - Math.min(Math.max(t - from, 0), length));

// biome-ignore format: a table is read in columns
test.each<[why: string, counted: (t: number) => number, watts: number, expected: boolean]>([
  ['it grows',                               steady,         100,   false],
  ['a standstill in the window',             still(5, 1.2),  100,   true],
  ['one that is too short',                  still(5, 0.7),  100,   false],
  ['one before the window',                  still(0, 1.5),  100,   false],
  ['nothing was drawn by the power either',  still(5, 3),    0,     false],
])('standing still beside its power: %s', (_why, counted, watts, expected) => {
  expect(standsStillBeside(counter(counted), power(watts), span(3, 13))).toBe(expected);
});

test('a counter that stood still for part of a cell gives way to its power for all of it, and is named', () => {
  const energy = energyOf([counter(still(5, 2)), power(90)]);
  expect(energy.gross_j).toBeCloseTo(900, 6);
  expect(energy.boundary?.provenance).toBe('integrated');
  expect(energy.boundary?.domains).toMatchObject([{ id: 'gpu:power', note: 'stands in for gpu:energy' }]);
  expect(energy.stale_counters).toEqual(['gpu:energy']);
});

test('a counter that counts stays, whatever the power beside it says', () => {
  const energy = energyOf([counter(steady), power(90)]);
  expect(energy.gross_j).toBeCloseTo(1000, 6);
  expect(energy.boundary?.provenance).toBe('counter');
  expect(energy.stale_counters).toEqual([]);
});

test('one of two counters stood still: both give way, for counted and integrated energy are not summed', () => {
  const energy = energyOf([counter(still(5, 2), 'a'), power(90, 'a'), counter(steady, 'b'), power(110, 'b')]);
  expect(energy.gross_j).toBeCloseTo(2000, 6);
  expect(energy.stale_counters).toEqual(['a:energy']);
});

test('where another counter has no power beside it, the energy is unknown, not smaller', () => {
  const cpu = seriesOf(times, (t) => 10 * t, { id: 'rapl:0:package-0' });
  const energy = energyOf([counter(still(5, 2)), power(90), cpu]);
  expect(energy).toMatchObject({ gross_j: null, reason: 'stale_counter', stale_counters: ['gpu:energy'] });
});

test('without sittings there is nothing to replace', () => {
  expect(gaugesForStale([])).toEqual({ sittings: [], gauged: [], unknown: new Set() });
});

test('the cell is flagged, with the counter by name', () => {
  const query = queryRow('a', [3, 13]);
  const flagged = (counted: (seconds: number) => number) =>
    cellMetrics({
      queries: [query],
      calls: [callRow(query)],
      sittings: [sitting([counter(counted), power(90)])],
      guess_rate: null,
    }).flags.filter(({ code }) => code === 'stale_counter');
  expect(flagged(steady)).toEqual([]);
  expect(flagged(still(5, 2))).toEqual([
    {
      code: 'stale_counter',
      severity: 'flagged',
      text: 'gpu:energy stood still while the power beside it did not',
    },
  ]);
});

test('of one source and one window: the power is in the total, and the counter out of it', () => {
  const roles = (series: readonly PowerSeries[], window = span(3, 13)) => {
    const found = seriesWithoutStale(series, window);
    return [found.series.map(({ domain }) => [domain.id, domain.in_total]), found.gauged, [...found.unknown]];
  };
  const both = [counter(still(5, 2)), power(90)];
  expect(roles(both)).toEqual([
    [
      ['gpu:energy', false],
      ['gpu:power', true],
    ],
    ['gpu:energy'],
    [],
  ]);
  expect(roles(both, span(8, 13))).toEqual([
    [
      ['gpu:energy', true],
      ['gpu:power', false],
    ],
    [],
    [],
  ]);
  expect(roles([counter(still(5, 6))])).toEqual([[['gpu:energy', true]], [], ['gpu:energy']]);
});
