import {
  type ChannelColumns,
  type ChannelInfo,
  channelUnits,
  type ObservedDomain,
  type RecorderStatus,
} from '@perwatt/core';
import {
  below,
  finite,
  isObject,
  type Json,
  list,
  malformed,
  oneOf,
  orNull,
  stamp,
  text,
} from './agent-fields.js';

/** What a stream tells of the recorder behind it. */
export type AgentStatus = Pick<
  RecorderStatus,
  'reads' | 'missed_deadlines' | 'read_ns' | 'dropped' | 'flags' | 'observed' | 'missing_reason'
>;

/** A recorder's status as a line. */
export const statusLine = (status: RecorderStatus): string => {
  const { reads, missed_deadlines, read_ns, dropped, flags, observed, missing_reason } = status;
  return JSON.stringify({
    kind: 'status',
    reads,
    missed_deadlines,
    read_ns,
    dropped,
    flags,
    observed,
    missing_reason,
  });
};

function count(value: unknown, what: string): number {
  const number = finite(value, what);
  if (number < 0) throw malformed(`${what} is negative`);
  return number;
}

/** Throws `POWER_MALFORMED`. */
export const parseStatus = (value: Json): AgentStatus => ({
  reads: count(value['reads'], 'reads'),
  missed_deadlines: count(value['missed_deadlines'], 'missed_deadlines'),
  read_ns: count(value['read_ns'], 'read_ns'),
  dropped: count(value['dropped'] ?? 0, 'dropped'),
  flags: list(value['flags'] ?? [], 'flags').map((flag) => text(flag, 'flags')),
  observed: list(value['observed'] ?? [], 'observed').map(parseObserved),
  missing_reason: orNull(value['missing_reason'], (reason) => text(reason, 'missing_reason')),
});

const reasons = [
  'not_changed',
  'too_few_changes',
  'faster_than_read',
  'coarse_counter',
  'not_sensed',
] as const satisfies readonly ObservedDomain['reason'][];

function parseObserved(value: unknown): ObservedDomain {
  if (!isObject(value)) throw malformed('what was observed is not an object');
  return {
    domain: text(value['domain'], 'domain'),
    update_period_ns: orNull(value['update_period_ns'], (ns) => count(ns, 'update_period_ns')),
    reason: orNull(value['reason'], (reason) => oneOf(reason, reasons, 'reason')),
    quantum: orNull(value['quantum'], (quantum) => count(quantum, 'quantum')),
    samples: count(value['samples'], 'samples'),
  };
}

/** Throws `POWER_MALFORMED`. */
export function parseChannelInfo(value: unknown): ChannelInfo {
  if (!isObject(value)) throw malformed('a channel is not an object');
  return {
    device: text(value['device'], 'device'),
    channel: text(value['channel'], 'channel'),
    unit: oneOf(value['unit'], channelUnits, 'unit'),
  };
}

/** Channel readings as a line. */
export const channelsLine = ({ at_ns, ...columns }: ChannelColumns): string =>
  JSON.stringify({
    kind: 'channels',
    at_ns: Array.from(at_ns, String),
    channel: [...columns.channel],
    value: Array.from(columns.value, (value) => (Number.isFinite(value) ? value : 0)),
    value_valid: [...columns.value_valid],
    text: columns.text,
    missing_reason: columns.missing_reason,
  });

/** Readings of a session with so many channels. Throws `POWER_MALFORMED`. */
export function parseChannelColumns(value: Json, channels: number): ChannelColumns {
  const stamps = list(value['at_ns'], 'at_ns').map((at) => stamp(at, 'at_ns'));
  const column = <T>(name: keyof ChannelColumns, read: (entry: unknown, what: string) => T): T[] => {
    const entries = list(value[name], name);
    if (entries.length !== stamps.length)
      throw malformed(`${name} has ${entries.length} entries, not ${stamps.length}`);
    return entries.map((entry) => read(entry, name));
  };
  const textOrNull = (entry: unknown, what: string) => orNull(entry, (known) => text(known, what));
  return {
    at_ns: BigInt64Array.from(stamps),
    channel: Uint16Array.from(column('channel', below(channels))),
    value: Float64Array.from(column('value', finite)),
    value_valid: Uint8Array.from(column('value_valid', below(2))),
    text: column('text', textOrNull),
    missing_reason: column('missing_reason', textOrNull),
  };
}
