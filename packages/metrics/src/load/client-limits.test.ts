import { expect, test } from 'vitest';
import { type ClientHealth, clientLimits } from './client-limits.js';

const well: ClientHealth = {
  busiest_core_ratio: 0.4,
  loop_utilization_ratio: 0.5,
  loop_delay_p99_ns: 2e6,
  lag_p99_ns: 2e6,
  gc_ratio: 0.02,
  calibrated_per_s: 1000,
};
const load = { ttft_p50_ns: 200e6, gap_p50_ns: 30e6, achieved_per_s: 100 };

// biome-ignore format: a table is read in columns
test.each([
  { why: 'nothing is wrong',                       health: {},                                  codes: [] },
  { why: 'busy',                                   health: { busiest_core_ratio: 0.71 },        codes: ['busy'] },
  { why: 'the loop never rests',                   health: { loop_utilization_ratio: 0.9 },     codes: ['busy'] },
  { why: 'lag is a tenth of the gap',              health: { lag_p99_ns: 3.1e6 },               codes: ['lag'] },
  { why: 'lag just below it',                      health: { lag_p99_ns: 3e6 },                 codes: [] },
  { why: 'stamps are late',                        health: { loop_delay_p99_ns: 20e6 },         codes: ['loop_delay'] },
  { why: 'garbage',                                health: { gc_ratio: 0.21 },                  codes: ['gc'] },
  { why: 'near what the client can do',            health: { calibrated_per_s: 120 },           codes: ['rate'] },
  { why: 'nothing is known',                       health: { busiest_core_ratio: null, loop_utilization_ratio: null, loop_delay_p99_ns: null, lag_p99_ns: null, gc_ratio: null, calibrated_per_s: null }, codes: [] },
])('the client: $why', ({ health, codes }) => {
  expect(clientLimits({ ...well, ...health }, load).map(({ code }) => code)).toEqual(codes);
});

test('a gap of no length, as in an answer that came in one write, is nothing to hold delays against', () => {
  expect(clientLimits(well, { ...load, gap_p50_ns: 0 })).toEqual([]);
});

test('without a measured time, delays have nothing to be held against', () => {
  const nothing = { ttft_p50_ns: null, gap_p50_ns: null, achieved_per_s: null };
  expect(clientLimits({ ...well, lag_p99_ns: 1e9 }, nothing)).toEqual([]);
});

test('a reason says how much', () => {
  expect(clientLimits({ ...well, busiest_core_ratio: 0.93 }, load)[0]?.text).toBe(
    'the client was busy 93 % of a core',
  );
});
