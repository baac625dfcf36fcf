import { fc, test as property } from '@fast-check/vitest';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { loadText, rowsOf } from './trace-files.fixture.js';
import type { TraceTable } from './trace-table.js';
import { lossOf, type TraceOutput, traceBytes, writable } from './write-trace.js';

const bytesOf = (table: TraceTable, output: TraceOutput) =>
  Buffer.concat([...traceBytes(writable(table), output)]);

const mooncakeLine = (at: number, ids: readonly number[]) =>
  `${JSON.stringify({ timestamp: at, input_length: ids.length * 512, output_length: 5, hash_ids: ids })}\n`;

const burst3 =
  'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type,Session ID\n' +
  '1.000000001,"GPT,4",10,1,11,API log,\n2,ChatGPT,0,0,0,Conversation log,s1\n3,ChatGPT,12,3,15,Conversation log,s1\n';

const chat = JSON.stringify([
  {
    id: 'a',
    conversations: [
      { from: 'human', value: 'h\u2028i\n"' },
      { from: 'gpt', value: 'yes' },
      { from: 'human', value: '?' },
    ],
  },
]);

describe('what is written is read again', () => {
  // biome-ignore format: a table is read in columns
  const sources = [
    ['m.jsonl', mooncakeLine(0, [1, 2]) + mooncakeLine(3000, [1, 3]) + mooncakeLine(3000, [])],
    ['b.csv', burst3],
    ['a.csv', 'TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-16 00:00:01,1,5,6\n2024-10-16 00:00:00,2,900,10\n'],
    ['s.json', chat],
  ] as const;
  const cases = sources.flatMap(([name, content]) =>
    (['arrow', 'jsonl', 'csv'] as const).map((output) => ({ name, content, output })),
  );

  test.each(cases)('$name as $output', async ({ name, content, output }) => {
    const table = await loadText(name, content);
    const again = await loadText(`again.${output}`, bytesOf(table, output));
    expect(rowsOf(again)).toEqual(rowsOf(table));
    expect(again.meta).toMatchObject({
      format: `perwatt-${output}`,
      span_ns: table.meta.span_ns,
      block_tokens: table.meta.block_tokens,
      unsorted_rows: 0,
    });
    const kept = output !== 'csv';
    for (let i = 0; i < table.length; i++) expect(again.prompt(i)).toEqual(kept ? table.prompt(i) : null);
  });

  test('mooncake and burstgpt are again files of these formats', async () => {
    const moon = await loadText('m.jsonl', mooncakeLine(1, [1, 2]) + mooncakeLine(7, [1, 3]));
    expect(bytesOf(moon, 'mooncake').toString()).toBe(
      '{"timestamp":0,"input_length":1024,"output_length":5,"hash_ids":[1,2]}\n{"timestamp":6,"input_length":1024,"output_length":5,"hash_ids":[1,3]}\n',
    );
    const burst = await loadText('b.csv', burst3);
    const again = await loadText('c.csv', bytesOf(burst, 'burstgpt'));
    expect(again.meta.format).toBe('burstgpt');
    expect(rowsOf(again)).toEqual(rowsOf(burst));
    expect(bytesOf(burst, 'burstgpt').toString().split('\n')[2]).toBe(
      '0.999999999,ChatGPT,0,0,0,Conversation log,s1',
    );
  });

  property.prop(
    [
      fc.array(
        fc.record({
          at: fc.bigInt({ min: 0n, max: 2n ** 61n }),
          input: fc.nat(2 ** 31 - 1),
          output: fc.nat(2 ** 31 - 1),
          ids: fc.array(fc.integer({ min: 0, max: 2 ** 52 - 1 }), { maxLength: 4 }),
        }),
        { minLength: 1, maxLength: 30 },
      ),
      fc.constantFrom('arrow' as const, 'jsonl' as const, 'csv' as const),
    ],
    { numRuns: 25 },
  )('times to the ns, lengths and ids come back whole', async (rows, output) => {
    const jsonl = rows
      .map(
        ({ at, input, output, ids }, row) =>
          `{"row":${row},"at_ns":${at},"input_tokens":${input},"output_tokens":${output},"block_tokens":16,"hash_ids":[${ids}]}`,
      )
      .join('\n');
    const table = await loadText('t.jsonl', jsonl);
    const sorted = rows.map((r) => r.at).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const first = sorted[0]!;
    expect(rowsOf(table).map((r) => r.at_ns)).toEqual(sorted.map((at) => at - first));
    expect(rowsOf(await loadText(`t.${output}`, bytesOf(table, output))).map(lean)).toEqual(
      rowsOf(table).map(lean),
    );
  });
  /** CSV has one word for no ids and for none at all. */
  const lean = ({ hash_ids = [], block_tokens: _, ...row }: ReturnType<TraceTable['row']>) => ({
    ...row,
    hash_ids,
  });
});

test('an Arrow stream is one for other readers too, its origin in its metadata', async () => {
  const table = await loadText('m.jsonl', mooncakeLine(0, [1, 2]) + mooncakeLine(3000, [1]));
  const arrow = tableFromIPC(bytesOf(table, 'arrow'));
  expect(arrow.schema.fields.map((f) => `${f.name}: ${f.type}`)).toEqual([
    'row: Uint32',
    'at_ns: Int64',
    'input_tokens: Uint32',
    'output_tokens: Uint32',
    'hash_ids: List<Int64>',
  ]);
  expect([...(arrow.getChild('at_ns') ?? [])]).toEqual([0n, 3_000_000_000n]);
  expect(JSON.parse(arrow.schema.metadata.get('perwatt_trace') ?? '')).toMatchObject({
    version: 1,
    block_tokens: 512,
    origin: { format: 'mooncake', path: 'm.jsonl', rows: 2, span_ns: '3000000000' },
  });
});

describe('what a form cannot hold', () => {
  test('is refused where the form would say something else', async () => {
    const blocks = await loadText(
      'q.jsonl',
      '{"row":0,"at_ns":0,"input_tokens":16,"output_tokens":1,"block_tokens":16,"hash_ids":[1]}',
    );
    expect(() => bytesOf(blocks, 'mooncake')).toThrow('it has blocks of 16 tokens, and mooncake means 512');
    const timeless = await loadText('s.json', chat);
    expect(() => bytesOf(timeless, 'burstgpt')).toThrow('it has no time');
    const uncounted = await loadText('q.jsonl', '{"row":0,"at_ns":0,"input_tokens":null,"output_tokens":1}');
    expect(() => bytesOf(uncounted, 'mooncake')).toThrow('row 0 has no token count');
    const named = await loadText(
      'q.jsonl',
      '{"row":0,"at_ns":0,"input_tokens":1,"output_tokens":1,"kind":"a\\nb"}',
    );
    expect(() => bytesOf(named, 'csv')).toThrow('has a line end');
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['arrow', []],
    ['jsonl', []],
    ['csv', ['text']],
    ['burstgpt', ['turn', 'parent_row', 'text']],
  ] as const)('is named when it is left out of %s', async (output, left) => {
    const table = await loadText('w.jsonl', '{"conversation_hash":"h","timestamp":"2023-04-09T00:02:53Z","conversation":[{"role":"user","content":"q"},{"role":"assistant","content":"q"},{"role":"user","content":"q"}]}');
    expect([...lossOf(writable(table), output).left_out].sort()).toEqual([...left].sort());
  });

  test('a stream of another version, or of something else, is not read', async () => {
    const table = await loadText('m.jsonl', mooncakeLine(0, [1]));
    const bytes = bytesOf(table, 'arrow');
    const newer = Buffer.from(bytes.toString('latin1').replace('"version":1', '"version":2'), 'latin1');
    await expect(loadText('t.arrow', newer)).rejects.toThrow('another version');
    const other = Buffer.from(bytes.toString('latin1').replace('perwatt_trace', 'perwatt_treat'), 'latin1');
    await expect(loadText('t.arrow', other)).rejects.toThrow('no trace of ours');
    await expect(loadText('t.arrow', bytes.subarray(0, bytes.length - 40))).rejects.toThrow(/Arrow stream/);
  });
});
