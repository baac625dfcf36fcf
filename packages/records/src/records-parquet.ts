import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeParquet } from './compact-table.js';
import { openDatabase, quoted } from './sql-engine.js';

/** A value of a record. */
export type RecordValue = string | number | boolean | null;

const AT_ONCE = 200;

/**
 * Writes records as one Parquet file, a column a key in the order of their first appearance: numbers as doubles, texts,
 * booleans; what a record lacks is null. The same records give the same bytes. Throws `SQL_ENGINE_MISSING`.
 */
export async function writeRecordsParquet(
  out: string,
  records: readonly Readonly<Record<string, RecordValue>>[],
): Promise<void> {
  const columns = columnsOf(records);
  const scratch = mkdtempSync(join(tmpdir(), 'perwatt-parquet-'));
  const db = await openDatabase(join(scratch, 'spill'));
  try {
    const definitions = [...columns].map(([name, type]) => `${identifier(name)} ${type}`);
    await db.connection.run(`CREATE TABLE records (${definitions.join(', ')})`);
    for (let at = 0; at < records.length; at += AT_ONCE) {
      const rows = records.slice(at, at + AT_ONCE).map((record) => rowOf(record, columns));
      await db.connection.run(`INSERT INTO records VALUES ${rows.join(', ')}`);
    }
    await writeParquet(db, { select: 'SELECT * FROM records', out, about: {} });
  } finally {
    db.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

type ColumnType = 'VARCHAR' | 'DOUBLE' | 'BOOLEAN';

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Type by column; text where the values are of several kinds, or all missing. */
function columnsOf(
  records: readonly Readonly<Record<string, RecordValue>>[],
): ReadonlyMap<string, ColumnType> {
  const kinds = new Map<string, Set<string>>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const known = kinds.get(name) ?? new Set();
      kinds.set(name, known);
      if (value !== null) known.add(typeof value);
    }
  }
  const types = [...kinds].map(([name, found]): [string, ColumnType] => {
    const [only, ...more] = found;
    if (more.length > 0) return [name, 'VARCHAR'];
    return [name, only === 'number' ? 'DOUBLE' : only === 'boolean' ? 'BOOLEAN' : 'VARCHAR'];
  });
  return new Map(types.length === 0 ? [['run_id', 'VARCHAR']] : types);
}

const rowOf = (
  record: Readonly<Record<string, RecordValue>>,
  columns: ReadonlyMap<string, ColumnType>,
): string =>
  `(${[...columns].map(([name, type]) => `CAST(${literal(record[name] ?? null)} AS ${type})`).join(', ')})`;

/** Numbers go in as texts: as literals they would be decimals, which a cast may round another way. */
const literal = (value: RecordValue): string => (value === null ? 'NULL' : quoted(String(value)));
