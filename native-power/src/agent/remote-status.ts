import type { ChannelColumns, ChannelInfo, ObservedDomain } from '@perwatt/core';
import type { AgentStatus } from './agent-status.js';

/** What the recorders of an agent's sessions had to say, one after the other. */
export interface RemoteStatus {
  /** A session begins: its recorder counts from nothing again. */
  begin(): void;
  take(status: AgentStatus): void;
  /** Counts summed over sessions, flags of all of them, and what the latest one observed. */
  status(): Omit<AgentStatus, 'missing_reason'>;
}

export interface RemoteNames {
  /** Our id of a domain or device over there. */
  readonly named: (id: string) => string;
  /** Error of the clock's offset, ns: part of every update period. */
  readonly clock_error_ns: number;
}

const counted = ['reads', 'missed_deadlines', 'read_ns', 'dropped'] as const;
const nothing = { reads: 0, missed_deadlines: 0, read_ns: 0, dropped: 0 };

export function remoteStatus({ named, clock_error_ns }: RemoteNames): RemoteStatus {
  let before = nothing;
  let session = nothing;
  let observed: readonly ObservedDomain[] = [];
  let flags: readonly string[] = [];
  const earlier = new Set<string>();
  const sum = () => {
    const total = { ...nothing };
    for (const count of counted) total[count] = before[count] + session[count];
    return total;
  };
  return {
    begin() {
      before = sum();
      session = nothing;
      for (const flag of flags) earlier.add(flag);
      flags = [];
    },
    take(status) {
      const { reads, missed_deadlines, read_ns, dropped = 0 } = status;
      session = { reads, missed_deadlines, read_ns, dropped };
      flags = (status.flags ?? []).map((flag) => renamed(flag, named));
      observed = (status.observed ?? []).map((one) => ({
        ...one,
        domain: named(one.domain),
        update_period_ns: one.update_period_ns === null ? null : one.update_period_ns + clock_error_ns,
      }));
    },
    status: () => ({ ...sum(), flags: [...new Set([...earlier, ...flags])], observed }),
  };
}

/** A flag about a domain over there, about ours. */
function renamed(flag: string, named: RemoteNames['named']): string {
  const cut = flag.indexOf(':');
  return cut < 0 ? flag : `${flag.slice(0, cut + 1)}${named(flag.slice(cut + 1))}`;
}

/** Channel readings of an agent's sessions, on our clock and by our list of channels. */
export interface ChannelRelay {
  /** `infos` are the channels of the session. */
  begin(infos: readonly ChannelInfo[]): void;
  take(columns: ChannelColumns, offset_ns: bigint): void;
  drain(): ChannelColumns;
}

interface Entry {
  readonly at_ns: bigint;
  readonly channel: number;
  readonly value: number;
  readonly value_valid: number;
  readonly text: string | null;
  readonly missing_reason: string | null;
}

const mostWaiting = 1 << 16;

/** @param ours channels as they were when the agent was opened; one that is new later is left out */
export function channelRelay(ours: readonly ChannelInfo[]): ChannelRelay {
  const placeOf = ({ device, channel }: ChannelInfo) =>
    ours.findIndex((own) => own.device === device && own.channel === channel);
  let places: readonly number[] = [];
  let waiting: Entry[] = [];
  return {
    begin(infos) {
      places = infos.map(placeOf);
    },
    take(columns, offset_ns) {
      for (const [i, theirs] of columns.channel.entries()) {
        const place = places[theirs] ?? -1;
        if (place >= 0) waiting.push(entryAt(columns, i, { place, offset_ns }));
      }
      if (waiting.length > mostWaiting) waiting = waiting.slice(-mostWaiting);
    },
    drain() {
      const taken = waiting;
      waiting = [];
      return {
        at_ns: BigInt64Array.from(taken, (entry) => entry.at_ns),
        channel: Uint16Array.from(taken, (entry) => entry.channel),
        value: Float64Array.from(taken, (entry) => entry.value),
        value_valid: Uint8Array.from(taken, (entry) => entry.value_valid),
        text: taken.map((entry) => entry.text),
        missing_reason: taken.map((entry) => entry.missing_reason),
      };
    },
  };
}

interface Placed {
  readonly place: number;
  readonly offset_ns: bigint;
}

const entryAt = (columns: ChannelColumns, i: number, { place, offset_ns }: Placed): Entry => ({
  at_ns: BigInt.asIntN(64, (columns.at_ns[i] ?? 0n) + offset_ns),
  channel: place,
  value: columns.value[i] ?? 0,
  value_valid: columns.value_valid[i] ?? 0,
  text: columns.text[i] ?? null,
  missing_reason: columns.missing_reason[i] ?? null,
});
