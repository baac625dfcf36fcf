import type { FeedValue } from '../feed-recorder.js';
import { meterStampNs } from './civil-time.js';
import { quantityOf } from './quantity.js';

/** Ranges a meter was found with, as the commands that bring them back. */
export interface PtdRanges {
  readonly amps: string | null;
  readonly volts: string | null;
}

/**
 * What `RR` was answered with, as the arguments that restore it: a fixed range where the automatic one was off and the
 * range is known, else `Auto`. Null for an answer that isn't one.
 */
export function parseRanges(line: string): { readonly amps: string; readonly volts: string } | null {
  const [word, ampAuto, ampRange, voltAuto, voltRange] = line.split(',').map((part) => part.trim());
  if (word?.toLowerCase() !== 'ranges' || voltRange === undefined) return null;
  const argument = (auto: string | undefined, range: string | undefined) =>
    Number(auto) === 0 && Number(range) > 0 ? `${range}` : 'Auto';
  return { amps: argument(ampAuto, ampRange), volts: argument(voltAuto, voltRange) };
}

const mostSamples = 1_000_000;

/** How many sample lines follow; null for an answer to something else. */
export function parseCount(line: string): number | null {
  const [, count] = /^Last (\d{1,9}) samples?/i.exec(line.trim()) ?? [];
  return count === undefined || Number(count) > mostSamples ? null : Number(count);
}

/** One sample of the meter. */
export interface PtdSample {
  /** ns since 1970 on the meter host's wall clock, in its zone. */
  readonly meter_ns: bigint;
  /** Power of the whole, then of every channel. */
  readonly watts: readonly FeedValue[];
}

/** A line `Time,…,Watts,…[,Ch1,Watts,…]`; −1 is a number that the meter lacks. Null for a line that is none. */
export function parseSample(line: string, channels: number): PtdSample | null {
  const parts = line.split(',', 4096).map((part) => part.trim());
  if (parts[0]?.toLowerCase() !== 'time') return null;
  const meter_ns = meterStampNs(parts[1] ?? '');
  if (meter_ns === null) return null;
  const watts: FeedValue[] = Array.from({ length: channels + 1 }, () => ({ missing: 'absent' }));
  let channel = 0;
  for (let i = 2; i < parts.length; i += 1) {
    const key = parts[i] ?? '';
    const [, opened] = /^ch(\d{1,3})$/i.exec(key) ?? [];
    if (opened !== undefined) {
      channel = Number(opened);
      continue;
    }
    i += 1;
    if (key.toLowerCase() === 'watts' && channel <= channels) watts[channel] = wattsOf(parts[i] ?? '');
  }
  return { meter_ns, watts };
}

const wattsOf = (text: string): FeedValue =>
  Number(text) === -1 ? { missing: 'unavailable' } : quantityOf(text, 'W');

/** Where a meter's clock stands against ours, from nothing but when its samples reach us. */
export interface StampBounds {
  /** A sample stamped `meter_ns` was here at `at`. */
  arrived(meter_ns: bigint, at: bigint): void;
  /** A sample stamped `meter_ns` was not there yet when we asked at `at`. */
  lacked(meter_ns: bigint, at: bigint): void;
  /** Earliest and latest time on our clock of a stamp; equal to the latest while nothing bounds it from below. */
  place(meter_ns: bigint): { readonly from: bigint; readonly to: bigint };
}

/**
 * Bounds on (our clock − the meter's clock), narrowed with every poll: a sample that is here was taken before it came, one
 * that wasn't was taken after we asked. Needs neither a time zone nor synchronised clocks. Bounds that contradict each
 * other (a clock was set, or drifted) are forgotten but for the newest. Until a lower bound is known, a sample
 * is taken to be at most `interval_ns` old.
 */
export function stampBounds(interval_ns: bigint): StampBounds {
  let low: bigint | null = null;
  let high: bigint | null = null;
  return {
    arrived(meter_ns, at) {
      const bound = at - meter_ns;
      if (high === null || bound < high) high = bound;
      if (low !== null && low > high) low = null;
    },
    lacked(meter_ns, at) {
      const bound = at - meter_ns;
      if (low === null || bound > low) low = bound;
      if (high !== null && low > high) high = null;
    },
    place(meter_ns) {
      const to = high ?? (low ?? 0n) + interval_ns;
      const from = low ?? to - interval_ns;
      return { from: meter_ns + from, to: meter_ns + to };
    },
  };
}
