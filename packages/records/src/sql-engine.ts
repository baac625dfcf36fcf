import type * as Api from '@duckdb/node-api';
import type Bindings from '@duckdb/node-bindings';
import { messageOf, PerwattError } from '@perwatt/core';

/** DuckDB: its interface, and the calls below it that copy typed arrays. */
export interface SqlEngine {
  readonly api: typeof Api;
  readonly bindings: typeof Bindings;
}

let loaded: Promise<SqlEngine> | null = null;

/** Loads DuckDB on first use, so that nothing pays for it that doesn't ask. Throws `SQL_ENGINE_MISSING`. */
export function loadSqlEngine(): Promise<SqlEngine> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<SqlEngine> {
  try {
    const [api, bindings] = await Promise.all([import('@duckdb/node-api'), import('@duckdb/node-bindings')]);
    return { api, bindings: bindings.default };
  } catch (cause) {
    throw new PerwattError('SQL_ENGINE_MISSING', `DuckDB cannot be loaded: ${messageOf(cause)}`, { cause });
  }
}

/** A database in memory with one connection. */
export interface Database {
  readonly engine: SqlEngine;
  readonly connection: Api.DuckDBConnection;
  close(): void;
}

/**
 * Opens an empty database that adds in one order: sums of doubles depend on it, and threads would each have their own.
 * It loads no extension, asks no network, and keeps what doesn't fit into memory in `scratch`: into `memory` (such as `256MB`),
 * by default into most of the machine's.
 */
export async function openDatabase(
  scratch: string,
  threads = 1,
  memory: string | null = null,
): Promise<Database> {
  const engine = await loadSqlEngine();
  const instance = await engine.api.DuckDBInstance.create(':memory:', {
    threads: String(threads),
    ...(memory === null ? {} : { memory_limit: memory }),
    temp_directory: scratch,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  return {
    engine,
    connection,
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** A text as SQL writes it. */
export const quoted = (text: string): string =>
  text
    .split('\0')
    .map((part) => `'${part.replaceAll("'", "''")}'`)
    .join(' || chr(0) || ');
