import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import {
  type ChannelColumns,
  messageOf,
  PerwattError,
  type Recorder,
  type RecorderStatus,
  type SampleColumns,
  systemCode,
} from '@perwatt/core';
import { SegmentWriter } from '@perwatt/records';

/** Samples on their way to an Arrow stream file, as a run keeps them, and channels to another beside it. */
export interface SampleFile {
  /** Takes what one recorder read. */
  add(recorder: Recorder, columns: SampleColumns): void;
  addChannels(recorder: Recorder, columns: ChannelColumns): void;
  /** Writes what waits, durably. */
  flush(): void;
  close(): void;
}

/** `power.arrows` has its channels in `power-channels.arrows`. */
export const channelPath = (path: string): string => `${path.replace(/\.arrows$/, '')}-channels.arrows`;

/** How the recorders of `power.arrows` fared stands in `power-recorders.json`. */
export const recordersPath = (path: string): string => `${path.replace(/\.arrows$/, '')}-recorders.json`;

/** How one recorder of a file of samples fared, as it stands beside the file. */
export interface KeptRecorder {
  readonly source: string;
  readonly period_ns: number;
  readonly status: RecorderStatus;
}

/**
 * A file that gives up where it can't be written any more (a full disk): `onFailure` is told once, and what is measured
 * goes on without it.
 */
export function forgivingFile(file: SampleFile, onFailure: (error: PerwattError) => void): SampleFile {
  let lost = false;
  const attempt = (work: () => void) => {
    if (lost) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof PerwattError)) throw error;
      lost = true;
      onFailure(error);
    }
  };
  return {
    add: (recorder, columns) => attempt(() => file.add(recorder, columns)),
    addChannels: (recorder, columns) => attempt(() => file.addChannels(recorder, columns)),
    flush: () => attempt(file.flush),
    close: () => attempt(file.close),
  };
}

/**
 * Creates the file, which must not exist. Its metadata names the domains and their facts. Where a recorder has channels, a
 * file of theirs is made beside it, see `channelPath`; how the recorders fared is written at the end, see `recordersPath`.
 */
export function sampleFile(path: string, recorders: readonly Recorder[]): SampleFile {
  const withChannels = recorders.some(({ channels = [] }) => channels.length > 0);
  const paths = [path, recordersPath(path), ...(withChannels ? [channelPath(path)] : [])];
  for (const wanted of paths) refuseExisting(wanted);
  const place = (own: string) => ({ folder: dirname(own), file: basename(own), sitting: 0 });
  const writer = SegmentWriter.create({
    ...place(path),
    table: 'samples',
    metadata: { domains: JSON.stringify(recorders.flatMap(({ domains }) => domains)) },
  });
  const channels = withChannels
    ? SegmentWriter.create({ ...place(channelPath(path)), table: 'channels', metadata: {} })
    : null;
  const names = new Map(
    recorders.map((recorder) => [
      recorder,
      { domains: recorder.domains.map(({ id }) => id), raw_units: recorder.raw_units },
    ]),
  );
  return {
    add(recorder, columns) {
      const own = names.get(recorder);
      if (own !== undefined) writer.appendColumns(columns, own);
    },
    addChannels(recorder, columns) {
      if (columns.at_ns.length > 0) channels?.appendChannels(columns, recorder.channels ?? []);
    },
    flush() {
      writer.flush();
      channels?.flush();
    },
    close() {
      writer.close();
      channels?.close();
      keepRecorders(recordersPath(path), recorders);
    },
  };
}

function keepRecorders(path: string, recorders: readonly Recorder[]): void {
  const kept = recorders.map((recorder): KeptRecorder => {
    const { source, period_ns } = recorder;
    return { source, period_ns, status: recorder.status() };
  });
  try {
    writeFileSync(path, `${JSON.stringify(kept)}\n`);
  } catch (error) {
    const code = systemCode(error) === 'ENOSPC' ? 'DISK_FULL' : 'FILE_UNREADABLE';
    throw new PerwattError(code, `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new PerwattError('INPUT_INVALID', `${path} exists already`, {
    hint: 'Name a file that is not there yet, or remove this one.',
  });
}
