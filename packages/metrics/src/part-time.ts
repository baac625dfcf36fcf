import { bookedAt, seriesIndex } from './series-index.js';
import type { PowerSeries, Window } from './types.js';

/** Length of a block in readings or update periods, whichever is longer: much less, and a counter's own steps look like steps of power. */
const BLOCK_RESOLUTIONS = 4;

interface Variation {
  readonly block_ns: number;
  /** Sum of |P(k) − P(k−1)| over the blocks up to each, W. */
  readonly upTo_w: Float64Array;
}

const variations = new WeakMap<PowerSeries, Variation>();

/** How much the mean power of a series changes from block to block; computed once per series object. */
function variationOf(series: PowerSeries): Variation {
  const known = variations.get(series);
  if (known !== undefined) return known;
  const { origin_ns, times, interval_ns } = seriesIndex(series);
  const block_ns = BLOCK_RESOLUTIONS * Math.max(interval_ns, series.domain.update_period_ns, 1);
  const last = times.at(-1) ?? 0;
  const blocks = Math.max(Math.ceil(last / block_ns), 1);
  const booked = (time: number) => bookedAt(series, 'booked_j', origin_ns + BigInt(Math.round(time)));
  const upTo_w = new Float64Array(blocks);
  let before: number | null = null;
  for (let k = 0; k < blocks; k++) {
    const end = Math.min((k + 1) * block_ns, Math.max(last, block_ns));
    const power = (booked(end) - booked(end - block_ns)) / (block_ns / 1e9);
    upTo_w[k] = (upTo_w[k - 1] ?? 0) + Math.abs(power - (before ?? power));
    before = power;
  }
  const variation = { block_ns, upTo_w };
  variations.set(series, variation);
  return variation;
}

/**
 * How far the energy of a window may be off because the sensor looks at only `sensing_share_ratio` of each update period
 * and takes the rest to be the same, J; 0 for one that looks all the time.
 *
 * A step of power by ΔP is seen up to (1 − share) of one period too early or too late, wherever in its period the sensor
 * looks: (1 − share) · U · |ΔP|. Steps are told by the mean powers of blocks of four readings or update periods, one block
 * beyond either edge included; so the bound holds for loads that stay at a level for two blocks. What alternates faster
 * than the sensor looks can't be bounded from its own numbers: its error averages out over repeats at random phase
 * (part-time sensing: arXiv 2312.02741).
 */
export const partTimeError = (series: PowerSeries, { start, end }: Window): number =>
  partTimeAt(series, end).after - partTimeAt(series, start).before;

/** What part-time sensing may have moved by a time, J, for sums over shares of time that change. */
export interface PartTimeSum {
  /** Up to the block of that time, and with the blocks before and behind it that a step may have moved over. */
  readonly before: number;
  readonly upTo: number;
  readonly after: number;
}

const allTheTime: PartTimeSum = { before: 0, upTo: 0, after: 0 };

/**
 * Running sum of (1 − share) · U · |ΔP| by a time, see `partTimeError`: an energy ∫ w·P dt with weights w that change at
 * times t is off by at most ∫ w d(upTo) + Σ |Δw(t)| · (after − before).
 */
export function partTimeAt(series: PowerSeries, at: bigint): PartTimeSum {
  const { sensing_share_ratio, update_period_ns } = series.domain;
  const blind = 1 - Math.min(Math.max(sensing_share_ratio ?? 1, 0), 1);
  if (blind === 0 || series.at_ns.length < 2) return allTheTime;
  const { block_ns, upTo_w } = variationOf(series);
  const block = Number(at - seriesIndex(series).origin_ns) / block_ns;
  const sum = (k: number) =>
    (blind * update_period_ns * (upTo_w[Math.min(Math.max(k, 0), upTo_w.length - 1)] ?? 0)) / 1e9;
  return {
    before: sum(Math.floor(block) - 2),
    upTo: sum(Math.floor(block)),
    after: sum(Math.ceil(block) + 1),
  };
}
