import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asObserved, type ChannelRow, type Domain, type Provenance } from '@perwatt/core';
import { fileName } from './file-names.js';
import type { PowerFile, SegmentEntry } from './manifest.js';
import { readColumns, readSegment, type SampleSeries } from './segment-reader.js';

/** The samples of one power file: what one recorder of one source read in one sitting of the run. */
export interface PowerFileSeries {
  readonly file: string;
  readonly source: string;
  readonly provenance: Provenance;
  readonly period_ns: number;
  readonly boot_id: string | null;
  /** With the update period that was observed where it is longer than the declared one, which the manifest keeps. */
  readonly domains: readonly Domain[];
  /** By domain id; a domain that was never read is absent. */
  readonly series: ReadonlyMap<string, SampleSeries>;
  /** Why samples are or may be missing at the end; null when nothing points to it. */
  readonly torn: string | null;
}

export interface PowerOptions {
  /** Puts the samples into memory that threads can share. Default false. */
  readonly shared?: boolean;
}

/** Every power file of a manifest, in its order. A file that isn't there is an empty, torn one. */
export const readPower = (
  folder: string,
  files: readonly PowerFile[],
  { shared = false }: PowerOptions = {},
): PowerFileSeries[] =>
  files.map(({ file, source, provenance, period_ns, boot_id, segment, status, ...rest }) => {
    const path = join(folder, fileName('power file', file));
    const { series, torn } = existsSync(path)
      ? read(path, { entry: segment ?? undefined, domains: rest.domains.length, shared })
      : { series: new Map<string, SampleSeries>(), torn: 'the file is missing' };
    const domains = rest.domains.map((domain) => asObserved(domain, status?.observed));
    return { file, source, provenance, period_ns, boot_id, domains, series, torn };
  });

interface ReadOptions {
  readonly entry: SegmentEntry | undefined;
  readonly domains: number;
  readonly shared: boolean;
}

function read(path: string, { entry, domains, shared }: ReadOptions) {
  const room = Math.max(Math.ceil((entry?.rows ?? 0) / Math.max(domains, 1)), 256);
  const { series, info } = readColumns(path, entry, { room, shared });
  return { series, torn: info.torn };
}

/** The readings beside power of one recorder of one source. */
export interface ChannelReadings {
  readonly file: string;
  readonly source: string;
  readonly boot_id: string | null;
  readonly rows: readonly ChannelRow[];
  /** Why readings are or may be missing at the end; null when nothing points to it. */
  readonly torn: string | null;
}

/** The channel file of every power file that has one, in the manifest's order. One that isn't there is empty and torn. */
export const readChannels = (folder: string, files: readonly PowerFile[]): ChannelReadings[] =>
  files.flatMap(({ source, boot_id, channels }) => {
    if (channels === null || channels === undefined) return [];
    const { file, segment } = channels;
    const path = join(folder, fileName('channel file', file));
    if (!existsSync(path)) return [{ file, source, boot_id, rows: [], torn: 'the file is missing' }];
    const { rows, info } = readSegment(path, 'channels', segment ?? undefined);
    return [{ file, source, boot_id, rows, torn: info.torn }];
  });
