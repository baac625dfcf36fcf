import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Column, messageOf, PerwattError, SCHEMA_VERSION, type TableName, tables } from '@perwatt/core';
import { syncFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import type { SegmentEntry } from './manifest.js';
import type { TornSegment } from './read-tables.js';
import { scanSegment } from './scan-segment.js';
import { type Database, quoted } from './sql-engine.js';
import { stageTable } from './staged-table.js';

/** Version of what a Parquet file of ours holds beside its rows. */
const FORMAT = 2;
const ROW_GROUP = 122_880;

/** A segment to read, and what the manifest says of it. */
export interface SegmentSource {
  readonly path: string;
  /** Null for one that was never closed. */
  readonly entry: SegmentEntry | null;
}

/** A table of one folder in Parquet. Derived: it may be deleted, and is made again from the segments. */
export interface CompactedTable {
  readonly table: TableName;
  readonly path: string;
  /** Rows in the file; null when it was up to date and not read. */
  readonly rows: number | null;
  /** Segments that are not whole, with the rows they gave all the same. */
  readonly torn: readonly TornSegment[];
  /** Whether the file was there already and made from these segments. */
  readonly fresh: boolean;
}

/** What the segments are: another value means that a Parquet file made from them is out of date. */
export function fingerprint(table: TableName, sources: readonly SegmentSource[]): string {
  const columns = Object.entries<Column>(tables[table]).map(([name, { type }]) => [name, type]);
  const segments = sources.map(({ path, entry }) => [basename(path), sizeOf(path), entry?.sha256 ?? null]);
  const facts = JSON.stringify([FORMAT, SCHEMA_VERSION, table, columns, segments]);
  return createHash('sha256').update(facts).digest('hex');
}

function sizeOf(path: string): number | null {
  return existsSync(path) ? statSync(path).size : null;
}

export interface CompactOptions {
  readonly table: TableName;
  readonly sources: readonly SegmentSource[];
  /** The Parquet file to make or replace. */
  readonly out: string;
  /** Parquet files as `parquetFacts` found them; read from the file when absent. */
  readonly known?: ReadonlyMap<string, ParquetFacts> | undefined;
}

/** What a Parquet file of ours says of where its rows come from. */
export interface ParquetFacts {
  /** `fingerprint` of the segments it was made from. */
  readonly source: string;
  /** Those of them that were not whole then. */
  readonly torn: readonly TornSegment[];
}

/**
 * Copies segments into one Parquet file, in their order, unless it holds them already. It appears under its name when it is
 * whole and on the disk. What can't be read of a segment is left out and named, a foreign file whole. The same segments
 * give the same bytes.
 */
export async function compactTable(db: Database, options: CompactOptions): Promise<CompactedTable> {
  const { table, sources, out, known } = options;
  const source = fingerprint(table, sources);
  const found = (known ?? (await parquetFacts(db, [out]))).get(out);
  if (found?.source === source) return { table, path: out, rows: null, torn: found.torn, fresh: true };
  const stage = await stageTable(db, table);
  try {
    const torn = sources.flatMap(({ path, entry }) => {
      const problem = readInto(stage.append, { path, table, entry });
      return problem === null ? [] : [problem];
    });
    const about = { table, source, torn: JSON.stringify(torn) };
    await writeParquet(db, { select: stage.select(), out, about });
    return { table, path: out, rows: stage.rows, torn, fresh: false };
  } finally {
    await stage.drop();
  }
}

/** The facts in Parquet files, by path; one that isn't there, or is none of ours, is absent. */
export async function parquetFacts(
  db: Database,
  paths: readonly string[],
): Promise<Map<string, ParquetFacts>> {
  const present = paths.filter((path) => existsSync(path));
  if (present.length === 0) return new Map();
  const files = `[${present.map(quoted).join(', ')}]`;
  const sql = `SELECT file_name, decode(key), decode(value) FROM parquet_kv_metadata(${files})
    WHERE decode(key) IN ('source', 'torn') ORDER BY decode(key)`;
  try {
    const facts = new Map<string, ParquetFacts>();
    for (const [path, key, value] of (await db.connection.runAndReadAll(sql)).getRows()) {
      const [file, text] = [String(path), String(value)];
      const known = facts.get(file) ?? { source: text, torn: [] };
      facts.set(file, key === 'torn' ? { ...known, torn: JSON.parse(text) as TornSegment[] } : known);
    }
    return facts;
  } catch {
    if (present.length === 1) return new Map();
    const each = [];
    for (const path of present) each.push(...(await parquetFacts(db, [path])));
    return new Map(each);
  }
}

type Append = Parameters<typeof scanSegment>[1]['onBatch'];

function readInto(
  onBatch: Append,
  { path, table, entry }: SegmentSource & { readonly table: TableName },
): TornSegment | null {
  const file = basename(path);
  if (!existsSync(path)) return { file, reason: 'the file is missing', rows: 0 };
  try {
    const { torn, rows } = scanSegment(path, { table, entry: entry ?? undefined, onBatch });
    return torn === null ? null : { file, reason: torn, rows };
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'RUN_INVALID')
      return { file, reason: messageOf(error), rows: 0 };
    throw error;
  }
}

export interface ParquetOptions {
  readonly select: string;
  readonly out: string;
  /** Goes into the file's metadata beside `schema_version`. */
  readonly about: Readonly<Record<string, string>>;
}

/** Writes the rows of a query as one Parquet file that appears whole or not at all. */
export async function writeParquet(db: Database, { select, out, about }: ParquetOptions): Promise<void> {
  const facts = Object.entries({ ...about, schema_version: String(SCHEMA_VERSION) });
  const metadata = facts.map(([key, value]) => `${quoted(key)}: ${quoted(value)}`).join(', ');
  const options = `FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE ${ROW_GROUP}, KV_METADATA {${metadata}}`;
  await replaceFile(out, (path) => db.connection.run(`COPY (${select}) TO ${quoted(path)} (${options})`));
}

/** Has `write` make a file beside `out`, and puts it in its place once it is on the disk. */
export async function replaceFile(out: string, write: (path: string) => Promise<unknown>): Promise<void> {
  const temporary = join(dirname(out), `.${basename(out)}.${randomUUID()}.tmp`);
  try {
    await write(temporary);
    const fd = openSync(temporary, 'r+');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, out);
    syncFolder(dirname(out));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fileError(error, out);
  }
}
