import {
  type ChannelColumns,
  type ChannelInfo,
  type Domain,
  provenances,
  type Recorder,
  type SampleColumns,
  sampleEvents,
  scopes,
} from '@perwatt/core';
import {
  below,
  finite,
  isObject,
  type Json,
  list,
  malformed,
  object,
  oneOf,
  orNull,
  positive,
  stamp,
  text,
} from './agent-fields.js';
import { type AgentStatus, parseChannelColumns, parseChannelInfo, parseStatus } from './agent-status.js';

/** Version of the agent's protocol. */
export const AGENT_VERSION = 2;

/** One source of an agent. */
export interface AgentSource {
  readonly name: string;
  readonly default_period_ns: number;
  readonly domains: readonly Domain[];
  readonly raw_units: readonly string[];
  /** What is read beside power; empty for a source without channels. */
  readonly channels: readonly ChannelInfo[];
}

/** What an agent says of its host. */
export interface AgentFacts {
  readonly agent_version: number;
  readonly hostname: string;
  readonly boot_id: string | null;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly sources: readonly AgentSource[];
}

/** A line of the stream of samples. */
export type AgentLine =
  | {
      readonly kind: 'begin';
      readonly domains: readonly string[];
      readonly channels: readonly ChannelInfo[];
    }
  | { readonly kind: 'samples'; readonly columns: SampleColumns }
  | { readonly kind: 'channels'; readonly columns: ChannelColumns }
  | { readonly kind: 'status'; readonly status: AgentStatus }
  | { readonly kind: 'alive' }
  | { readonly kind: 'failed'; readonly reason: string };

/** The agent's time, ns on its monotonic clock. Throws `POWER_MALFORMED`. */
export const parsePong = (body: string): bigint => stamp(object(body)['now_ns'], 'now_ns');

export const pong = (now_ns: bigint): string => JSON.stringify({ now_ns: String(now_ns) });

/** What an agent says of itself. Throws `POWER_MALFORMED`. */
export function parseFacts(body: string): AgentFacts {
  const facts = object(body);
  if (facts['agent_version'] !== AGENT_VERSION) {
    throw malformed(`version ${JSON.stringify(facts['agent_version'] ?? null)} is not ${AGENT_VERSION}`);
  }
  const sources = list(facts['sources'], 'sources').map(parseSource);
  return {
    agent_version: AGENT_VERSION,
    hostname: text(facts['hostname'], 'hostname'),
    boot_id: orNull(facts['boot_id'], (value) => text(value, 'boot_id')),
    facts: isObject(facts['facts']) ? facts['facts'] : {},
    sources,
  };
}

function parseSource(value: unknown): AgentSource {
  if (!isObject(value)) throw malformed('a source is not an object');
  const name = text(value['name'], 'name');
  if (!/^[A-Za-z0-9][A-Za-z0-9._:+-]{0,79}$/.test(name)) throw malformed('a source has no usable name');
  const domains = list(value['domains'], 'domains').map((domain) => parseDomain(domain, name));
  if (domains.length === 0 || domains.length > 4096) throw malformed(`source ${name} has no domain`);
  if (new Set(domains.map(({ id }) => id)).size < domains.length)
    throw malformed(`source ${name} names a domain twice`);
  return {
    name,
    default_period_ns: positive(value['default_period_ns'], 'default_period_ns'),
    domains,
    raw_units: domains.map((_, d) => text(list(value['raw_units'], 'raw_units')[d], 'raw_units')),
    channels: list(value['channels'], 'channels').map(parseChannelInfo),
  };
}

function parseDomain(value: unknown, source: string): Domain {
  if (!isObject(value)) throw malformed('a domain is not an object');
  const share = orNull(value['sensing_share_ratio'], (ratio) => finite(ratio, 'sensing_share_ratio'));
  return {
    id: text(value['id'], 'id'),
    source,
    scope: oneOf(value['scope'], scopes, 'scope'),
    kind: oneOf(value['kind'], ['counter', 'gauge', 'estimate'], 'kind'),
    provenance: oneOf(value['provenance'], provenances, 'provenance'),
    in_total: value['in_total'] === true,
    update_period_ns: positive(value['update_period_ns'], 'update_period_ns'),
    quantum: orNull(value['quantum'], (q) => finite(q, 'quantum')),
    scale_error_ratio: orNull(value['scale_error_ratio'], (ratio) => finite(ratio, 'scale_error_ratio')),
    ...(share !== null && { sensing_share_ratio: share }),
    note: orNull(value['note'], (note) => text(note, 'note')),
  };
}

/** How many domains and channels a session has. */
export interface SessionSize {
  readonly domains: number;
  readonly channels: number;
}

/** One line of the stream, for a session of that size. Throws `POWER_MALFORMED`. */
export function parseAgentLine(line: string, { domains, channels }: SessionSize): AgentLine {
  const value = object(line);
  switch (value['kind']) {
    case 'begin':
      return {
        kind: 'begin',
        domains: list(value['domains'], 'domains').map((id) => text(id, 'id')),
        channels: list(value['channels'], 'channels').map(parseChannelInfo),
      };
    case 'samples':
      return { kind: 'samples', columns: parseColumns(value, domains) };
    case 'channels':
      return { kind: 'channels', columns: parseChannelColumns(value, channels) };
    case 'status':
      return { kind: 'status', status: parseStatus(value) };
    case 'alive':
      return { kind: 'alive' };
    case 'failed':
      return { kind: 'failed', reason: text(value['reason'], 'reason') };
    default:
      throw malformed('a line of an unknown kind');
  }
}

function parseColumns(value: Json, domains: number): SampleColumns {
  const stamps = list(value['at_ns'], 'at_ns').map((at) => stamp(at, 'at_ns'));
  const column = <T>(name: keyof SampleColumns, read: (entry: unknown, what: string) => T): T[] => {
    const entries = list(value[name], name);
    if (entries.length !== stamps.length)
      throw malformed(`${name} has ${entries.length} entries, not ${stamps.length}`);
    return entries.map((entry) => read(entry, name));
  };
  const energy = (entry: unknown, what: string) => {
    const joules = finite(entry, what);
    if (joules < 0) throw malformed(`${what} is negative`);
    return joules;
  };
  const flag = below(2);
  return {
    at_ns: BigInt64Array.from(stamps),
    read_ns: Float64Array.from(column('read_ns', finite)),
    domain: Uint16Array.from(column('domain', below(domains))),
    raw: BigInt64Array.from(column('raw', stamp)),
    raw_valid: Uint8Array.from(column('raw_valid', flag)),
    event: Uint8Array.from(column('event', below(sampleEvents.length))),
    booked_energy_j: Float64Array.from(column('booked_energy_j', energy)),
    booked_lo_j: Float64Array.from(column('booked_lo_j', energy)),
    booked_hi_j: Float64Array.from(column('booked_hi_j', energy)),
    power_w: Float64Array.from(column('power_w', finite)),
    power_valid: Uint8Array.from(column('power_valid', flag)),
  };
}

/** What a stream begins with. */
export const beginLine = ({ domains, channels = [] }: Pick<Recorder, 'domains' | 'channels'>): string =>
  JSON.stringify({ kind: 'begin', domains: domains.map(({ id }) => id), channels });

/** Columns as a line. */
export const samplesLine = (columns: SampleColumns): string =>
  JSON.stringify({
    kind: 'samples',
    ...Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [
        name,
        values instanceof BigInt64Array
          ? Array.from(values, String)
          : Array.from(values as ArrayLike<number>),
      ]),
    ),
  });
