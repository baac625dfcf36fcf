import { messageOf, PerwattError } from '@perwatt/core';
import { openTables, type RunTables, type TablesOptions } from './run-tables.js';
import { quoted } from './sql-engine.js';

const SELECT = 1;

/** The answer to a query. */
export interface QueryAnswer {
  /** Names of the columns, and their SQL types. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Rows as they come, some at a time; each value is one for `sqlText` or `sqlJson`. Can be read once. */
  readonly rows: AsyncIterable<readonly (readonly unknown[])[]>;
}

/** A run that answers SQL. It can only be read: a statement that isn't a query is refused. */
export interface QueryableRun extends Pick<RunTables, 'torn' | 'close'> {
  /** Throws `SQL_INVALID` with the engine's own words. */
  ask(sql: string, signal?: AbortSignal): Promise<QueryAnswer>;
}

/** Opens the run at `path` for queries. Nothing but its own tables can be reached from them. */
export async function openQueries(path: string, options: TablesOptions = {}): Promise<QueryableRun> {
  const { db, path: folder, torn, scratch, close } = await openTables(path, options);
  const { connection } = db;
  for (const setting of [
    `allowed_directories = [${quoted(folder)}, ${quoted(scratch)}]`,
    'enable_external_access = false',
    'lock_configuration = true',
  ])
    await connection.run(`SET ${setting}`);
  return {
    torn,
    close,
    async ask(sql, signal) {
      const statement = await prepared(connection, sql);
      const stop = () => connection.interrupt();
      signal?.addEventListener('abort', stop, { once: true });
      const told = (error: unknown): unknown => (signal?.aborted ? signal.reason : invalid(error));
      try {
        const result = await statement.stream();
        const columns = result.columnNames().map((name, i) => ({ name, type: String(result.columnType(i)) }));
        return { columns, rows: rowsOf(result, told) };
      } catch (error) {
        throw told(error);
      }
    },
  };
}

type Connection = RunTables['db']['connection'];

async function prepared(connection: Connection, sql: string) {
  const statements = await connection.extractStatements(sql).catch((error: unknown) => {
    throw invalid(error);
  });
  if (statements.count !== 1)
    throw new PerwattError('SQL_INVALID', `${statements.count} statements found where one is wanted`);
  if (await isNoQuery(connection, sql)) throw changesSomething();
  const statement = await statements.prepare(0).catch((error: unknown) => {
    throw invalid(error);
  });
  if (Number(statement.statementType) !== SELECT) throw changesSomething();
  return statement;
}

const changesSomething = (): PerwattError =>
  new PerwattError('SQL_INVALID', 'the statement changes something; a run can only be read', {
    hint: 'Write a query that starts with SELECT, FROM, WITH, DESCRIBE or SUMMARIZE.',
  });

/** Whether the engine's parser takes the text for other than a query: some statements leave traces as soon as they are prepared. */
async function isNoQuery(connection: Connection, sql: string): Promise<boolean> {
  const told = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  return /^\{"error":true,"error_type":"not implemented"/.test(String(told.getRows()[0]?.[0]));
}

async function* rowsOf(
  result: { yieldRows(): AsyncIterable<readonly (readonly unknown[])[]> },
  told: (error: unknown) => unknown,
): AsyncGenerator<readonly (readonly unknown[])[]> {
  try {
    yield* result.yieldRows();
  } catch (error) {
    throw told(error);
  }
}

/** The engine's message on one line, without its drawing of the place. */
function invalid(error: unknown): PerwattError {
  if (messageOf(error) === 'Error in native callback')
    return new PerwattError('SQL_INVALID', '0 statements found where one is wanted', { cause: error });
  const lines = messageOf(error)
    .replace(/^Failed to extract statements: /, '')
    .split('\n');
  const words = lines.filter((line) => line.trim() !== '' && !/^\s*\^|^LINE \d+: /.test(line));
  const place = lines.find((line) => /^LINE \d+: /.test(line));
  const where = place === undefined ? '' : `; at ${place.replace(/^LINE \d+: /, '').trim()}`;
  return new PerwattError('SQL_INVALID', `${words.map((w) => w.trim()).join(' ')}${where}`, { cause: error });
}
