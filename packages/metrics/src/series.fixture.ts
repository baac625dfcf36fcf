import { type Domain, instant } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import type { CallSpan, PowerSeries, Window } from './types.js';

/** A counter that renews its value every millisecond, unless told otherwise. */
const domainOf = (changes: Partial<Domain> = {}): Domain =>
  testDomain({ id: 'rapl:0:package-0', source: 'rapl', provenance: 'counter', ...changes });

export const at = (seconds: number) => instant(BigInt(Math.round(seconds * 1e9)));
export const span = (start_s: number, end_s: number): Window => ({ start: at(start_s), end: at(end_s) });
export const call = (query_id: string, start_s: number, end_s: number): CallSpan => ({
  query_id,
  ...span(start_s, end_s),
});

/** A series read at `times` (s) whose booked energy is `energy` (J) of the time. */
export function seriesOf(
  times: readonly number[],
  energy: (seconds: number) => number,
  domain: Partial<Domain> = {},
): PowerSeries {
  const booked_j = Float64Array.from(times, energy);
  return {
    domain: domainOf(domain),
    at_ns: BigInt64Array.from(times, at),
    booked_j,
    lo_j: booked_j,
    hi_j: booked_j,
  };
}

/** Times from `start` to `end` (s), both included, every `step` seconds. */
export const every = (step: number, end: number, start = 0): number[] =>
  Array.from({ length: Math.round((end - start) / step) + 1 }, (_, i) => start + i * step);

/** Energy of power that changes at times: `[from_s, watts]` in order, from 0 s. */
export const stepped =
  (steps: readonly (readonly [from_s: number, watts: number])[]) =>
  (seconds: number): number =>
    steps.reduce((sum, [from, watts], i) => {
      const to = Math.min(steps[i + 1]?.[0] ?? Number.POSITIVE_INFINITY, seconds);
      return sum + Math.max(to - from, 0) * watts;
    }, 0);
