import { type Clock, elapsed } from '@perwatt/core';

/** How another host's monotonic clock stands against ours. */
export interface ClockOffset {
  /** Ours less theirs, ns: added to their stamps it gives ours. */
  readonly offset_ns: bigint;
  /** The truth lies within this much of it, ns: half of the shortest round trip. */
  readonly error_ns: number;
}

/** Asks the other host for its time. */
export type Ping = () => Promise<bigint>;

/** Best of several pings: the one with the shortest round trip, its answer taken to be from the middle. Rejects as `ping` does. */
export async function clockOffset(ping: Ping, clock: Clock, pings = 8): Promise<ClockOffset> {
  let best: ClockOffset | null = null;
  for (let i = 0; i < pings; i += 1) {
    const sent = clock.now();
    const theirs = await ping();
    const heard = clock.now();
    const error_ns = Math.max(elapsed(sent, heard) / 2, 1);
    if (best === null || error_ns < best.error_ns) {
      best = { offset_ns: sent + (heard - sent) / 2n - theirs, error_ns };
    }
  }
  if (best === null) throw new RangeError('at least one ping');
  return best;
}

/** Clocks of two hosts part by up to this share of the time. */
const drift = 50e-6;

/** The better of an offset of some age and a new one. */
export const betterOffset = (old: ClockOffset, age_ns: number, latest: ClockOffset): ClockOffset =>
  latest.error_ns <= old.error_ns + age_ns * drift
    ? latest
    : { ...old, error_ns: old.error_ns + age_ns * drift };
