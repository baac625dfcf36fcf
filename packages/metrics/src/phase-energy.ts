import type { Instant } from '@perwatt/core';
import { energyInWindow } from './energy-window.js';
import type { EnergyReading, PowerSeries } from './types.js';

/** What is known of the times of one call. */
export interface CallStamps {
  /** When it was sent. */
  readonly start: Instant;
  /** First output of any kind; null when none came. */
  readonly first_any: Instant | null;
  /** Last output of any kind; null when none came. */
  readonly last_content: Instant | null;
  readonly end: Instant;
}

/** One call's energy by what was done meanwhile; the three parts add up to the whole. */
export interface PhaseEnergy {
  readonly whole: EnergyReading;
  /** Until the first output: queue and prompt. */
  readonly prefill: EnergyReading | null;
  /** From the first output to the last. */
  readonly decode: EnergyReading | null;
  /** After the last output. */
  readonly rest: EnergyReading | null;
  /** Why there are no phases; null where there are. */
  readonly reason: 'no_output' | 'stamps_out_of_order' | null;
}

/**
 * The energy of one domain while a call ran, by phase. It is the call's own only where no other was in flight. A phase of
 * no length has the reason `empty_window`; a short one has bounds that are wide beside it, for its edges are as uncertain
 * as any.
 */
export function phaseEnergy(
  series: PowerSeries,
  { start, first_any, last_content, end }: CallStamps,
): PhaseEnergy {
  const whole = energyInWindow(series, { start, end });
  const none = { whole, prefill: null, decode: null, rest: null };
  if (first_any === null || last_content === null) return { ...none, reason: 'no_output' };
  if (first_any < start || last_content < first_any || end < last_content)
    return { ...none, reason: 'stamps_out_of_order' };
  return {
    whole,
    prefill: energyInWindow(series, { start, end: first_any }),
    decode: energyInWindow(series, { start: first_any, end: last_content }),
    rest: energyInWindow(series, { start: last_content, end }),
    reason: null,
  };
}
