import type { ChannelColumns, PowerSource, Recorder, SampleColumns } from '@perwatt/core';
import { type SegmentEntry, type SegmentOptions, SegmentWriter } from '@perwatt/records';

/** The segments that a recorder filled; null for channels where the source has none. */
export interface PowerSegments {
  readonly samples: SegmentEntry;
  readonly channels: SegmentEntry | null;
}

/**
 * A recorder whose samples also go to a segment of the run, and its channel readings to another. `drain` still hands all
 * of them over, for windows and displays; what it handed over may not be on the disk before `flush` returns.
 */
export interface PowerStream extends Recorder {
  /** Returns when everything that was drained is on the disk. Throws `DISK_FULL` when there is no room. */
  flush(): void;
  /** Stops the recorder, writes what is left and says what the files hold. Safe to call twice. */
  close(): PowerSegments;
}

export interface PowerStreamOptions {
  /** Time between two readings, ns; the source's own unless said. */
  readonly period_ns?: number;
  readonly samples: SegmentOptions<'samples'>;
  /** Made only for a source that has channels. */
  readonly channels: SegmentOptions<'channels'>;
}

/** Starts a source and streams it to a segment. Throws what the source's `start` and the segment's `create` throw. */
export type OpenPowerStream = (source: PowerSource, options: PowerStreamOptions) => PowerStream;

/** Streams within this thread: samples reach the file as they are drained. For sources that live in JavaScript. */
export const streamHere: OpenPowerStream = (source, { samples, channels, ...options }) => {
  const recorder = source.start(options);
  const writers = createOrStop(recorder, { samples, channels });
  const names = { domains: recorder.domains.map(({ id }) => id), raw_units: recorder.raw_units };
  const infos = recorder.channels ?? [];
  let segments: PowerSegments | null = null;
  const append = (columns: SampleColumns) => {
    if (segments === null && columns.at_ns.length > 0) writers.samples.appendColumns(columns, names);
    return columns;
  };
  const appendChannels = (columns: ChannelColumns) => {
    if (segments === null && columns.at_ns.length > 0) writers.channels?.appendChannels(columns, infos);
    return columns;
  };
  const readChannels = recorder.drainChannels?.bind(recorder);
  return {
    source: recorder.source,
    domains: recorder.domains,
    raw_units: recorder.raw_units,
    period_ns: recorder.period_ns,
    ...(recorder.channels && { channels: recorder.channels }),
    ...(readChannels && { drainChannels: () => appendChannels(readChannels()) }),
    drain: () => append(recorder.drain()),
    mark: () => recorder.mark(),
    status: () => recorder.status(),
    stop: () => recorder.stop(),
    flush() {
      writers.samples.flush();
      writers.channels?.flush();
    },
    close() {
      recorder.stop();
      segments ??= { samples: writers.samples.close(), channels: writers.channels?.close() ?? null };
      return segments;
    },
  };
};

function createOrStop(
  recorder: Recorder,
  { samples, channels }: Pick<PowerStreamOptions, 'samples' | 'channels'>,
) {
  const some = recorder.drainChannels !== undefined && (recorder.channels ?? []).length > 0;
  try {
    return {
      samples: SegmentWriter.create(samples),
      channels: some ? SegmentWriter.create(channels) : null,
    };
  } catch (error) {
    recorder.stop();
    throw error;
  }
}
