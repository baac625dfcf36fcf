import { type Clock, type Instant, instant, type Nanos, nanos } from '@perwatt/core';
import { type Binding, loaded } from './binding.js';

/**
 * Now, ns on the host's monotonic clock: the one clock of a run. On Linux it is `CLOCK_MONOTONIC`, which Node's own
 * `hrtime` reads too, in half the time; every process of one boot agrees on it.
 */
export const nowNs: () => Instant = makeNow(loaded.binding);

/** `nowNs` as the clock that others take as an argument. */
export const clock: Clock = { now: nowNs };

/** The identity of this boot, or null where the system has none or the addon is missing. Stamps of two boots don't compare. */
export const bootId = (root = '/'): string | null => loaded.binding?.bootId(root) ?? null;

/**
 * How long this boot has been suspended, ns: boot time less monotonic time. It grows between two looks when the host slept
 * in between. Null where the system doesn't tell or the addon is missing. Steps below 1 ms are noise.
 */
export const suspendedNs = (): Nanos | null => {
  const value = loaded.binding?.suspendedNs() ?? null;
  return value === null ? null : nanos(value);
};

function makeNow(binding: Binding | null): () => Instant {
  if (process.platform === 'linux' || binding === null) return () => instant(process.hrtime.bigint());
  return () => instant(binding.nowNs());
}
