import {
  type Domain,
  PerwattError,
  provenances,
  type SampleColumns,
  sampleEvents,
  scopes,
} from '@perwatt/core';

/** Version of the agent's protocol. */
export const AGENT_VERSION = 1;

/** One source of an agent. */
export interface AgentSource {
  readonly name: string;
  readonly default_period_ns: number;
  readonly domains: readonly Domain[];
  readonly raw_units: readonly string[];
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
  | { readonly kind: 'begin'; readonly domains: readonly string[] }
  | { readonly kind: 'samples'; readonly columns: SampleColumns }
  | { readonly kind: 'alive' }
  | { readonly kind: 'failed'; readonly reason: string };

const malformed = (what: string) =>
  new PerwattError('POWER_MALFORMED', `agent: ${what}`, {
    hint: 'Check that the address is that of a `perwatt agent` of the same version.',
  });

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function object(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(`${JSON.stringify(text.slice(0, 80))} is not JSON`);
  }
  if (!isObject(value)) throw malformed('an object was expected');
  return value;
}

const stampPattern = /^-?\d{1,19}$/;

function stamp(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !stampPattern.test(value)) throw malformed(`${what} is not a stamp`);
  const ns = BigInt(value);
  if (BigInt.asIntN(64, ns) !== ns) throw malformed(`${what} is out of range`);
  return ns;
}

function text(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= 4096) return value;
  throw malformed(`${what} is not a text`);
}

function finite(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformed(`${what} is not a number`);
}

function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value) && value.length <= 1 << 20) return value;
  throw malformed(`${what} is not a list`);
}

function oneOf<T extends string>(value: unknown, known: readonly T[], what: string): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw malformed(`${what} is unknown`);
  return found;
}

const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

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
  };
}

function positive(value: unknown, what: string): number {
  const number = finite(value, what);
  if (number <= 0) throw malformed(`${what} is not positive`);
  return number;
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

/** One line of the stream, for a session of `domains` domains. Throws `POWER_MALFORMED`. */
export function parseAgentLine(line: string, domains: number): AgentLine {
  const value = object(line);
  switch (value['kind']) {
    case 'begin':
      return { kind: 'begin', domains: list(value['domains'], 'domains').map((id) => text(id, 'id')) };
    case 'samples':
      return { kind: 'samples', columns: parseColumns(value, domains) };
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
  const below = (most: number) => (entry: unknown, what: string) => {
    const index = finite(entry, what);
    if (!Number.isInteger(index) || index < 0 || index >= most) throw malformed(`${what} is out of range`);
    return index;
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
