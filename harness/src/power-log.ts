import {
  blindEvents,
  type Domain,
  type Instant,
  type PowerSource,
  type Recorder,
  type SampleColumns,
  sampleEvents,
} from '@perwatt/core';
import { boundaryOf, type PowerSeries } from '@perwatt/metrics';
import { type PowerFile, type RunFolder, SegmentWriter } from '@perwatt/records';
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
  /** Drops samples before `at` from memory; the files keep them. */
  forgetBefore(at: Instant): void;
  /** Stops reading, writes the rest and closes the files. Safe to call twice. */
  close(): void;
}

export interface PowerLogOptions {
  readonly period_ms: number | undefined;
  readonly boot_id: string | null;
}

export function openPowerLog(
  run: RunFolder,
  sources: readonly PowerSource[],
  options: PowerLogOptions,
): PowerLog {
  const { period_ms, boot_id } = options;
  const channels = sources.map((source) => {
    const recorder = source.start(period_ms === undefined ? {} : { period_ns: period_ms * 1e6 });
    return openChannel(run, { source, recorder, boot_id });
  });
  const domains = channels.flatMap((c) => c.recorder.domains);
  const summed = new Set(boundaryOf(domains)?.domains.map(({ id }) => id));
  let closed = false;
  return {
    domains,
    mark() {
      const times = channels.map((c) => c.recorder.mark());
      return times.length === 0 ? null : times.reduce((a, b) => (a > b ? a : b));
    },
    drain() {
      for (const c of channels) c.drain();
    },
    begun: () => channels.every((c) => c.memories.every((m) => m.begun())),
    flush() {
      for (const c of channels) c.writer.flush();
    },
    series: () => channels.flatMap((c) => c.memories.map((m) => m.series())),
    wattsNow: () =>
      channels
        .flatMap((c) => c.memories.flatMap((m) => m.wattsNow() ?? []))
        .filter(({ domain }) => summed.has(domain)),
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

interface ChannelOptions {
  readonly source: PowerSource;
  readonly recorder: Recorder;
  readonly boot_id: string | null;
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

function openChannel(run: RunFolder, { source, recorder, boot_id }: ChannelOptions) {
  const seg = run.nextSegment(run.powerFolder, source.name);
  const file = `${source.name}-${seg}.arrows`;
  const writer = SegmentWriter.create({
    folder: run.powerFolder,
    file,
    table: 'samples',
    sitting: seg,
    metadata: {},
  });
  const entry: PowerFile = {
    file,
    source: source.name,
    provenance: source.provenance,
    period_ns: recorder.period_ns,
    domains: recorder.domains,
    boot_id,
    segment: null,
  };
  run.updateManifest({ power: [...run.manifest.power, entry] });
  const memories = recorder.domains.map(seriesMemory);
  const ids = recorder.domains.map((d) => d.id);
  const drain = () => {
    const columns = recorder.drain();
    if (columns.at_ns.length === 0) return;
    writer.appendColumns(columns, { domains: ids, raw_units: recorder.raw_units });
    remember(columns, memories);
  };
  return {
    recorder,
    writer,
    memories,
    drain,
    close() {
      recorder.stop();
      drain();
      const segment = writer.close();
      const power = run.manifest.power.map((p) => (p.file === file ? { ...p, segment } : p));
      run.updateManifest({ power });
    },
  };
}
