import type { ChannelColumns, ChannelInfo, Recorder } from '@perwatt/core';
import { figure } from './figure.js';

/** The latest reading of a channel beside power. */
export interface ChannelNow extends ChannelInfo {
  /** In `unit`; null when the latest reading gave none. */
  readonly value: number | null;
  /** Names of set bits, for `bits`. */
  readonly text: string | null;
}

/** Keeps what a recorder's channels read last. */
export interface ChannelMemory {
  collect(): void;
  /** Of channels read at least once, in the recorder's order. */
  latest(): ChannelNow[];
}

/** `onColumns` sees what was read, for instance to write it down. */
export function channelMemory(
  recorder: Recorder,
  onColumns?: (columns: ChannelColumns) => void,
): ChannelMemory {
  const known = new Map<number, ChannelNow>();
  const infos = recorder.channels ?? [];
  return {
    collect() {
      const columns = recorder.drainChannels?.();
      if (columns === undefined) return;
      onColumns?.(columns);
      for (const [i, index] of columns.channel.entries()) {
        const info = infos[index];
        if (info === undefined) continue;
        const value = columns.value_valid[i] === 1 ? (columns.value[i] ?? null) : null;
        known.set(index, { ...info, value, text: columns.text[i] ?? null });
      }
    },
    latest: () => infos.flatMap((_, index) => known.get(index) ?? []),
  };
}

/** One line a device: `nvml:GPU-1  gpu temp 64 °C  sm clock 1.98 GHz  throttle reasons sw_power_cap`. */
export function channelLines(channels: readonly ChannelNow[]): string[] {
  const devices = [...new Set(channels.map(({ device }) => device))];
  return devices.flatMap((device) => {
    const texts = channels.filter((own) => own.device === device).flatMap((own) => channelText(own) ?? []);
    return texts.length === 0 ? [] : [`${device}  ${texts.join('  ')}`];
  });
}

/** Name and value; null for what isn't known, and for bits of which none is set. */
function channelText({ channel, unit, value, text }: ChannelNow): string | null {
  if (value === null) return null;
  const name = channel.replace(/_(c|hz|w|ratio)$/, '').replaceAll('_', ' ');
  switch (unit) {
    case 'bits':
      return text === null || text === '' ? null : `${name} ${text.replaceAll(' ', ', ')}`;
    case 'Hz':
      return `${name} ${value >= 1e9 ? `${figure(value / 1e9, 3)} GHz` : `${figure(value / 1e6, 4)} MHz`}`;
    case '1':
      return channel.endsWith('_ratio')
        ? `${name} ${figure(value * 100, 3)} %`
        : `${name} ${figure(value, 4)}`;
    default:
      return `${name} ${figure(value, 3)} ${unit}`;
  }
}
