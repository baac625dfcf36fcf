import { type Column, type ColumnType, type TableName, tables } from '@perwatt/core';

interface Check {
  readonly expects: string;
  ok(value: unknown): boolean;
}

const whole = (most: number): Check => ({
  expects: `a whole number from 0 to ${most}`,
  ok: (v) => typeof v === 'number' && Number.isInteger(v) && v >= 0 && v <= most,
});

const big = (bits: number, least: bigint, most: bigint): Check => ({
  expects: `a bigint of ${bits} bits`,
  ok: (v) => typeof v === 'bigint' && v >= least && v <= most,
});

const text: Check = { expects: 'a string', ok: (v) => typeof v === 'string' };

const checks: Readonly<Record<ColumnType, Check>> = {
  name: text,
  text,
  bool: { expects: 'true or false', ok: (v) => typeof v === 'boolean' },
  uint8: whole(2 ** 8 - 1),
  uint16: whole(2 ** 16 - 1),
  uint32: whole(2 ** 32 - 1),
  uint64: big(64, 0n, 2n ** 64n - 1n),
  int64: big(64, -(2n ** 63n), 2n ** 63n - 1n),
  float64: { expects: 'a finite number', ok: (v) => Number.isFinite(v) },
  list_float64: {
    expects: 'a list of finite numbers',
    ok: (v) => Array.isArray(v) && v.every((each) => Number.isFinite(each)),
  },
};

/** Throws a `TypeError` naming table, row, column and value at the first row that doesn't have the table's columns. */
export function checkRows(table: TableName, rows: readonly object[]): void {
  const columns = Object.entries<Column>(tables[table]);
  for (let i = 0; i < rows.length; i++) {
    const problem = rowProblem(columns, rows[i] ?? {});
    if (problem !== null) throw new TypeError(`row ${i} for table ${table}: ${problem}`);
  }
}

function rowProblem(columns: readonly (readonly [string, Column])[], row: object): string | null {
  const cells = row as Readonly<Record<string, unknown>>;
  for (const [name, column] of columns) {
    const problem = cellProblem(cells[name], column);
    if (problem !== null) return `column "${name}" ${problem}`;
  }
  const names = Object.keys(cells);
  if (names.length === columns.length) return null;
  const extra = names.find((name) => !columns.some(([column]) => column === name));
  return `column "${extra}" is unknown`;
}

function cellProblem(value: unknown, { type, nullable }: Column): string | null {
  if (value === undefined) return 'is missing';
  if (value === null) return nullable ? null : 'is null, but must have a value';
  const { expects, ok } = checks[type];
  return ok(value) ? null : `must be ${expects}, not ${shown(value)}`;
}

function shown(value: unknown): string {
  const words = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return words.length > 60 ? `${words.slice(0, 60)}…` : words;
}
