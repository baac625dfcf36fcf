import { elapsed, instant } from '@perwatt/core';
import { bookedOver, energyInWindow } from './energy-window.js';
import { seriesIndex } from './series-index.js';
import { studentT } from './statistics.js';
import type { EnergyReading, PowerSeries, Window } from './types.js';

/** Mean power over a window with its 95 % interval; all null with a reason when it can't be told. */
export interface PowerReading {
  readonly power_w: number | null;
  readonly lo_w: number | null;
  readonly hi_w: number | null;
  readonly reason: EnergyReading['reason'] | 'too_few_samples';
}

const MOST_BLOCKS = 20;
const FEWEST_BLOCKS = 3;

/**
 * Mean power of one domain over a window.
 *
 * The value is the window's energy over its length. The interval comes from batch means: the window is cut into equal
 * blocks (at most 20, none shorter than a reading interval or an update period of the sensor), and the spread of their
 * powers gives ± t·sd/√blocks. Bounds of the sensor are not part of it. Below three blocks: `too_few_samples`.
 */
export function meanPower(series: PowerSeries, window: Window): PowerReading {
  const { energy_j, reason } = energyInWindow(series, window);
  if (energy_j === null) return { power_w: null, lo_w: null, hi_w: null, reason };
  const length_ns = elapsed(window.start, window.end);
  const shortest = Math.max(seriesIndex(series).interval_ns, series.domain.update_period_ns, 1);
  const blocks = Math.min(Math.floor(length_ns / shortest), MOST_BLOCKS);
  if (blocks < FEWEST_BLOCKS) return { power_w: null, lo_w: null, hi_w: null, reason: 'too_few_samples' };
  const edge = (i: number) => instant(window.start + BigInt(Math.round((length_ns * i) / blocks)));
  const spread = studentT(
    Array.from({ length: blocks }, (_, i) => {
      const block = { start: edge(i), end: edge(i + 1) };
      return (bookedOver(series, 'booked_j', [block]) / elapsed(block.start, block.end)) * 1e9;
    }),
  );
  const power_w = (energy_j / length_ns) * 1e9;
  const half = spread === null ? 0 : (spread.hi - spread.lo) / 2;
  return { power_w, lo_w: power_w - half, hi_w: power_w + half, reason: null };
}
