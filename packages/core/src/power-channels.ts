import type { ChannelRow } from './tables.js';

/** Units of channels: degrees Celsius, hertz, watts, a plain number (a ratio 0…1, a count), or a set of named bits. */
export const channelUnits = ['°C', 'Hz', 'W', '1', 'bits'] as const;
/** One of `channelUnits`. */
export type ChannelUnit = (typeof channelUnits)[number];

/** A number beside power that tells how a device fares: a temperature, a clock, a power limit, why it slows down. */
export interface ChannelInfo {
  /** Device that it belongs to, unique on its host: `nvml:GPU-…`, `cpu`. Ids of that device's domains start with it, where it has any. */
  readonly device: string;
  /** What is told, its unit at the end: `gpu_temp_c`, `sm_clock_hz`, `power_limit_w`, `throttle_reasons` … */
  readonly channel: string;
  readonly unit: ChannelUnit;
}

/** Channel readings by column; entry `i` of every array belongs to one reading of one channel. */
export interface ChannelColumns {
  /** When it was read, ns on the run's clock. */
  readonly at_ns: BigInt64Array;
  /** Index into the recorder's channels. */
  readonly channel: Uint16Array;
  /** In the channel's unit; of bits, their number. Meaningful only where `value_valid` is 1. */
  readonly value: Float64Array;
  readonly value_valid: Uint8Array;
  /** Names of the bits that are set, separated by blanks, '' for none; null for other units and where there is no value. */
  readonly text: readonly (string | null)[];
  /** Why there is no value; null where there is one. */
  readonly missing_reason: readonly (string | null)[];
}

/** Rows of the table `channels`. Throws a `TypeError` for an index beyond `channels`. */
export function channelRows(columns: ChannelColumns, channels: readonly ChannelInfo[]): ChannelRow[] {
  return Array.from(columns.channel, (index, i) => {
    const info = channels[index];
    if (info === undefined) {
      throw new TypeError(`channels: entry ${i} is of channel ${index}, but there are ${channels.length}`);
    }
    return {
      at_ns: columns.at_ns[i] ?? 0n,
      device: info.device,
      channel: info.channel,
      value: columns.value_valid[i] === 1 ? (columns.value[i] ?? null) : null,
      unit: info.unit,
      text: columns.text[i] ?? null,
      missing_reason: columns.missing_reason[i] ?? null,
    };
  });
}
