import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hints } from '@perwatt/core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openQueries, type QueryableRun } from './query-run.js';
import type { RunFolder } from './run-folder.js';
import { smallRun } from './small-run.fixture.js';
import { csvLine, sqlJson, sqlText } from './sql-values.js';

let root = '';
let run: RunFolder;
const opened: QueryableRun[] = [];
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-query-'));
  run = smallRun(root, { queries: 3000 });
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function open(path = run.path, threads = 1): Promise<QueryableRun> {
  const queryable = await openQueries(path, { threads });
  opened.push(queryable);
  return queryable;
}

async function answer(queryable: QueryableRun, sql: string): Promise<string[]> {
  const { columns, rows } = await queryable.ask(sql);
  const lines = [columns.map(({ name }) => name).join(',')];
  for await (const some of rows) for (const row of some) lines.push(row.map(sqlJson).join(','));
  return lines;
}

describe('a run', () => {
  test('answers over its tables and its cells', async () => {
    const queryable = await open();
    expect(queryable.torn).toEqual([]);
    const join = 'SELECT c.verdict, count(*) AS n FROM queries q JOIN cells c USING (cell_id) GROUP BY ALL';
    expect(await answer(queryable, join)).toEqual(['verdict,n', '"flagged",6000']);
    expect(
      await answer(queryable, 'SELECT count(*) AS n, count(DISTINCT query_id) AS ids FROM texts'),
    ).toEqual(['n,ids', '6000,6000']);
    expect(await answer(queryable, 'SELECT file, domain, count(*) FROM samples GROUP BY ALL')).toEqual([
      'file,domain,count_star()',
      '"rapl-0.arrows","rapl:0:package-0",30',
    ]);
    expect(await answer(queryable, 'SELECT count(*) FROM channels')).toEqual(['count_star()', '0']);
    expect(
      await answer(
        queryable,
        "SELECT cell_id, abs(meter_j - queries_j - unattributed_j) < 1e-9 AS same FROM cells WHERE model = 'model b'",
      ),
    ).toEqual(['cell_id,same', '"c-b",true']);
  });

  test('gives the same bytes every time: sums in the order of rows with one thread, exact sums with any', async () => {
    const sum =
      'SELECT model, sum(energy_gross_j), avg(energy_net_j / energy_gross_j), stddev(energy_lo_j) FROM queries GROUP BY model ORDER BY model';
    const exact =
      'SELECT subject, exact_sum(energy_gross_j) AS j, count(*) FROM queries GROUP BY subject ORDER BY subject';
    const [sums, exacts] = [new Set<string>(), new Set<string>()];
    for (const threads of [1, 1, 1, 2, 4]) {
      const queryable = await open(run.path, threads);
      if (threads === 1) sums.add((await answer(queryable, sum)).join('\n'));
      exacts.add((await answer(queryable, exact)).join('\n'));
    }
    expect(sums.size).toBe(1);
    expect(exacts.size).toBe(1);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['SELECT nope FROM queries',                 /Binder Error: Referenced column "nope" not found.*; at SELECT nope FROM queries$/, 'an unknown column'],
    ['SELEC 1',                                  /^Parser Error: syntax error at or near "SELEC"/,                  'no SQL'],
    ['SELECT 1; SELECT 2',                       /^2 statements found/,                                            'two statements'],
    ['-- nothing',                               /^0 statements found/,                                            'a comment'],
    ['',                                         /^0 statements found/,                                            'none'],
    ["SELECT * FROM '/etc/passwd'",              /disabled by configuration|not exist/,                            'files elsewhere'],
    ["COPY (SELECT 1) TO '/tmp/perwatt-x.csv'",  /disabled by configuration|changes something/,                    'writing elsewhere'],
    ['DROP VIEW queries',                        /changes something/,                                              'dropping a view'],
    ['CREATE TABLE x (i INT)',                   /changes something/,                                              'making a table'],
    ["DELETE FROM cells",                        /changes something/,                                              'deleting rows'],
    ['SET threads = 8',                          /changes something/,                                              'another setting'],
    ["ATTACH '/tmp/perwatt-x.db'",               /changes something/,                                              'another database'],
    ['INSTALL httpfs',                           /changes something/,                                              'an extension'],
    ['PRAGMA database_list',                     /changes something/,                                              'a setting, or what looks like one'],
    ["SELECT * FROM glob('/etc/*')",             /disabled by configuration/,                                      'a listing of other folders'],
    ["SELECT * FROM query('DROP VIEW queries')", /Expected a single SELECT/,                                       'a statement within a query'],
    ['SELECT model::INT FROM queries',           /Conversion Error/,                                               'what fails under way'],
  ])('refuses %j', async (sql, message) => {
    const error = await answer(await open(), sql).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'PerwattError', code: 'SQL_INVALID', message: expect.stringMatching(message) });
    expect((error as { hint: string }).hint).not.toBe('');
    expect(Object.keys(hints)).toContain('SQL_INVALID');
  });

  test("can't be changed from SQL even inside its folder", async () => {
    const queryable = await open();
    const target = join(run.path, 'x.parquet');
    for (const sql of [`COPY (SELECT 1) TO '${target}'`, `/* */ EXPORT DATABASE '${target}'`]) {
      await expect(answer(queryable, sql)).rejects.toMatchObject({ code: 'SQL_INVALID' });
      expect(existsSync(target)).toBe(false);
    }
  });

  test('that is still written is read without a trace beside its segments', async () => {
    const live = smallRun(root, { run_id: 'live' });
    live.writeCell({ ...live.readCell('c-b'), status: 'running' });
    expect(await answer(await open(live.path), 'SELECT count(*) FROM queries')).toEqual([
      'count_star()',
      '80',
    ]);
    expect(readdirSync(live.cellFolder('c-a')).filter((f) => f.endsWith('.parquet'))).toHaveLength(3);
    expect(readdirSync(live.cellFolder('c-b')).filter((f) => f.endsWith('.parquet'))).toEqual([]);
  });

  test('with a broken cell says so, and answers for the others', async () => {
    const broken = smallRun(root, { run_id: 'broken' });
    writeFileSync(join(broken.cellFolder('c-a'), 'cell.json'), '{');
    const queryable = await open(broken.path);
    expect(queryable.torn).toMatchObject([
      { file: 'cells/c-a', rows: 0, reason: expect.stringMatching(/is not JSON/) },
    ]);
    expect(await answer(queryable, 'SELECT count(*) FROM queries')).toEqual(['count_star()', '40']);
  });

  test('that cannot be written is read all the same', async ({ skip }) => {
    const shut = smallRun(root, { run_id: 'shut', cells: ['a'] });
    chmodSync(shut.cellFolder('c-a'), 0o555);
    try {
      writeFileSync(join(shut.cellFolder('c-a'), 'x'), '');
      return skip('this user may write where the mode says no');
    } catch {
      expect(await answer(await open(shut.path), 'SELECT count(*) FROM queries')).toEqual([
        'count_star()',
        '40',
      ]);
    } finally {
      chmodSync(shut.cellFolder('c-a'), 0o755);
    }
  });

  test('that is none is named', async () => {
    await expect(openQueries(join(root, 'none'))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});

describe('values', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['NULL',                              'null',                  '""',                  'nothing: the line must not be empty'],
    ["''",                                '""',                    '""',                  'an empty text'],
    ['9007199254740993::BIGINT',          '9007199254740993',      '9007199254740993',    'more than a double holds'],
    ['0.1::DOUBLE',                       '0.1',                   '0.1',                 'a double'],
    ["'nan'::DOUBLE",                     'null',                  'NaN',                 'no number'],
    ['1.50::DECIMAL(5, 2)',               '1.50',                  '1.50',                'a decimal'],
    ['-0.5::DOUBLE',                      '-0.5',                  '-0.5',                'a negative number is no formula'],
    ["'=1+1'",                            '"=1+1"',                "'=1+1",               'a formula'],
    ["'a,\"b\"'",                         '"a,\\"b\\""',           '"a,""b"""',           'what CSV must quote'],
    ['[1.5, 2]::DOUBLE[]',                '[1.5,2]',               '"[1.5,2]"',           'a list'],
    ["{'a': 1, 'b': [true]}",             '{"a":1,"b":[true]}',    '"{""a"":1,""b"":[true]}"', 'a struct'],
    ["MAP {'k': 2}",                      '{"k":2}',               '"{""k"":2}"',         'a map'],
    ["DATE '2026-01-02'",                 '"2026-01-02"',          '2026-01-02',          'a date'],
  ])('%s is %s in JSON and %s in CSV', async (sql, json, csv) => {
    const { rows } = await (await open()).ask(`SELECT ${sql} AS v`);
    for await (const [row] of rows) {
      expect(sqlJson(row?.[0])).toBe(json);
      expect(csvLine(row ?? [])).toBe(csv);
      expect(typeof sqlText(row?.[0])).toBe('string');
    }
  });
});
