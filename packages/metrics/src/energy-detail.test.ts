import { describe, expect, test } from 'vitest';
import type { BaselineInput, CellInput } from './cell-types.js';
import { energyDetail } from './energy-detail.js';
import { callRow, queryRow } from './rows.fixture.js';
import { at, every, seriesOf, span, stepped } from './series.fixture.js';

/** 100 W while prompts are read (a tenth of each call), 50 W otherwise. */
const power = [
  [0, 50],
  [10, 100],
  [11, 50],
  [20, 100],
  [21, 50],
] as const;
const first = queryRow('a', [10, 20]);
const second = queryRow('b', [20, 30]);

const idle = (power_w: number, when: 'before' | 'after', seconds: number): BaselineInput => ({
  domain: 'rapl:0:package-0',
  when,
  at: at(seconds),
  power_w,
  lo_w: power_w - 0.1,
  hi_w: power_w + 0.1,
});

const input = (change: Partial<CellInput> = {}): CellInput => ({
  queries: [first, second],
  calls: [callRow(first), callRow(second)],
  sittings: [
    {
      sitting: 0,
      window: span(9, 31),
      series: [seriesOf(every(0.05, 40), stepped(power))],
      baselines: [idle(20, 'before', 5)],
    },
  ],
  guess_rate: null,
  ...change,
});

describe('phases', () => {
  test('are told by what the calls were doing, and sum to the energy of the busy time', () => {
    const { phases } = energyDetail(input(), new Map());
    expect(phases).toMatchObject({ method: 'isolated', reason: null });
    expect(phases.phases?.prefill.energy_j).toBeCloseTo(200, 6);
    expect(phases.phases?.decode.energy_j).toBeCloseTo(900, 6);
    expect(phases.phases?.prefill.calls).toBe(2);
    expect(phases.phases?.rest).toEqual({ energy_j: 0, lo_j: 0, hi_j: 0, calls: 0, resolved: false });
    expect(phases.phases?.prefill.lo_j).toBeLessThanOrEqual(200);
    expect(phases.phases?.prefill.hi_j).toBeGreaterThanOrEqual(200);
  });

  test('share the time in which two calls ran equally, and say so', () => {
    const both = queryRow('b', [10, 20]);
    const calls = [callRow(first), callRow(both, { first_any_ns: 15_000_000_000n })];
    const { phases } = energyDetail(input({ queries: [first, both], calls }), new Map());
    expect(phases.method).toBe('time_share');
    expect(phases.phases?.prefill.energy_j).toBeCloseTo(100 + 4 * 25, 6);
    expect(phases.phases?.decode.energy_j).toBeCloseTo(4 * 25 + 5 * 50, 6);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [{ first_any_ns: null, last_content_ns: null },       'no output came'],
    [{ first_any_ns: 9_000_000_000n },                    'output before the call'],
    [{ last_content_ns: 10_500_000_000n },                'the last output before the first'],
    [{ last_content_ns: 21_000_000_000n },                'output after the call'],
  ])('a call with %o is not split: %s', (...[change]) => {
    const { phases } = energyDetail(input({ queries: [first], calls: [callRow(first, change)] }), new Map());
    expect(phases.phases?.unsplit).toMatchObject({ calls: 1 });
    expect(phases.phases?.unsplit.energy_j).toBeCloseTo(550, 6);
    expect(phases.phases?.prefill.energy_j).toBe(0);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [{ queries: [], calls: [] },                                                     'no_calls'],
    [{ sittings: [{ ...input().sittings[0]!, series: [] }] },                        'no_power'],
    [{ sittings: [{ ...input().sittings[0]!, series: [seriesOf(every(0.05, 12), stepped(power))] }] }, 'not_covered'],
  ])('%# there are none: %s', (change, reason) => {
    expect(energyDetail(input(change), new Map()).phases).toEqual({ method: 'none', phases: null, reason });
  });
});

describe('net of the idle host', () => {
  test('takes the baselines of the host, not those of the loaded model', () => {
    const host = new Map([[0, [idle(8, 'before', 5), idle(12, 'after', 35)]]]);
    const detail = energyDetail(input(), host);
    expect(detail.net_host_j).toBeCloseTo(1100 - 10 * 20, 6);
    expect(detail).toMatchObject({ net_host_resolved: true, net_host_reason: null });
    expect(detail.net_host_lo_j).toBeLessThan(900);
  });

  test('is null with a reason where the host was not measured', () => {
    expect(energyDetail(input(), new Map())).toMatchObject({
      net_host_j: null,
      net_host_lo_j: null,
      net_host_resolved: false,
      net_host_reason: 'no_baseline',
    });
  });
});
