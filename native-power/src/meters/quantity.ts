import { PerwattError } from '@perwatt/core';
import type { FeedValue } from '../feed-recorder.js';

interface Unit {
  readonly kind: 'gauge' | 'counter';
  /** Watts or joules in one of it. */
  readonly factor: number;
}

const units = {
  W: { kind: 'gauge', factor: 1 },
  kW: { kind: 'gauge', factor: 1e3 },
  mW: { kind: 'gauge', factor: 1e-3 },
  uW: { kind: 'gauge', factor: 1e-6 },
  J: { kind: 'counter', factor: 1 },
  kJ: { kind: 'counter', factor: 1e3 },
  mJ: { kind: 'counter', factor: 1e-3 },
  uJ: { kind: 'counter', factor: 1e-6 },
  Wh: { kind: 'counter', factor: 3600 },
  kWh: { kind: 'counter', factor: 3.6e6 },
  mWh: { kind: 'counter', factor: 3.6 },
} as const satisfies Record<string, Unit>;

/** Units a meter may count in. Units of power make a gauge, units of energy a counter. */
export type MeterUnit = keyof typeof units;
export const meterUnits = Object.keys(units) as readonly MeterUnit[];

/** Whether a number in this unit is integrated over time or differenced. */
export const kindOf = (unit: MeterUnit): 'gauge' | 'counter' => units[unit].kind;

/** The size of one unit, in watts or joules. */
export const factorOf = (unit: MeterUnit): number => units[unit].factor;

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const mostUj = 2 ** 63;
const longestNumber = 64;

/** A number as a meter writes it, in its unit; what can't be a power or an energy is missing with the reason. */
export function quantityOf(text: string, unit: MeterUnit): FeedValue {
  const trimmed = text.trim();
  if (trimmed.length > longestNumber || !decimal.test(trimmed)) return { missing: 'parse' };
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return { missing: 'parse' };
  if (value < 0) return { missing: 'negative' };
  if (units[unit].kind === 'gauge') return { power_w: value * units[unit].factor };
  const energy_uj = Math.round(value * (units[unit].factor * 1e6));
  return energy_uj < mostUj ? { energy_uj: BigInt(energy_uj) } : { missing: 'implausible' };
}

const int64Blank = 2 ** 63 - 1024;
const float64Blank = 140_737_488_355_328;
const int32Blank = 2_147_483_632;

/**
 * Whether a number is one of the codes that DCGM writes where it has none: sixteen from 2147483632, from 140737488355328
 * and from 9223372036854775792. Powers have no use for anything above the last two; counters may lie between them.
 */
export function isDcgmBlank(text: string, kind: 'gauge' | 'counter'): boolean {
  const value = Number(text);
  if (value >= int64Blank) return true;
  if (value >= float64Blank && (kind === 'gauge' || value < float64Blank + 16)) return true;
  return /^\d+$/.test(text.trim()) && value >= int32Blank && value < int32Blank + 16;
}

/** Throws `INPUT_INVALID` for a unit that no meter counts in. */
export function unitOf(name: string): MeterUnit {
  const unit = meterUnits.find((known) => known === name);
  if (unit !== undefined) return unit;
  throw new PerwattError('INPUT_INVALID', `"${name}" is not a unit of power or energy`, {
    hint: `Use one of ${meterUnits.join(', ')}.`,
  });
}
