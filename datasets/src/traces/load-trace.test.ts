import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { loadTrace } from './load-trace.js';
import { loadText, rowsOf, scratch } from './trace-files.fixture.js';

const azure =
  'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319601,3180,8';
const lmm =
  'TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-16 00:00:00.0000001,2,900,10\n2024-10-16 00:00:01,0,5,6\n';
const azure2024 =
  'TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 02:00:00+02:00,2,6\n';
const burst =
  'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n5,ChatGPT,1087,230,1317,Conversation log\n118.5,GPT-4,417,0,417,API log\n';
const burst3 =
  'Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n5270414.0,a,1.5,ChatGPT,10,20,30,Conversation log\n5270420.0,b,2,ChatGPT,11,21,32,Conversation log\n5270421.25,a,3,ChatGPT,12,22,34,Conversation log\n';
const mooncake =
  '{"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [0, 1]}\n{"timestamp": 3000, "input_length": 513, "output_length": 4, "hash_ids": [0, 7]}\n';
const bailian =
  '{"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 20, "output_length": 132, "type": "text", "turn": 2, "hash_ids": [1089, 1090]}\n{"chat_id": 160, "parent_chat_id": -1, "timestamp": 61.1140001, "input_length": 3, "output_length": 1, "type": "search", "turn": 1, "hash_ids": [1]}\n{"chat_id": 161, "parent_chat_id": 159, "timestamp": 70, "input_length": 33, "output_length": 1, "type": "text", "turn": 3, "hash_ids": [1089, 1090, 5]}\n';

// biome-ignore format: a table is read in columns
const sources = [
  // name, content, format, unit, rows, why
  ['azure.csv', azure, 'azure-llm', 'wall_time', [[0n, 4808, 10], [52_000_100n, 3180, 8]], 'CRLF, 100 ns, no line end at the end'],
  ['lmm.csv', lmm, 'azure-lmm', 'wall_time', [[0n, 900, 10], [999_999_900n, 5, 6]], 'the 2023 columns and one more; no fraction'],
  ['lmm.csv.gz', gzipSync(lmm), 'azure-lmm', 'wall_time', [[0n, 900, 10], [999_999_900n, 5, 6]], 'packed'],
  ['week.csv', azure2024, 'azure-llm', 'wall_time', [[0n, 2, 6], [9_930_000n, 2162, 5]], 'zones, and a row out of order'],
  ['burst.csv', burst, 'burstgpt', 's', [[0n, 472, 18], [0n, 1087, 230], [113_500_000_000n, 417, 0]], 'a tie keeps the order of the file; a failure'],
  ['burst3.csv', burst3, 'burstgpt', 's', [[0n, 10, 20], [6_000_000_000n, 11, 21], [7_250_000_000n, 12, 22]], 'more columns, another order'],
  ['bom.csv', `\ufeff${azure}\n\n`, 'azure-llm', 'wall_time', [[0n, 4808, 10], [52_000_100n, 3180, 8]], 'a byte order mark and blank lines'],
  ['moon.jsonl', mooncake, 'mooncake', 'ms', [[0n, 600, 3], [3_000_000_000n, 513, 4]], 'stamp 3000 is 3 s'],
  ['qwen.jsonl', bailian, 'qwen-bailian', 's', [[0n, 20, 132], [100n, 3, 1], [8_886_000_000n, 33, 1]], 'decimal seconds, exactly'],
  ['crlf.jsonl', mooncake.replaceAll('\n', '\r\n').trimEnd(), 'mooncake', 'ms', [[0n, 600, 3], [3_000_000_000n, 513, 4]], 'CRLF, no line end at the end'],
] as const;

describe('every format is known by its names and read exactly', () => {
  test.each(
    sources.map(([name, content, format, unit, rows, why]) => ({ name, content, format, unit, rows, why })),
  )('$name: $why', async ({ name, content, format, unit, rows }) => {
    const table = await loadText(name, content);
    expect(rowsOf(table).map((r) => [r.at_ns, r.input_tokens, r.output_tokens])).toEqual(rows);
    expect(table.meta).toMatchObject({ format, unit, rows: rows.length, bad_rows: 0 });
    expect(table.meta.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(table.meta.span_ns).toBe(rows.at(-1)?.[0]);
  });

  test('a table answers beyond its end as for what is absent', async () => {
    const table = await loadText('a.csv', azure);
    expect([table.input_tokens(2), table.hash_ids(2), table.parent(2), table.text(2)]).toEqual([
      null,
      [],
      null,
      null,
    ]);
  });

  test('columns of a source that the row has no place for are its kind, model, images and blocks', async () => {
    expect((await loadText('b.csv', burst)).row(2)).toMatchObject({ model: 'GPT-4', kind: 'API log' });
    expect((await loadText('l.csv', lmm)).row(0)).toMatchObject({ images: 2 });
    const table = await loadText('m.jsonl', mooncake);
    expect(table.row(1)).toMatchObject({ hash_ids: [0, 7], block_tokens: 512 });
    expect(table.meta.block_tokens).toBe(512);
    expect((await loadText('q.jsonl', bailian)).meta.block_tokens).toBe(16);
  });
});

describe('conversations', () => {
  test('ids link a turn to its parent, and name the conversation after its first call', async () => {
    const table = await loadText('q.jsonl', bailian);
    expect(table.row(2)).toMatchObject({
      id: '161',
      parent_id: '159',
      parent_row: 0,
      conversation_id: '55',
      turn: 3,
    });
    expect(table.row(0)).toMatchObject({ parent_id: '55', conversation_id: '55' });
    expect(table.row(0)).not.toHaveProperty('parent_row');
    expect(table.row(1)).toMatchObject({ conversation_id: '160', kind: 'search' });
    expect(table.row(1)).not.toHaveProperty('parent_id');
    expect([table.parent(0), table.parent(1), table.parent(2)]).toEqual([null, null, 0]);
  });

  test('calls of one session follow each other in time', async () => {
    const table = await loadText('b.csv', burst3);
    expect([table.parent(0), table.parent(1), table.parent(2)]).toEqual([null, null, 0]);
    expect(table.row(2)).toMatchObject({ conversation_id: 'a', parent_row: 0 });
  });

  test('ids that name each other in a ring end', async () => {
    const ring = bailian.replace('"parent_chat_id": 55', '"parent_chat_id": 161');
    const table = await loadText('q.jsonl', ring);
    expect(table.row(0).conversation_id).toBe(table.row(2).conversation_id);
  });
});

describe('order', () => {
  test('rows out of order are sorted and counted, ties keep the order of the file', async () => {
    const csv = 'Timestamp,Request tokens,Response tokens\n7,1,1\n3,2,1\n7,3,1\n3,4,1\n9,5,1\n';
    const table = await loadText('b.csv', csv);
    expect(rowsOf(table).map((r) => [r.row, r.at_ns, r.input_tokens])).toEqual([
      [1, 0n, 2],
      [3, 0n, 4],
      [0, 4_000_000_000n, 1],
      [2, 4_000_000_000n, 3],
      [4, 6_000_000_000n, 5],
    ]);
    expect(table.meta).toMatchObject({ unsorted_rows: 2, first_stamp: '3', span_ns: 6_000_000_000n });
  });
});

describe('calls without output', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    // policy, rows, outputs, numbers
    ['keep', [18, 230, 0], [0, 1, 2]],
    ['skip', [18, 230], [0, 1]],
    ['replay-as-1', [18, 230, 1], [0, 1, 2]],
  ] as const)('%s', async (zeroOutput, outputs, numbers) => {
    const table = await loadText('b.csv', burst, { zeroOutput });
    expect(rowsOf(table).map((r) => r.output_tokens)).toEqual(outputs);
    expect(rowsOf(table).map((r) => r.row)).toEqual(numbers);
    expect(table.meta).toMatchObject({ zero_output_rows: 1, zero_output: zeroOutput, rows: outputs.length });
  });

  test('a number stays that of the file when one before it is left out', async () => {
    const csv = 'Timestamp,Request tokens,Response tokens\n1,1,0\n2,2,1\n';
    const table = await loadText('b.csv', csv, { zeroOutput: 'skip' });
    expect(rowsOf(table)).toEqual([{ row: 1, at_ns: 0n, input_tokens: 2, output_tokens: 1 }]);
  });

  test('nothing left is an error', async () => {
    const csv = 'Timestamp,Request tokens,Response tokens\n1,1,0\n';
    await expect(loadText('b.csv', csv, { zeroOutput: 'skip' })).rejects.toThrow(
      'no row of the trace is kept',
    );
  });
});

// biome-ignore format: a table is read in columns
const broken = [
  // name, content, message, why
  ['a.csv', `${azure}\nnow,1,2\n`, 'a.csv:4: "TIMESTAMP" is "now", not YYYY-MM-DD HH:MM:SS with a fraction', 'no stamp'],
  ['a.csv', `${azure}\n2023-02-30 00:00:00,1,2\n`, 'a.csv:4: "TIMESTAMP" is "2023-02-30 00:00:00", not YYYY-MM-DD HH:MM:SS with a fraction', 'no such day'],
  ['a.csv', `${azure}\n2023-11-16 18:17:05,1\n`, 'a.csv:4: the row has 2 fields, the header 3', 'a field is missing'],
  ['a.csv', `${azure}\n2023-11-16 18:17:05,1,-2\n`, 'a.csv:4: "GeneratedTokens" is "-2", not a count', 'a negative count'],
  ['a.csv', `${azure}\n2023-11-16 18:17:05,,2\n`, 'a.csv:4: "ContextTokens" is empty', 'an empty field is no 0'],
  ['a.csv', `${azure}\n"2023-11-16 18:17:05,1,2\n`, 'a.csv:4: quote not closed', 'a quote that is never closed'],
  ['b.csv', 'Timestamp,Request tokens,Response tokens\n1,1,1\n2,1.5,1\n', 'b.csv:3: "Request tokens" is "1.5", not a count', 'half a token'],
  ['b.csv', 'Timestamp,Request tokens,Response tokens\n0x10,1,1\n', 'b.csv:2: "Timestamp" is "0x10", not a number of seconds', 'not decimal'],
  ['b.csv', 'Timestamp,Request tokens,Response tokens\n1e30,1,1\n', 'b.csv:2: "Timestamp" is "1e30", not a number of seconds', 'beyond 64 bits'],
  ['t.jsonl', '{"row":0,"at_ns":5,"input_tokens":1,"output_tokens":1}\n{"row":1,"at_ns":null,"input_tokens":1,"output_tokens":1}\n', 't.jsonl:2: the call has no time', 'time for some'],
  ['t.jsonl', '{"row":0,"at_ns":null,"input_tokens":1,"output_tokens":1}\n{"row":1,"at_ns":5,"input_tokens":1,"output_tokens":1}\n', 't.jsonl:2: the call has a time, those before have none', 'time for some, later'],
  ['m.jsonl', `${mooncake}{"timestamp": 1,\n`, 'm.jsonl:3: not JSON', 'cut within a row'],
  ['m.jsonl', `${mooncake}[1]\n`, 'm.jsonl:3: not a JSON object', 'a list'],
  ['m.jsonl', `${mooncake}{"timestamp": "soon", "input_length": 1, "output_length": 1, "hash_ids": [1]}`, 'm.jsonl:3: "timestamp" is "soon", not a number', 'a word'],
  ['m.jsonl', `${mooncake}{"timestamp": 1, "output_length": 1, "hash_ids": [1]}`, 'm.jsonl:3: "input_length" is nothing, not a count', 'a key is missing'],
  ['m.jsonl', `${mooncake}{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": ["x"]}`, 'm.jsonl:3: "hash_ids" is ["x"], not a list of whole numbers', 'an id that is none'],
] as const;

describe('rows that cannot be read', () => {
  test.each(broken.map(([name, content, message, why]) => ({ name, content, message, why })))(
    '$why',
    async ({ name, content, message }) => {
      await expect(loadText(name, content)).rejects.toMatchObject({
        code: 'TRACE_INVALID',
        message: expect.stringContaining(message),
      });
      const table = await loadText(name, content, { skipBad: true }).catch(() => null);
      expect(table?.meta.bad_rows ?? 1).toBe(1);
    },
  );

  test('they are left out and counted on request, and the others keep their numbers', async () => {
    const lines = azure.split('\r\n');
    const csv = [lines[0], 'x', lines[1], '2023-11-16 18:17:05,1', lines[2], ''].join('\n');
    const table = await loadText('a.csv', csv, { skipBad: true });
    expect(table.meta).toMatchObject({ rows: 2, bad_rows: 2 });
    expect(rowsOf(table).map((r) => r.row)).toEqual([1, 3]);
  });
});

// biome-ignore format: a table is read in columns
const unknown = [
  ['x.csv', 'a,b\n1,2\n', {}, 'no known trace has csv with "a", "b"', 'a header that no format has'],
  ['x.jsonl', '{"timestamp":1,"input_length":1,"output_length":1}\n', {}, 'no known trace has jsonl with', 'ms or s: the keys do not say, so nobody guesses'],
  ['x.csv', '', {}, 'the file is empty', 'no byte'],
  ['x.csv', azure, { format: 'burstgpt' }, 'there is no column "Timestamp", "Request tokens", "Response tokens"', 'another format declared than is there'],
  ['x.csv', azure, { format: 'azur-llm' }, 'unknown trace format "azur-llm"', 'a name nobody has'],
  ['x.csv.gz', gzipSync(lmm).subarray(0, 60), {}, 'not a whole gzip file', 'cut in transfer'],
  ['x.csv', 'TIMESTAMP,ContextTokens,GeneratedTokens,TIMESTAMP\n', { format: 'azure-llm' }, 'two columns have one name', 'which one is meant?'],
] as const;

describe('files that are no trace', () => {
  test.each(
    unknown.map(([name, content, options, message, why]) => ({ name, content, options, message, why })),
  )('$why', async ({ name, content, options, message }) => {
    await expect(loadText(name, content, options)).rejects.toThrow(message);
  });

  test('a declared format settles what keys leave open', async () => {
    const jsonl =
      '{"timestamp":3000,"input_length":1,"output_length":1}\n{"timestamp":6000,"input_length":1,"output_length":1}\n';
    const table = await loadText('x.jsonl', jsonl, { format: 'mooncake' });
    expect(table.meta.span_ns).toBe(3_000_000_000n);
    expect(table.row(0)).not.toHaveProperty('hash_ids');
  });

  test('a missing file is named', async () => {
    await expect(loadTrace('none.csv', { root: scratch(), zeroOutput: 'keep' })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: 'cannot read none.csv: ENOENT',
    });
  });

  test('reading stops when it is told to', async () => {
    const stopping = AbortSignal.abort();
    await expect(loadText('a.csv', azure, { signal: stopping })).rejects.toThrow(/abort/i);
  });
});

test('as many calls are read as are wanted', async () => {
  const table = await loadText('b.csv', burst, { limit: 2 });
  expect(table.meta).toMatchObject({ rows: 2, span_ns: 0n, zero_output_rows: 0 });
});

test('a row with a number of blocks that its length does not have is noted, not refused', async () => {
  const odd = mooncake.replace('[0, 7]', '[0, 7, 8]');
  const table = await loadText('m.jsonl', odd);
  expect(table.meta.notes).toEqual(['the number of blocks of a row did not fit its input length (1 times)']);
});

test('hash ids that a double cannot tell apart stay apart', async () => {
  const line = (ids: string, at: number) =>
    `{"chat_id": ${at}, "parent_chat_id": -1, "timestamp": ${at}, "input_length": 32, "output_length": 1, "hash_ids": [${ids}]}\n`;
  const table = await loadText(
    'q.jsonl',
    line('18446744073709551614, 18446744073709551615', 1) + line('18446744073709551614, 5', 2),
  );
  const [a, b] = [table.hash_ids(0), table.hash_ids(1)];
  expect(a[0]).not.toBe(a[1]);
  expect(b).toEqual([a[0], 5]);
  expect(table.meta.notes[0]).toContain('renumbered');
});

test('a path is read from the root', async () => {
  const root = scratch();
  await expect(loadTrace(join(root, 'x'), { root: '/elsewhere', zeroOutput: 'keep' })).rejects.toThrow(root);
});

test('a name at the end of a CRLF line is the name alone, quoted or not', async () => {
  const crlf = burst.replace('417,API log', '417,"API, log"').replaceAll('\n', '\r\n');
  expect(rowsOf(await loadText('b.csv', crlf)).map(({ kind }) => kind)).toEqual([
    'Conversation log',
    'Conversation log',
    'API, log',
  ]);
});
