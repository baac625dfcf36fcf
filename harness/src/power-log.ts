import {
  asObserved,
  blindEvents,
  type ChannelColumns,
  type ChannelInfo,
  type Domain,
  explainFlag,
  flagsOf,
  type Instant,
  type PowerSource,
  type SampleColumns,
  sampleEvents,
} from '@perwatt/core';
import { boundaryOf, type PowerSeries } from '@perwatt/metrics';
import type { PowerFile, SegmentEntry, SourceFlag } from '@perwatt/records';
import type { Levels } from './levels.js';
import { type OpenPowerStream, type PowerSegments, type PowerStream, streamHere } from './power-stream.js';
import { type SeriesMemory, seriesMemory, type WattsNow } from './series-memory.js';

/** Reads every source of a run, keeps the recent samples in memory and streams all of them to the run folder. */
export interface PowerLog {
  readonly domains: readonly Domain[];
  /** Takes a reading of every source now, so that a window's edge has samples of its own. Returns the last one's time. */
  mark(): Instant | null;
  /** Moves what was read since the last call into memory and into the open batch. */
  drain(): void;
  /** Whether every domain has been read; one behind a network may take a moment. */
  begun(): boolean;
  /** Writes the open batch and syncs it. */
  flush(): void;
  series(): readonly PowerSeries[];
  /** Of the domains of the boundary, over the last second or so. */
  wattsNow(): readonly WattsNow[];
  /** Temperatures as they were last read, and watts of the domains of the totals over the last second or so. */
  levels(): Levels;
  /** What the recorders have to say, by source. */
  flags(): readonly SourceFlag[];
  /** Drops samples before `at` from memory; the files keep them. */
  forgetBefore(at: Instant): void;
  /** Stops reading, writes the rest and closes the files. Safe to call twice. */
  close(): void;
}

export interface PowerLogOptions {
  readonly period_ms: number | undefined;
  readonly boot_id: string | null;
  /** How a source gets to its file; within this thread unless said. */
  readonly openStream?: OpenPowerStream | undefined;
  /** Names of the sources whose domains may be summed; null or left out for all. Those of the others stand beside the total. */
  readonly boundary?: ReadonlySet<string> | null;
}

/** What of a run the samples of its power are kept in. */
export interface PowerRun {
  readonly powerFolder: string;
  readonly manifest: { readonly power: readonly PowerFile[] };
  updateManifest(patch: { readonly power: readonly PowerFile[] }): void;
  nextSegment(folder: string, prefix: string): number;
}

/** Starts every source, or none: what runs already is closed when a later one refuses. */
export function openPowerLog(
  run: PowerRun,
  sources: readonly PowerSource[],
  options: PowerLogOptions,
): PowerLog {
  const channels: Channel[] = [];
  try {
    for (const source of sources) channels.push(openChannel(run, source, options));
  } catch (error) {
    for (const channel of channels) channel.close();
    throw error;
  }
  const domains = channels.flatMap((c) => c.stream.domains);
  const summed = new Set(boundaryOf(domains)?.domains.map(({ id }) => id));
  let closed = false;
  return {
    domains,
    mark() {
      const times = channels.map((c) => c.stream.mark());
      return times.length === 0 ? null : times.reduce((a, b) => (a > b ? a : b));
    },
    drain() {
      for (const c of channels) c.drain();
    },
    begun: () => channels.every((c) => c.memories.every((m) => m.begun())),
    flush() {
      for (const c of channels) c.stream.flush();
    },
    series: () => channels.flatMap(seriesOf),
    wattsNow: () =>
      channels
        .flatMap((c) => c.memories.flatMap((m) => m.wattsNow() ?? []))
        .filter(({ domain }) => summed.has(domain)),
    levels: () => ({
      temperatures_c: new Map(channels.flatMap((c) => [...c.temperatures])),
      powers_w: new Map(
        channels
          .flatMap((c) => c.memories.flatMap((m) => m.wattsNow() ?? []))
          .map(({ domain, power_w }) => [domain, power_w]),
      ),
    }),
    flags: () => channels.flatMap((c) => c.flags()),
    forgetBefore(at) {
      for (const c of channels) for (const m of c.memories) m.forgetBefore(at);
    },
    close() {
      if (closed) return;
      closed = true;
      for (const c of channels) c.close();
    },
  };
}

interface Channel {
  readonly stream: PowerStream;
  readonly memories: readonly SeriesMemory[];
  /** By device and channel, °C. */
  readonly temperatures: ReadonlyMap<string, number>;
  drain(): void;
  flags(): readonly SourceFlag[];
  close(): void;
}

/** Domains as they were observed, with what was recorded of each. */
function seriesOf({ stream, memories }: Channel): PowerSeries[] {
  const { observed } = stream.status();
  const all = memories.map((memory) => memory.series());
  return all.map(({ domain, ...series }) => ({ domain: asObserved(domain, observed), ...series }));
}

const isBlind = sampleEvents.map((event) => blindEvents.has(event));

function remember(columns: SampleColumns, memories: readonly SeriesMemory[]): void {
  for (let i = 0; i < columns.at_ns.length; i++) {
    if (isBlind[columns.event[i] ?? -1] === true) continue;
    memories[columns.domain[i] ?? -1]?.add({
      at_ns: columns.at_ns[i] ?? 0n,
      booked_j: columns.booked_energy_j[i] ?? 0,
      lo_j: columns.booked_lo_j[i] ?? 0,
      hi_j: columns.booked_hi_j[i] ?? 0,
    });
  }
}

function rememberTemperatures(
  { channel, value, value_valid }: ChannelColumns,
  infos: readonly ChannelInfo[],
  temperatures: Map<string, number>,
): void {
  for (let i = 0; i < channel.length; i++) {
    const info = infos[channel[i] ?? -1];
    if (info?.unit !== '°C') continue;
    const name = `${info.device} ${info.channel}`;
    if (value_valid[i] === 1) temperatures.set(name, value[i] ?? 0);
    else temperatures.delete(name);
  }
}

function openChannel(run: PowerRun, source: PowerSource, options: PowerLogOptions): Channel {
  const { period_ms, boot_id, openStream = streamHere } = options;
  const seg = run.nextSegment(run.powerFolder, source.name);
  const file = `${source.name}-${seg}.arrows`;
  const opened = openStream(source, {
    ...(period_ms !== undefined && { period_ns: period_ms * 1e6 }),
    samples: { folder: run.powerFolder, file, table: 'samples', sitting: seg, metadata: {} },
    channels: {
      folder: run.powerFolder,
      file: `${source.name}-channels-${seg}.arrows`,
      table: 'channels',
      sitting: seg,
      metadata: {},
    },
  });
  const stream = options.boundary?.has(source.name) === false ? besideTotal(opened) : opened;
  const hasChannels = stream.drainChannels !== undefined && (stream.channels ?? []).length > 0;
  const channelFile = (segment: SegmentEntry | null) =>
    hasChannels ? { channels: { file: `${source.name}-channels-${seg}.arrows`, segment } } : {};
  const entry: PowerFile = {
    file,
    source: source.name,
    provenance: source.provenance,
    period_ns: stream.period_ns,
    domains: stream.domains,
    boot_id,
    segment: null,
    ...channelFile(null),
  };
  run.updateManifest({ power: [...run.manifest.power, entry] });
  const memories = stream.domains.map(seriesMemory);
  const note = (segments: PowerSegments | null) => {
    const known = { status: stream.status(), segment: segments?.samples ?? null };
    const now = { ...known, ...channelFile(segments?.channels ?? null) };
    run.updateManifest({ power: run.manifest.power.map((p) => (p.file === file ? { ...p, ...now } : p)) });
  };
  const flags = () => flagsOf(stream.status());
  const temperatures = new Map<string, number>();
  const noteTemperatures = () => {
    const columns = stream.drainChannels?.();
    if (columns !== undefined) rememberTemperatures(columns, stream.channels ?? [], temperatures);
  };
  let noted = kindsOf(flags());
  const drain = () => {
    remember(stream.drain(), memories);
    noteTemperatures();
    const kinds = kindsOf(flags());
    if (kinds === noted) return;
    noted = kinds;
    note(null);
  };
  return {
    stream,
    memories,
    temperatures,
    drain,
    flags: () => flags().map((flag) => ({ source: source.name, flag })),
    close() {
      stream.stop();
      remember(stream.drain(), memories);
      noteTemperatures();
      note(stream.close());
    },
  };
}

/** Which kinds of flags there are: the manifest is written when that changes, not whenever a count does. */
const kindsOf = (flags: readonly string[]): string =>
  flags
    .map(explainFlag)
    .map(({ code, domain }) => `${code} ${domain}`)
    .join();

/** A stream none of whose domains is summed. */
const besideTotal = (stream: PowerStream): PowerStream => ({
  ...stream,
  domains: stream.domains.map((domain) => ({ ...domain, in_total: false })),
});
