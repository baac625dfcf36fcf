import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type CompactedTable, compactTable, type ParquetFacts, type SegmentSource } from './compact-table.js';
import type { CellFile, PowerFile } from './manifest.js';
import { openRun, type RunFolder } from './run-folder.js';
import { cellSegments, cellTables, powerSegment, powerTables } from './run-segments.js';
import { type Database, openDatabase } from './sql-engine.js';

/** What was done to one cell, or to the power files of a run. */
export interface Compacted {
  /** Null for the power files. */
  readonly cell_id: string | null;
  readonly tables: readonly CompactedTable[];
}

/** Whether nothing more is written to a cell: its Parquet files can be made for good. */
export const isClosed = ({ status }: CellFile): boolean => status === 'done' || status === 'failed';

/**
 * Copies the segments of a closed cell into `queries.parquet`, `calls.parquet` and `texts.parquet` beside them. Segments are
 * only read. It takes a core for a moment: call it when nothing is measured. Throws `RUN_INVALID` for a cell that is none.
 */
export async function compactCell(runPath: string, cellId: string): Promise<Compacted> {
  const run = openRun(runPath);
  const cell = run.readCell(cellId);
  return withDatabase(async (db) => ({ cell_id: cellId, tables: await compactTables(db, run, cell) }));
}

/** Compacts every closed cell of a run, and every power file whose recorder has ended. */
export async function compactRun(runPath: string): Promise<Compacted[]> {
  const run = openRun(runPath);
  const done = await withDatabase(async (db) => {
    const cells: Compacted[] = [];
    for (const cell of run.cells().filter(isClosed)) {
      cells.push({ cell_id: cell.cell_id, tables: await compactTables(db, run, cell) });
    }
    return cells;
  });
  const tables = await withDatabase(async (db) => {
    const made: CompactedTable[] = [];
    for (const file of run.manifest.power.filter(({ segment }) => segment !== null)) {
      made.push(...(await compactPower(db, run, { file, folder: run.powerFolder })));
    }
    return made;
  }, POWER_MEMORY);
  return [...done, { cell_id: null, tables }];
}

/** What copying samples may take beside what is read: those of a long run wait on the disk. Texts may need more. */
const POWER_MEMORY = '96MB';

async function withDatabase<R>(work: (db: Database) => Promise<R>, memory: string | null = null): Promise<R> {
  const scratch = mkdtempSync(join(tmpdir(), 'perwatt-sql-'));
  const db = await openDatabase(scratch, 1, memory);
  try {
    return await work(db);
  } finally {
    db.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

export interface CompactTarget {
  /** Where the Parquet files go. */
  readonly folder: string;
  readonly known?: ReadonlyMap<string, ParquetFacts> | undefined;
}

/** The Parquet files of a cell; a table without segments has none. They stand beside the segments unless told otherwise. */
export async function compactTables(
  db: Database,
  run: RunFolder,
  cell: CellFile & { readonly target?: CompactTarget },
): Promise<CompactedTable[]> {
  const { folder, known } = cell.target ?? { folder: run.cellFolder(cell.cell_id) };
  const made: CompactedTable[] = [];
  for (const table of cellTables) {
    const sources = cellSegments(run, cell, table);
    if (sources.length === 0) continue;
    made.push(await compactTable(db, { table, sources, out: join(folder, `${table}.parquet`), known }));
  }
  return made;
}

interface PowerTarget {
  readonly file: PowerFile;
  readonly folder: string;
}

/** The Parquet files of one power file: its samples, and the readings beside them where there are any. */
export async function compactPower(
  db: Database,
  run: Pick<RunFolder, 'powerFolder'>,
  { file, folder }: PowerTarget,
): Promise<CompactedTable[]> {
  const made: CompactedTable[] = [];
  for (const table of powerTables) {
    const source: SegmentSource | null = powerSegment(run, file, table);
    if (source === null) continue;
    const out = join(folder, basename(source.path).replace(/\.arrows$/, '.parquet'));
    made.push(await compactTable(db, { table, sources: [source], out }));
  }
  return made;
}
