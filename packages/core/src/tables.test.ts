import { Table as ArrowTable, RecordBatchReader, tableToIPC, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import type { Column } from './column.js';
import { arrowSchema, SCHEMA_VERSION, type TableName, tables } from './tables.js';

describe.each(Object.keys(tables) as TableName[])('table %s', (name) => {
  const columns = Object.entries<Column>(tables[name]);

  test.each(columns.filter(([, c]) => c.unit !== ''))('column %s ends in its unit', (column, { unit }) => {
    expect(column.endsWith(`_${unit.toLowerCase()}`)).toBe(true);
  });

  test.each(columns)('column %s says what it holds in one sentence', (_, { doc }) => {
    expect(doc).toMatch(/\.$/);
  });

  test('carries its name and version through an Arrow file', () => {
    const schema = arrowSchema(name, { run_id: 'r1' });
    const empty = new ArrowTable(schema, []);
    const read = RecordBatchReader.from(tableToIPC(empty, 'stream')).open();
    expect(Object.fromEntries(read.schema.metadata)).toEqual({
      table: name,
      schema_version: String(SCHEMA_VERSION),
      run_id: 'r1',
    });
    expect(read.schema.fields.map((f) => f.name)).toEqual(columns.map(([column]) => column));
  });
});

test('dictionary indices are wide enough for 65,536 names', () => {
  const type = arrowSchema('queries').fields[0]?.type;
  expect(vectorFromArray(['a'], type).type.toString()).toBe('Dictionary<Uint16, Utf8>');
});
