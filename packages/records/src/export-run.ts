import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { writeArrow } from './arrow-export.js';
import { replaceFile, writeParquet } from './compact-table.js';
import { fileError } from './file-errors.js';
import type { TornSegment } from './read-tables.js';
import { openTables, type RunTables, type ViewName } from './run-tables.js';
import { quoted } from './sql-engine.js';

/** Formats that a run can be exported in. */
export const exportFormats = ['parquet', 'arrow', 'csv', 'json', 'huggingface'] as const;
/** One of `exportFormats`. */
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Folder for the files; made when it isn't there. Files of the same names are replaced. */
  readonly out: string;
  /** Which tables; all when absent. */
  readonly tables?: readonly ViewName[];
}

/** A file that was written. */
export interface ExportedFile {
  readonly table: ViewName;
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/** What an export gave, and what could not be read for it. */
export interface Exported {
  readonly files: readonly ExportedFile[];
  readonly torn: readonly TornSegment[];
}

/**
 * Writes the tables of the run at `path` into one file each, rows in the order of the cells. The same run gives the same
 * bytes. Parquet, Arrow (file format), CSV with a header, JSON (one object a line), or a folder that
 * `datasets.load_from_disk` opens as a dictionary of the tables. In CSV a text that a spreadsheet would take for a formula
 * gets a `'` in front.
 */
export async function exportRun(path: string, options: ExportOptions): Promise<Exported> {
  const opened = await openTables(path);
  try {
    const wanted = wantedOf(opened, options.tables);
    makeOut(options.out);
    const files: ExportedFile[] = [];
    for (const table of wanted) files.push(await writers[options.format](opened, table, options.out));
    if (options.format === 'huggingface')
      writeJson(join(options.out, 'dataset_dict.json'), { splits: wanted });
    return { files, torn: opened.torn };
  } finally {
    opened.close();
  }
}

/** The tables to write, in the order of the run's. Throws `INPUT_INVALID` for one that it cannot have. */
function wantedOf({ path, views }: RunTables, tables: ExportOptions['tables']): readonly ViewName[] {
  const stranger = tables?.find((name) => !views.includes(name));
  if (stranger !== undefined)
    throw new PerwattError('INPUT_INVALID', `${path} has no table "${stranger}"; it has ${views.join(', ')}`);
  return views.filter((name) => tables?.includes(name) ?? true);
}

function makeOut(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw fileError(error, folder);
  }
}

type Writer = (opened: RunTables, table: ViewName, out: string) => Promise<ExportedFile>;

const writers: Readonly<Record<ExportFormat, Writer>> = {
  async parquet({ db }, table, folder) {
    const out = join(folder, `${table}.parquet`);
    await writeParquet(db, { select: `SELECT * FROM ${table}`, out, about: { table } });
    return countedBySql(db, table, out);
  },
  async csv({ db }, table, folder) {
    const out = join(folder, `${table}.csv`);
    const select = `SELECT ${await harmlessColumns(db, table)} FROM ${table}`;
    await copy(db, select, { out, options: 'FORMAT csv, HEADER true' });
    return countedBySql(db, table, out);
  },
  async json({ db }, table, folder) {
    const out = join(folder, `${table}.jsonl`);
    await copy(db, `SELECT * FROM ${table}`, { out, options: 'FORMAT json' });
    return countedBySql(db, table, out);
  },
  async arrow({ db }, table, folder) {
    const out = join(folder, `${table}.arrow`);
    const rows = await copyArrow(db, table, { out, format: 'file' });
    return { table, path: out, rows, bytes: statSync(out).size };
  },
  async huggingface({ db }, table, folder) {
    const split = join(folder, table);
    makeOut(split);
    const file = 'data-00000-of-00001.arrow';
    const out = join(split, file);
    const rows = await copyArrow(db, table, { out, format: 'stream' });
    writeJson(join(split, 'dataset_info.json'), {
      citation: '',
      description: `Table "${table}" of a run of Perwatt`,
      homepage: '',
      license: '',
    });
    writeJson(join(split, 'state.json'), {
      _data_files: [{ filename: file }],
      _fingerprint: (await digestOf(out)).slice(0, 16),
      _format_columns: null,
      _format_kwargs: {},
      _format_type: null,
      _output_all_columns: false,
      _split: table,
    });
    return { table, path: out, rows, bytes: statSync(out).size };
  },
};

type Db = RunTables['db'];

async function countedBySql(db: Db, table: ViewName, path: string): Promise<ExportedFile> {
  const [row] = (await db.connection.runAndReadAll(`SELECT count(*) FROM ${table}`)).getRows();
  return { table, path, rows: Number(row?.[0] ?? 0), bytes: statSync(path).size };
}

interface CopyOptions {
  readonly out: string;
  readonly options: string;
}

const copy = (db: Db, select: string, { out, options }: CopyOptions): Promise<void> =>
  replaceFile(out, (path) => db.connection.run(`COPY (${select}) TO ${quoted(path)} (${options})`));

interface ArrowTarget {
  readonly out: string;
  readonly format: 'file' | 'stream';
}

async function copyArrow(db: Db, table: ViewName, { out, format }: ArrowTarget): Promise<number> {
  let written = 0;
  await replaceFile(out, async (path) => {
    const result = await db.connection.stream(`SELECT * FROM ${table}`);
    const columns = result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) }));
    written = await writeArrow({ path, format, columns, rows: result.yieldRows() });
  });
  return written;
}

/** The columns of a view, texts that look like formulas quoted. */
async function harmlessColumns(db: Db, table: ViewName): Promise<string> {
  const rows = (await db.connection.runAndReadAll(`DESCRIBE ${table}`)).getRows();
  return rows
    .map(([name, type]) =>
      type === 'VARCHAR'
        ? `CASE WHEN regexp_matches("${name}", '^[=+\\-@\\t\\r]') THEN '''' || "${name}" ELSE "${name}" END AS "${name}"`
        : `"${name}"`,
    )
    .join(', ');
}

/** `datasets` caches what it computes by this: other rows must have another. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

function writeJson(path: string, value: unknown): void {
  try {
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
  } catch (error) {
    throw fileError(error, path);
  }
}
