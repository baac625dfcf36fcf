import type { PowerSource, Recorder } from '@perwatt/core';
import { type SegmentEntry, type SegmentOptions, SegmentWriter } from '@perwatt/records';

/**
 * A recorder whose samples also go to a segment of the run. `drain` still hands all of them over, for windows and
 * displays; what it handed over may not be on the disk before `flush` returns.
 */
export interface PowerStream extends Recorder {
  /** Returns when everything that was drained is on the disk. Throws `DISK_FULL` when there is no room. */
  flush(): void;
  /** Stops the recorder, writes what is left and says what the file holds. Safe to call twice. */
  close(): SegmentEntry;
}

export interface PowerStreamOptions {
  /** Time between two readings, ns; the source's own unless said. */
  readonly period_ns?: number;
  readonly segment: SegmentOptions<'samples'>;
}

/** Starts a source and streams it to a segment. Throws what the source's `start` and the segment's `create` throw. */
export type OpenPowerStream = (source: PowerSource, options: PowerStreamOptions) => PowerStream;

/** Streams within this thread: samples reach the file as they are drained. For sources that live in JavaScript. */
export const streamHere: OpenPowerStream = (source, { segment, ...options }) => {
  const recorder = source.start(options);
  const writer = createOrStop(recorder, segment);
  const names = { domains: recorder.domains.map(({ id }) => id), raw_units: recorder.raw_units };
  const append = (columns: ReturnType<Recorder['drain']>) => {
    if (columns.at_ns.length > 0) writer.appendColumns(columns, names);
    return columns;
  };
  let entry: SegmentEntry | null = null;
  return {
    source: recorder.source,
    domains: recorder.domains,
    raw_units: recorder.raw_units,
    period_ns: recorder.period_ns,
    drain: () => (entry === null ? append(recorder.drain()) : recorder.drain()),
    mark: () => recorder.mark(),
    status: () => recorder.status(),
    stop: () => recorder.stop(),
    flush: () => void writer.flush(),
    close() {
      recorder.stop();
      entry ??= writer.close();
      return entry;
    },
  };
};

function createOrStop(recorder: Recorder, segment: SegmentOptions<'samples'>): SegmentWriter<'samples'> {
  try {
    return SegmentWriter.create(segment);
  } catch (error) {
    recorder.stop();
    throw error;
  }
}
