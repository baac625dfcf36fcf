import { instant } from '@perwatt/core';
import { energyInWindow } from '@perwatt/metrics';
import type { PowerFileSeries, Sitting } from '@perwatt/records';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { seriesFor, windowOf } from './cell-input.js';

const domain = testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' });

/** A power file read once a unit of time from `first` to `last`; its first booked joule tells it from others. */
function powerFile(
  name: number,
  [first, last]: readonly [number, number],
  boot_id = 'boot-a',
): PowerFileSeries {
  const at_ns = BigInt64Array.from({ length: last - first + 1 }, (_, i) => BigInt(first + i));
  const booked_j = new Float64Array(at_ns.length).fill(name);
  return {
    file: `rapl-${name}.arrows`,
    source: 'rapl',
    provenance: 'counter',
    period_ns: 1,
    boot_id,
    domains: [domain, { ...domain, id: 'never-read' }],
    series: new Map([[domain.id, { at_ns, booked_j, lo_j: booked_j, hi_j: booked_j }]]),
    torn: null,
  };
}

const window = { start: instant(100n), end: instant(200n) };

// biome-ignore format: a table is read in columns
test.each<[why: string, files: PowerFileSeries[], chosen: number | null]>([
  ['one recorder saw it all',                     [powerFile(1, [0, 300])],                             1],
  ['the recorder that saw more of it',            [powerFile(1, [0, 130]), powerFile(2, [131, 300])],   2],
  ['the nearest one, so that the reason is told', [powerFile(1, [0, 50]), powerFile(2, [260, 300])],    1],
  ['another boot of the host has another clock',  [powerFile(1, [0, 300], 'boot-b')],                   null],
  ['no power file',                               [],                                                   null],
])('%s', (_, files, chosen) => {
  const series = seriesFor(files, window, 'boot-a');
  expect(series.map(({ booked_j }) => booked_j[0])).toEqual(chosen === null ? [] : [chosen]);
});

test('the same samples are the same series, so that what is computed of them is kept', () => {
  const files = [powerFile(1, [0, 300])];
  expect(seriesFor(files, window, 'boot-a')[0]).toBe(seriesFor(files, window, 'boot-a')[0]);
});

test('of a long recording only what lies around the window is handed on, and gives the same energy', () => {
  const second = 1_000_000_000;
  const at_ns = BigInt64Array.from({ length: 4_000 }, (_, i) => BigInt(i * second));
  const booked_j = Float64Array.from(at_ns, (_, i) => 50 * i + 20 * Math.sin(i));
  const [file] = [powerFile(1, [0, 1])];
  const series = new Map([[domain.id, { at_ns, booked_j, lo_j: booked_j, hi_j: booked_j }]]);
  const long = { start: instant(2_000_500_000_000n), end: instant(2_100_250_000_000n) };
  const [cut] = seriesFor([{ ...file!, series }], long, 'boot-a');
  expect(cut!.at_ns.length).toBeLessThan(400);
  const whole = { domain, at_ns, booked_j, lo_j: booked_j, hi_j: booked_j };
  expect(energyInWindow(cut!, long)).toEqual(energyInWindow(whole, long));
});

const sitting = (end_ns: string | null): Sitting => ({
  sitting: 1,
  state: end_ns === null ? 'open' : 'closed',
  boot_id: 'boot-a',
  start_ns: '100',
  end_ns,
  warmup_calls: 0,
  baselines: [],
  foreign_load_ratio: null,
  suspended: null,
});
test('a sitting that was never closed ends with its last call, and without one it has no window', () => {
  expect(windowOf(sitting('200'), () => null)).toEqual(window);
  expect(windowOf(sitting(null), (of) => (of === 1 ? 150n : 900n))?.end).toBe(150n);
  expect(windowOf(sitting(null), () => null)).toBeNull();
  expect(windowOf(sitting('100'), () => null)).toBeNull();
});
