import type { PowerFileSeries } from '@perwatt/records';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { powerTimeline } from './power-timeline.js';

const domain = testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' });

const powerFile = (boot_id: string, start_s: number, watts: number): PowerFileSeries => {
  const times = [0, 1, 2].map((i) => BigInt(start_s + i) * 1_000_000_000n);
  const booked_j = Float64Array.from([0, watts, 2 * watts]);
  return {
    file: `${boot_id}.arrows`,
    source: 'rapl',
    provenance: 'counter',
    period_ns: 1e9,
    boot_id,
    domains: [domain, { ...domain, id: 'core', in_total: false }],
    series: new Map([
      [domain.id, { at_ns: BigInt64Array.from(times), booked_j, lo_j: booked_j, hi_j: booked_j }],
    ]),
    torn: null,
  };
};

const clock = (boot_id: string, at_s: number, wall_time: string) => ({
  boot_id,
  at_ns: `${at_s}000000000`,
  wall_time,
});

test('two boots of a host stand on one axis by their wall times', () => {
  const files = [powerFile('a', 500, 10), powerFile('b', 3, 20)];
  const clocks = [clock('a', 500, '2026-11-29T12:00:00Z'), clock('b', 0, '2026-11-29T12:01:00Z')];
  const { traces } = powerTimeline(files, [], clocks);
  expect(traces.map(({ t_s }) => t_s)).toEqual([
    [0, 1, 2],
    [63, 64, 65],
  ]);
  expect(traces.map(({ power_w }) => power_w)).toEqual([
    [10, 10, null],
    [20, 20, null],
  ]);
  expect(traces.every(({ in_boundary }) => in_boundary)).toBe(true);
});

test('samples of a boot whose clock nobody noted have no place on the axis', () => {
  const clocks = [clock('a', 500, '2026-11-29T12:00:00Z')];
  const { traces } = powerTimeline([powerFile('a', 500, 10), powerFile('b', 3, 20)], [], clocks);
  expect(traces[1]).toMatchObject({ t_s: [], power_w: [] });
});
