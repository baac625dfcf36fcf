import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf, PerwattError, SCHEMA_VERSION, type TableName } from '@perwatt/core';
import { type RecordBatch, RecordBatchReader, type Schema } from 'apache-arrow';
import { fileError } from './file-errors.js';
import type { SegmentEntry } from './manifest.js';
import { type ScanState, scanMessages } from './scan-messages.js';
import type { Scratch } from './scratch.js';

/** What was found in a segment: its whole batches, and what is wrong with the rest. */
export interface SegmentInfo {
  readonly file: string;
  /** The file's own metadata: `table`, `schema_version`, `sitting` and what its writer added. Empty when unreadable. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Session of work that wrote it; null when unreadable. */
  readonly sitting: number | null;
  readonly rows: number;
  readonly batches: number;
  /** Bytes of the whole messages from the start on. */
  readonly bytes: number;
  /** Whether its writer closed it. A segment of a killed process isn't closed, but needn't be torn. */
  readonly closed: boolean;
  /** Whether it is, byte for byte, what its entry says. False without an entry. */
  readonly verified: boolean;
  /** Why something is or may be missing behind the batches found; null when nothing points to it. */
  readonly torn: string | null;
}

export interface ScanSegmentOptions {
  readonly table: TableName;
  /** What the manifest says of the file, where it was closed. */
  readonly entry?: SegmentEntry | undefined;
  /** Hold batches to their seals, not the file to its sha256: for readers of numbers, which `verifyRun` stands behind. */
  readonly seals_only?: boolean;
  /** Memory that the batches are put in: they hold until it is given out again. */
  readonly scratch?: Pick<Scratch, 'bytes'> | undefined;
  /** Called with each whole batch, in order, before the next is read. */
  readonly onBatch: (batch: RecordBatch) => void;
}

/**
 * Reads a segment batch by batch and keeps every whole one; a torn tail ends it without an error. Throws
 * `RUN_SCHEMA_NEWER` for a newer schema, `RUN_INVALID` for a stream of another table or maker, `FILE_UNREADABLE` or
 * `RUN_INVALID` when the file can't be opened.
 */
export function scanSegment(
  path: string,
  { table, entry, onBatch, ...options }: ScanSegmentOptions,
): SegmentInfo {
  const fd = openForReading(path);
  try {
    const size = fstatSync(fd).size;
    const hash = entry === undefined || options.seals_only === true ? null : createHash('sha256');
    const torn = size === 0 ? 'the file is empty' : null;
    const state: ScanState = { bytes: 0, closed: false, torn, spoiled: false };
    const counts = { rows: 0, batches: 0 };
    const reader = RecordBatchReader.from(scanMessages(fd, { size, hash, scratch: options.scratch }, state));
    const schema = openReader(reader, state);
    if (schema !== null) {
      checkSchema(path, schema, table);
      readBatches(reader, state, (batch) => {
        onBatch(batch);
        counts.rows += batch.numRows;
        counts.batches += 1;
      });
    }
    const found = { ...counts, bytes: state.bytes };
    const damage = state.torn ?? (entry ? difference(found, entry, hash?.digest('hex') ?? null) : null);
    const sitting = schema?.metadata.get('sitting');
    return {
      file: basename(path),
      metadata: Object.fromEntries(schema?.metadata ?? []),
      sitting: sitting === undefined ? null : Number(sitting),
      ...found,
      closed: state.closed,
      verified: hash !== null && damage === null,
      torn: damage,
    };
  } finally {
    closeSync(fd);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new PerwattError(
      'RUN_INVALID',
      `segment ${path} cannot be read: ${messageOf(fileError(error, path))}`,
      {
        cause: error,
      },
    );
  }
}

/** The stream's schema, or null with the reason in `state`. */
function openReader(reader: RecordBatchReader, state: ScanState): Schema | null {
  try {
    reader.open();
    const schema: Schema | undefined = reader.schema;
    if (schema !== undefined && schema !== null) return schema;
    state.torn ??= 'no schema at the start';
  } catch (error) {
    state.torn ??= `no schema at the start: ${messageOf(error)}`;
  }
  return null;
}

function readBatches(reader: RecordBatchReader, state: ScanState, take: (batch: RecordBatch) => void): void {
  try {
    for (const batch of reader) if (batch.numRows > 0) take(batch);
  } catch (error) {
    state.torn ??= `unreadable batch before byte ${state.bytes}: ${messageOf(error)}`;
  }
}

function checkSchema(path: string, schema: Schema, table: TableName): void {
  const { metadata } = schema;
  const version = Number(metadata.get('schema_version'));
  const found = metadata.get('table');
  if (!Number.isInteger(version) || found === undefined) {
    throw new PerwattError('RUN_INVALID', `${path} is an Arrow stream, but not a segment of a run`);
  }
  if (version > SCHEMA_VERSION) {
    throw new PerwattError(
      'RUN_SCHEMA_NEWER',
      `${path} has schema version ${version}; this version reads up to ${SCHEMA_VERSION}`,
    );
  }
  if (found !== table) {
    throw new PerwattError('RUN_INVALID', `${path} holds table "${found}", not "${table}"`);
  }
}

type Found = Pick<SegmentEntry, 'rows' | 'batches' | 'bytes'>;

/** The first way in which a segment isn't what its entry says; null when it is. */
function difference(found: Found, entry: SegmentEntry, sha256: string | null): string | null {
  for (const key of ['rows', 'batches', 'bytes'] as const) {
    if (found[key] !== entry[key]) return `${found[key]} ${key} found where ${entry[key]} were written`;
  }
  return sha256 === null || sha256 === entry.sha256
    ? null
    : `sha256 is ${sha256} where ${entry.sha256} was written`;
}
