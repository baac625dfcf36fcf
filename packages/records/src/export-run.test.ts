import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonClients } from '@perwatt/test-kit';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExportFormat, exportFormats, exportRun } from './export-run.js';
import { parseQueryId } from './query-ids.js';
import type { RunFolder } from './run-folder.js';
import { smallRun } from './small-run.fixture.js';

let root = '';
let run: RunFolder;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-export-'));
  run = smallRun(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

let exports = 0;
const exported = async (format: ExportFormat, tables?: readonly ('queries' | 'texts' | 'cells')[]) => {
  exports += 1;
  const out = join(root, `out-${exports}`);
  return {
    out,
    ...(await exportRun(run.path, { format, out, ...(tables === undefined ? {} : { tables }) })),
  };
};

describe('an export', () => {
  test.each([...exportFormats])(
    'as %s has every table with its rows, and the same bytes again',
    async (format) => {
      const [first, second] = [await exported(format), await exported(format)];
      expect(first.torn).toEqual([]);
      expect(first.files.map(({ table, rows }) => [table, rows])).toEqual([
        ['queries', 80],
        ['calls', 80],
        ['texts', 80],
        ['grades', 0],
        ['replayed', 0],
        ['samples', 30],
        ['channels', 0],
        ['cells', 2],
      ]);
      for (const [i, { path, bytes }] of first.files.entries()) {
        expect(readFileSync(path).length).toBe(bytes);
        expect(readFileSync(second.files[i]!.path).equals(readFileSync(path))).toBe(true);
      }
      expect(readdirSync(first.out).some((file) => file.endsWith('.tmp'))).toBe(false);
    },
  );

  test('holds the tables asked for, and replaces those of before', async () => {
    const { out, files } = await exported('csv', ['cells']);
    expect(readdirSync(out)).toEqual(['cells.csv']);
    await exportRun(run.path, { format: 'csv', out, tables: ['cells'] });
    expect(readdirSync(out)).toEqual(['cells.csv']);
    expect(files).toHaveLength(1);
  });

  test('as CSV gives a spreadsheet no formula, and numbers as they are', async () => {
    const { out } = await exported('csv', ['texts', 'queries']);
    const texts = readFileSync(join(out, 'texts.csv'), 'utf8');
    expect(texts).toContain(",'=0+1,");
    expect(texts).not.toMatch(/,=\d/);
    expect(texts).toContain('"text, ""1""\nß"');
    expect(readFileSync(join(out, 'queries.csv'), 'utf8')).toContain(',-1.5,');
  });

  test('as JSON is one object a line with the columns of the table', async () => {
    const { out } = await exported('json', ['queries']);
    const rows = readFileSync(join(out, 'queries.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const own = run.readQueries('c-a').rows[1]!;
    expect(rows[1]).toEqual({
      ...own,
      ...Object.fromEntries(
        Object.entries(own).flatMap(([k, v]) => (typeof v === 'bigint' ? [[k, Number(v)]] : [])),
      ),
    });
    expect(parseQueryId(rows[79].query_id)).toEqual({ cell_id: 'c-b', item_id: 'item 39', repeat: 0 });
  });

  test('as Arrow has plain columns that any reader takes', async () => {
    const { out } = await exported('arrow', ['queries']);
    const table = tableFromIPC(readFileSync(join(out, 'queries.arrow')));
    expect(table.numRows).toBe(80);
    expect(String(table.schema.fields.find((f) => f.name === 'model')?.type)).toBe('Utf8');
    expect(table.get(41)?.toJSON()).toMatchObject({
      item_id: 'item 1',
      model: 'model b',
      start_ns: 100n,
      energy_net_j: -1.5,
    });
  });
});

/** Opens every export and the segments themselves, and prints what it counts. */
const script = `
import glob, json, os, sys
os.environ['HF_HUB_OFFLINE'] = '1'
import duckdb, pyarrow as pa, pyarrow.feather as feather, pyarrow.parquet as pq
import datasets
folder, run = sys.argv[1:3]
found = {}
table = pa.ipc.open_stream(open(glob.glob(run + '/cells/c-a/queries-*.arrows')[0], 'rb')).read_all()
found['segment'] = [table.num_rows, table['item_id'][1].as_py(), table['model'].to_pylist()[0]]
calls = pa.ipc.open_stream(open(run + '/cells/c-a/calls-0.arrows', 'rb')).read_all()
found['sql over a segment'] = duckdb.sql('select count(*), count(distinct query_id) from calls').fetchall()[0]
found['compacted'] = duckdb.sql(f"select count(*), sum(score) from '{run}/cells/*/queries.parquet'").fetchall()[0]
found['compacted by pyarrow'] = pq.read_table(run + '/cells/c-a/texts.parquet').num_rows
found['arrow'] = feather.read_table(folder + '/arrow/queries.arrow').num_rows
found['parquet'] = pq.read_table(folder + '/parquet/queries.parquet').num_rows
found['csv'] = duckdb.sql(f"select count(*) from read_csv('{folder}/csv/texts.csv', all_varchar = true)").fetchall()[0]
found['json'] = duckdb.sql(f"select count(*), min(start_ns) from read_json('{folder}/json/queries.jsonl')").fetchall()[0]
loaded = datasets.load_from_disk(folder + '/huggingface')
found['huggingface'] = {name: loaded[name].num_rows for name in loaded}
found['huggingface row'] = [loaded['queries'][41]['query_id'], loaded['texts'][0]['text'], loaded['calls'].features['icl_ns'].__class__.__name__]
found['huggingface table'] = datasets.load_from_disk(folder + '/huggingface/queries').num_rows
print(json.dumps(found))
`;

test("the files open in pyarrow, DuckDB's own client and datasets", { timeout: 900_000 }, async ({
  skip,
}) => {
  const clients = pythonClients();
  if ('missing' in clients) return skip(clients.missing);
  const folder = join(root, 'all');
  for (const format of exportFormats) await exportRun(run.path, { format, out: join(folder, format) });
  const out = execFileSync(clients.python, ['-c', script, folder, run.path], { encoding: 'utf8' });
  expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toEqual({
    segment: [40, 'item 1', 'model a'],
    'sql over a segment': [40, 40],
    compacted: [80, 80],
    'compacted by pyarrow': 40,
    arrow: 80,
    parquet: 80,
    csv: [80],
    json: [80, 100],
    huggingface: {
      queries: 80,
      calls: 80,
      texts: 80,
      grades: 0,
      replayed: 0,
      samples: 30,
      channels: 0,
      cells: 2,
    },
    'huggingface row': ['c-b/item%201/0', '=0+1', 'List'],
    'huggingface table': 80,
  });
});
