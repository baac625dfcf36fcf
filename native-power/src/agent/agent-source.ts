import {
  type Clock,
  type Domain,
  elapsed,
  isElsewhere,
  messageOf,
  PerwattError,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
} from '@perwatt/core';
import { checkPeriod } from '../feed-recorder.js';
import { rest } from '../meters/backoff.js';
import { type AgentAddress, type AgentClient, agentClient } from './agent-client.js';
import type { AgentFacts, AgentLine, AgentSource } from './agent-protocol.js';
import { betterOffset, type ClockOffset, clockOffset } from './clock-offset.js';
import { type AgentGap, type Relay, relay } from './relay.js';
import { type ChannelRelay, channelRelay, type RemoteStatus, remoteStatus } from './remote-status.js';

export interface AgentOptions extends AgentAddress {
  /** Name in tables and files. */
  readonly id: string;
  /** Sources to follow; default: all that the agent offers. */
  readonly sources?: readonly string[];
  /** More than one domain can draw, W; default 10,000. Bounds what a gap may hide. */
  readonly max_power_w?: number;
}

/** A recorder that knows when it could not hear its agent. */
export interface AgentRecorder extends Recorder {
  gaps(): readonly AgentGap[];
}

/** One source of an agent, to be read like any other. */
export interface RemoteSource extends PowerSource {
  start(options?: { readonly period_ns?: number }): AgentRecorder;
}

/** An agent that answered. */
export interface OpenedAgent {
  readonly facts: AgentFacts;
  readonly clock_offset: ClockOffset;
  readonly sources: readonly RemoteSource[];
}

const between_pings_ms = 10_000;
const shortest_wait_ms = 100;
const longest_wait_ms = 5000;

/**
 * Asks an agent what it has and how its clock stands. Its sources' domains are frozen here: the error of the clock's offset
 * is part of their update period, and so of the bounds at every window's edge. Throws `POWER_NO_SOURCE` when it can't be
 * reached, and `INPUT_INVALID` for a source it doesn't have.
 */
export async function openAgent(
  options: AgentOptions,
  clock: Clock,
  signal: AbortSignal = new AbortController().signal,
): Promise<OpenedAgent> {
  const client = agentClient(options);
  const { facts, offset } = await reach(options, { client, clock, signal });
  const wanted = options.sources ?? facts.sources.map(({ name }) => name);
  const sources = wanted.map((name) => {
    const source = facts.sources.find((offered) => offered.name === name);
    if (source !== undefined) return remoteSource({ options, client, clock, facts, source, offset });
    const known = facts.sources.map((offered) => offered.name).join(', ');
    throw new PerwattError('INPUT_INVALID', `agent ${options.id} has no source "${name}"`, {
      hint: `It offers: ${known || 'none'}.`,
    });
  });
  return { facts, clock_offset: offset, sources };
}

interface Reaching {
  readonly client: AgentClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function reach({ id }: AgentOptions, { client, clock, signal }: Reaching) {
  try {
    const facts = await client.facts(signal);
    return { facts, offset: await clockOffset(() => client.ping(signal), clock) };
  } catch (error) {
    throw new PerwattError('POWER_NO_SOURCE', `agent ${id} cannot be used: ${messageOf(error)}`, {
      hint: 'Start `perwatt agent` there, and check the address and the token.',
      cause: error,
    });
  }
}

interface Remote {
  readonly options: AgentOptions;
  readonly client: AgentClient;
  readonly clock: Clock;
  readonly facts: AgentFacts;
  readonly source: AgentSource;
  readonly offset: ClockOffset;
}

function remoteSource(remote: Remote): RemoteSource {
  const { options, source, facts, offset } = remote;
  const name = `${options.id}-${source.name}`;
  const ms = (ns: number) => `${(ns / 1e6).toFixed(3)} ms`;
  const heard = `on ${facts.hostname}, through an agent; clock offset known to ±${ms(offset.error_ns)}`;
  const domains = source.domains.map(
    (domain): Domain => ({
      ...domain,
      id: `${options.id}/${domain.id}`,
      source: name,
      update_period_ns: domain.update_period_ns + offset.error_ns,
      note: domain.note === null ? heard : `${domain.note}; ${heard}`,
      ...(isElsewhere({ kind: 'http', endpoint: options.url }) && { host: facts.hostname }),
    }),
  );
  return {
    name,
    provenance: source.domains[0]?.provenance ?? 'external',
    default_period_ns: source.default_period_ns,
    start: ({ period_ns = source.default_period_ns } = {}) => record(remote, { name, domains, period_ns }),
  };
}

interface Recording {
  readonly name: string;
  readonly domains: readonly Domain[];
  readonly period_ns: number;
}

function record(remote: Remote, { name, domains, period_ns }: Recording): AgentRecorder {
  checkPeriod(period_ns);
  const { clock, options, source } = remote;
  const stopping = new AbortController();
  const heard = relay(domains.map(() => ({ max_power_w: options.max_power_w ?? 10_000 })));
  const channels = source.channels.map((info) => ({ ...info, device: `${options.id}/${info.device}` }));
  const beside = channelRelay(source.channels);
  const names = new Map(source.domains.map(({ id }, d) => [id, domains[d]?.id ?? id]));
  const theirs = remoteStatus({
    named: (id) => names.get(id) ?? id,
    clock_error_ns: remote.offset.error_ns,
  });
  let ours: OwnStatus = { state: 'running', reason: null, missing_reason: 'the agent has not answered yet' };
  const report = (change: Partial<OwnStatus>) => {
    if (ours.state === 'running') ours = { ...ours, ...change };
    if (change.state === 'failed') stopping.abort();
  };
  void listen(remote, { heard, beside, theirs, period_ns, stopping: stopping.signal, report });
  return {
    source: name,
    domains,
    raw_units: source.raw_units,
    period_ns,
    ...(channels.length > 0 && { channels, drainChannels: () => beside.drain() }),
    drain: () => heard.drain(),
    mark: () => clock.now(),
    status: () => ({ ...theirs.status(), ...ours }),
    stop() {
      stopping.abort();
      report({ state: 'stopped' });
    },
    gaps: () => heard.gaps(),
  };
}

/** What only this side knows: whether the agent is heard. */
type OwnStatus = Pick<RecorderStatus, 'state' | 'reason' | 'missing_reason'>;

interface Listening {
  readonly heard: Relay;
  readonly beside: ChannelRelay;
  readonly theirs: RemoteStatus;
  readonly period_ns: number;
  readonly stopping: AbortSignal;
  readonly report: (change: Partial<OwnStatus>) => void;
}

/** Follows the agent until the recorder stops or the remote source fails; a connection that breaks is made anew. */
async function listen(remote: Remote, listening: Listening): Promise<void> {
  const { stopping, report } = listening;
  let wait_ms = shortest_wait_ms;
  while (!stopping.aborted) {
    const began = remote.clock.now();
    try {
      await session(remote, listening);
      report({ missing_reason: 'the agent ended the stream' });
    } catch (error) {
      report({ missing_reason: messageOf(error) });
    }
    const lasted_ms = elapsed(began, remote.clock.now()) / 1e6;
    wait_ms = lasted_ms > longest_wait_ms ? shortest_wait_ms : Math.min(wait_ms * 2, longest_wait_ms);
    await rest(wait_ms, stopping);
  }
}

/** One connection: the clock's offset first, then samples, the offset measured again as they come. */
async function session(remote: Remote, listening: Listening): Promise<void> {
  const { client, clock, source } = remote;
  const { period_ns, stopping } = listening;
  const ending = new AbortController();
  const signal = AbortSignal.any([stopping, ending.signal]);
  let offset = await clockOffset(() => client.ping(signal), clock);
  let measured = clock.now();
  const onLine = (line: AgentLine) => takeLine(line, { source, listening, offset_ns: offset.offset_ns });
  const following = client.follow({
    source: source.name,
    period_ns,
    signal,
    onLine,
  });
  const measuring = (async () => {
    while (!signal.aborted) {
      await rest(between_pings_ms, signal);
      if (signal.aborted) return;
      const latest = await clockOffset(() => client.ping(signal), clock);
      const now = clock.now();
      offset = betterOffset(offset, elapsed(measured, now), latest);
      measured = now;
    }
  })();
  measuring.catch(() => {});
  try {
    await following;
  } finally {
    ending.abort();
  }
}

interface Taking {
  readonly source: AgentSource;
  readonly listening: Listening;
  readonly offset_ns: bigint;
}

function takeLine(line: AgentLine, { source, listening, offset_ns }: Taking): void {
  const { heard, beside, theirs, report } = listening;
  switch (line.kind) {
    case 'begin':
      heard.begin(line.domains.map((id) => source.domains.findIndex((domain) => domain.id === id)));
      beside.begin(line.channels);
      theirs.begin();
      report({ missing_reason: null });
      break;
    case 'samples':
      heard.take(line.columns, offset_ns);
      break;
    case 'channels':
      beside.take(line.columns, offset_ns);
      break;
    case 'status':
      theirs.take(line.status);
      report({ missing_reason: line.status.missing_reason ?? null });
      break;
    case 'failed':
      report({ state: 'failed', reason: `agent: ${line.reason}` });
      break;
    case 'alive':
      break;
  }
}
