import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Column, PerwattError, type TableName, tables } from '@perwatt/core';
import { cellsStatements } from './cells-view.js';
import { compactPower, compactTables, isClosed } from './compact-run.js';
import { type CompactedTable, compactTable, parquetFacts } from './compact-table.js';
import { hasKernels, kernelSegments } from './kernel-sessions.js';
import type { CellFile, PowerFile } from './manifest.js';
import { publishedManifest } from './published-run.js';
import type { TornSegment } from './read-tables.js';
import { readableCells } from './run-cells.js';
import { openRun, type RunFolder } from './run-folder.js';
import { cellTables, powerTables } from './run-segments.js';
import { type Database, openDatabase, quoted } from './sql-engine.js';
import { sqlType } from './staged-table.js';
import { openTrainingRun, trainingSegments, trainingTables } from './training-run.js';

const measuredViews = [...cellTables, ...powerTables, 'cells'] as const;

/** The views of runs: tables and one row a cell of a measured one, its kernels, the figures of an imported one, or the rows of a training. */
export const viewNames = [...measuredViews, 'kernels', 'published', ...trainingTables] as const;
/** One of `viewNames`. */
export type ViewName = (typeof viewNames)[number];

/** A run's tables as views of a database in memory. */
export interface RunTables {
  readonly db: Database;
  /** Folder of the run. */
  readonly path: string;
  /** Those of `viewNames` that it has. */
  readonly views: readonly ViewName[];
  /** What could not be read, with its folder; the views hold the rest. */
  readonly torn: readonly TornSegment[];
  /** A folder for files that are gone when the tables are closed. */
  readonly scratch: string;
  close(): void;
}

export interface TablesOptions {
  /** Threads of the engine, 1 unless told: sums of doubles come out the same only then. */
  readonly threads?: number;
}

/**
 * Opens the tables of the run at `path` as views. Parquet files that are missing or out of date are made first: for closed
 * cells beside the segments, for what is still written, or where the folder can't be written, in a scratch folder. An
 * imported run has one view of the figures that others published, a folder of kernel sessions one of its kernels, a training
 * its steps, evaluations and samples.
 */
export function openTables(path: string, options: TablesOptions = {}): Promise<RunTables> {
  if (hasKernels(path) && !existsSync(join(path, 'run.json')))
    return openWith(options, (db, scratch) => kernelViews(db, path, scratch));
  const run = measuredRun(path);
  if (run === 'RUN_TRAINING') return openWith(options, (db, scratch) => trainingViews(db, path, scratch));
  return run === 'RUN_PUBLISHED'
    ? openWith(options, (db, scratch) => publishedViews(db, path, scratch))
    : openWith(options, (db, scratch) => measuredViewsOf(db, run, scratch));
}

/** The run at `path`; of another kind the code by which it was refused. */
function measuredRun(path: string): RunFolder | 'RUN_PUBLISHED' | 'RUN_TRAINING' {
  try {
    return openRun(path);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    if (error.code === 'RUN_PUBLISHED' || error.code === 'RUN_TRAINING') return error.code;
    throw error;
  }
}

type Views = Pick<RunTables, 'path' | 'views' | 'torn'>;

async function openWith(
  { threads = 1 }: TablesOptions,
  makeViews: (db: Database, scratch: string) => Promise<Views>,
): Promise<RunTables> {
  const scratch = mkdtempSync(join(tmpdir(), 'perwatt-sql-'));
  let db: Database | null = null;
  const close = () => {
    db?.close();
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    db = await openDatabase(join(scratch, 'spill'), threads);
    const views = await makeViews(db, scratch);
    await db.connection.run('CREATE MACRO exact_sum(x) AS sum(CAST(x AS DECIMAL(38, 12)))');
    return { db, scratch, ...views, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function measuredViewsOf(db: Database, run: RunFolder, scratch: string): Promise<Views> {
  const { cells, broken } = readableCells(run);
  const parts = await compactAll(db, run, { cells, scratch });
  for (const statement of cellsStatements(cells, run.manifest.power)) await db.connection.run(statement);
  for (const table of [...cellTables, ...powerTables]) await makeView(db, table, parts);
  const lost = broken.map(({ cell_id, reason }) => ({ file: `cells/${cell_id}`, reason, rows: 0 }));
  const torn = [...lost, ...parts.flatMap(tornOf)];
  if (!hasKernels(run.path)) return { path: run.path, views: measuredViews, torn };
  const kernels = await kernelViews(db, run.path, scratch);
  return { path: run.path, views: [...measuredViews, ...kernels.views], torn: [...torn, ...kernels.torn] };
}

/** Kernels are few: their Parquet file is made anew each time, and not kept. */
async function kernelViews(db: Database, path: string, scratch: string): Promise<Views> {
  const sources = kernelSegments(path);
  const table = await compactTable(db, { table: 'kernels', sources, out: join(scratch, 'kernels.parquet') });
  const part = { ...table, place: 'kernels' };
  await makeView(db, 'kernels', [part]);
  return { path, views: ['kernels'], torn: tornOf(part) };
}

/** Figures of others are few: their Parquet file is made anew each time, and not kept. */
async function publishedViews(db: Database, path: string, scratch: string): Promise<Views> {
  const { segment } = publishedManifest(path);
  const sources = [{ path: join(path, segment.file), entry: segment }];
  const table = await compactTable(db, {
    table: 'published',
    sources,
    out: join(scratch, 'published.parquet'),
  });
  await makeView(db, 'published', [{ ...table, place: '.' }]);
  return { path, views: ['published'], torn: table.torn };
}

/** Rows of a training are few: their Parquet files, and those of its samples, are made anew each time, and not kept. */
async function trainingViews(db: Database, path: string, scratch: string): Promise<Views> {
  const run = openTrainingRun(path);
  const parts: Part[] = [];
  for (const table of trainingTables) {
    const sources = trainingSegments(run, table);
    const made = await compactTable(db, { table, sources, out: join(scratch, `${table}.parquet`) });
    parts.push({ ...made, place: '.' });
  }
  for (const [i, file] of run.manifest.power.entries()) {
    const folder = join(scratch, `p${i}`);
    mkdirSync(folder, { recursive: true });
    const made = await compactPower(db, run, { file, folder });
    parts.push(...made.map((table) => ({ ...table, place: 'power' })));
  }
  const views = [...trainingTables, ...powerTables];
  for (const table of views) await makeView(db, table, parts);
  return { path, views, torn: parts.flatMap(tornOf) };
}

/** A Parquet file, and where its segments stand within the run. */
interface Part extends CompactedTable {
  readonly place: string;
}

const tornOf = ({ place, torn }: Part): TornSegment[] =>
  torn.map((segment) => ({ ...segment, file: `${place}/${segment.file}` }));

interface Sources {
  readonly cells: readonly CellFile[];
  readonly scratch: string;
}

async function compactAll(db: Database, run: RunFolder, { cells, scratch }: Sources): Promise<Part[]> {
  const inPlace = cells.flatMap(({ cell_id }) =>
    cellTables.map((table) => join(run.cellFolder(cell_id), `${table}.parquet`)),
  );
  const known = await parquetFacts(db, inPlace);
  const writable = writableUntilRefused();
  const parts: Part[] = [];
  for (const [i, cell] of cells.entries()) {
    const place = `cells/${cell.cell_id}`;
    const made = await writable(isClosed(cell), scratch, `c${i}`, (folder) => {
      const target = folder === null ? { folder: run.cellFolder(cell.cell_id), known } : { folder };
      return compactTables(db, run, { ...cell, target });
    });
    parts.push(...made.map((table) => ({ ...table, place })));
  }
  for (const [i, file] of run.manifest.power.entries()) {
    parts.push(...(await compactSamples(db, run, { file, scratch, i, writable })));
  }
  return parts;
}

interface SampleSource {
  readonly file: PowerFile;
  readonly scratch: string;
  readonly i: number;
  readonly writable: ReturnType<typeof writableUntilRefused>;
}

async function compactSamples(db: Database, run: RunFolder, source: SampleSource): Promise<Part[]> {
  const { file, scratch, i, writable } = source;
  const made = await writable(file.segment !== null, scratch, `p${i}`, (folder) =>
    compactPower(db, run, { file, folder: folder ?? run.powerFolder }),
  );
  return made.map((table) => ({ ...table, place: 'power' }));
}

/** Has `make` put its files in their place (null) where it may, and in a folder of `scratch` from the first refusal on. */
function writableUntilRefused() {
  let refused = false;
  return async <R>(
    ours: boolean,
    scratch: string,
    name: string,
    make: (folder: string | null) => Promise<R>,
  ): Promise<R> => {
    if (ours && !refused) {
      try {
        return await make(null);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused = true;
      }
    }
    const folder = join(scratch, name);
    mkdirSync(folder, { recursive: true });
    return make(folder);
  };
}

const isRefusal = (error: unknown): boolean =>
  (error instanceof PerwattError && (error.code === 'FILE_UNREADABLE' || error.code === 'DISK_FULL')) ||
  (error instanceof Error && /^IO Error: /.test(error.message));

/** The view of a table over its files, in the order of the cells; empty where there are none. */
async function makeView(db: Database, table: TableName, parts: readonly Part[]): Promise<void> {
  const own = parts.filter((part) => part.table === table);
  await db.connection.run(`CREATE VIEW ${table} AS ${viewOf(table, own)}`);
}

function viewOf(table: TableName, parts: readonly Part[]): string {
  if (parts.length === 0) {
    const empty = Object.entries<Column>(tables[table]).map(
      ([name, { type }]) => `NULL::${sqlType(type)} AS "${name}"`,
    );
    return `SELECT ${[...fileColumn(table, ''), ...empty].join(', ')} WHERE false`;
  }
  if (fileColumn(table, '').length === 0) {
    return `SELECT * FROM read_parquet([${parts.map(({ path }) => quoted(path)).join(', ')}])`;
  }
  return parts
    .map(({ path }) => `SELECT ${fileColumn(table, path).join('')}, * FROM read_parquet(${quoted(path)})`)
    .join(' UNION ALL ');
}

/** Samples of several recorders may have one domain and clocks of their own: the view says which file they are from. */
const fileColumn = (table: TableName, path: string): string[] =>
  table === 'samples' || table === 'channels'
    ? [`${quoted(basename(path).replace(/\.parquet$/, '.arrows'))} AS file`]
    : [];
