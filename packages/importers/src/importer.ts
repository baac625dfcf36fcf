import type { PublishedRow } from '@perwatt/core';

/** A file of someone else's, opened by whoever calls. */
export interface ForeignFile {
  /** Path as the user gave it: what messages name. */
  readonly path: string;
  /** In hex, of all bytes. */
  readonly sha256: string;
  /** The bytes from the start; may be asked for more than once. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** What the user knows of files that do not say it themselves. */
export interface ImportOptions {
  readonly model?: string;
  readonly accelerator?: string;
  /** Commit or version of the source. */
  readonly sourceVersion?: string;
}

/** Who published, under which terms. `version` and `date` are null when the file is not a known one. */
export interface SourceFacts {
  readonly id: string;
  readonly licence: string;
  readonly citation: string;
  readonly version: string | null;
  /** ISO 8601. */
  readonly date: string | null;
}

/** How a value was condensed from what was read. */
export type Statistic = 'mean' | 'median' | 'p90' | 'p95' | 'p99' | 'peak' | 'sum' | 'single' | 'share';
/** Where a figure comes from: read off, computed or divided by the source, or computed here from the source's figures. */
export type Basis = 'measured' | 'derived' | 'allocated' | 'recomputed';

type Shared = Omit<
  PublishedRow,
  | 'run_id'
  | 'source'
  | 'source_version'
  | 'source_file'
  | 'setting'
  | 'statistic'
  | 'basis'
  | 'provenance'
  | 'licence'
  | 'citation'
  | 'date'
  | 'metric'
  | 'unit'
  | 'value'
  | 'flags'
>;

/** One figure of a record. What is left out is as the record says, or absent. */
export interface Figure extends Partial<Shared> {
  readonly metric: string;
  /** SI without prefixes. */
  readonly unit: string;
  /** Null with `reason`. */
  readonly value: number | null;
  readonly statistic: Statistic;
  readonly basis: Basis;
  readonly flags?: readonly string[];
}

/** One record of a file (a configuration, a run, a query) with its figures. */
export interface PublishedRecord extends Partial<Shared> {
  readonly source: SourceFacts;
  readonly path: string;
  /** From 1; 0 for a record over the whole file. */
  readonly source_row: number;
  /** Knobs of the configuration that have no column of their own. */
  readonly setting?: Readonly<Record<string, string | number | boolean | null>>;
  readonly flags?: readonly string[];
  readonly figures: readonly Figure[];
}

/** Reads one kind of file. Throws `INPUT_INVALID` naming file and line for what is not as expected, before or after rows. */
export interface Importer {
  readonly kind: string;
  /** Grows whenever the same file would give other rows. */
  readonly version: number;
  /** What it reads, in a line. */
  readonly title: string;
  /** Files it takes, for a list. */
  readonly files: string;
  /** Ends of the names of files it reads, for a folder given in place of files. */
  readonly extensions: readonly string[];
  readonly read: (
    files: readonly ForeignFile[],
    options: ImportOptions,
  ) => AsyncGenerator<PublishedRecord, void, undefined>;
}
