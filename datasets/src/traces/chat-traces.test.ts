import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { loadTrace } from './load-trace.js';
import { fileTexts, memoryTexts } from './text-store.js';
import { loadText, rowsOf, scratch } from './trace-files.fixture.js';

const turn = (from: string, value: string) => ({ from, value });
const conversation = {
  id: 'abc_0',
  conversations: [
    turn('system', 'Be brief. [{"'),
    turn('human', 'Hi \\ "you"'),
    turn('gpt', 'Hello'),
    turn('human', 'And?'),
    turn('gpt', 'No.'),
  ],
};
const cut = { id: 'cut', conversations: [turn('gpt', 'as I said'), turn('human', 'go on')] };
const empty = { id: 'none', conversations: [] };

const words = { count: (text: string) => text.split(/\s+/).filter((word) => word !== '').length };

describe('ShareGPT', () => {
  const forms = [
    ['an array on many lines', JSON.stringify([conversation, cut, empty], null, 2)],
    ['an array on one line', JSON.stringify([conversation, cut, empty])],
    ['an object a line', [conversation, cut, empty].map((c) => JSON.stringify(c)).join('\n')],
  ] as const;

  test.each(forms)('%s: a call for each answer, and one for a question without', async (_, content) => {
    const table = await loadText('s.json', content);
    expect(table.meta).toMatchObject({
      format: 'sharegpt',
      unit: 'none',
      rows: 3,
      span_ns: null,
      first_stamp: null,
    });
    expect(table.meta.notes).toEqual(['a conversation had no question of a user (1 times)']);
    expect(rowsOf(table)).toEqual([
      { row: 0, at_ns: null, input_tokens: null, output_tokens: null, conversation_id: 'abc_0', turn: 0 },
      {
        row: 1,
        at_ns: null,
        input_tokens: null,
        output_tokens: null,
        conversation_id: 'abc_0',
        turn: 1,
        parent_row: 0,
      },
      { row: 2, at_ns: null, input_tokens: null, output_tokens: null, conversation_id: 'cut', turn: 0 },
    ]);
    expect(table.text(1)).toEqual({ messages: [{ role: 'user', content: 'And?' }], answer: 'No.' });
    expect(table.prompt(1)).toEqual([
      { role: 'system', content: 'Be brief. [{"' },
      { role: 'user', content: 'Hi \\ "you"' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'And?' },
    ]);
    expect(table.prompt(2)).toEqual([
      { role: 'assistant', content: 'as I said' },
      { role: 'user', content: 'go on' },
    ]);
    expect(table.text(2)?.answer).toBeNull();
  });

  test('tokens are counted by the tokenizer that is given, over the whole prompt', async () => {
    const table = await loadText('s.json', JSON.stringify([conversation]), { counter: words });
    expect([0, 1].map((i) => [table.input_tokens(i), table.output_tokens(i)])).toEqual([
      [6, 1],
      [8, 1],
    ]);
  });

  test('texts are left out unless there is a place for them', async () => {
    const root = scratch();
    writeFileSync(join(root, 's.json'), JSON.stringify([conversation]));
    const table = await loadTrace('s.json', { root, zeroOutput: 'keep' });
    expect([table.length, table.text(0), table.prompt(0)]).toEqual([2, null, null]);
  });

  test('texts in a file are the same as in memory', async () => {
    const texts = fileTexts(join(scratch(), 'texts'));
    const table = await loadText('s.json', JSON.stringify([conversation, cut]), { texts });
    expect(table.prompt(1)?.at(-1)).toEqual({ role: 'user', content: 'And?' });
    expect(table.text(0)?.answer).toBe('Hello');
    texts.close();
  });

  test('texts in a file stay apart however many there are', () => {
    const texts = fileTexts(join(scratch(), 'texts'));
    const long = (i: number) => `${i}é`.repeat(200_000);
    const numbers = [0, 1, 2, 3, 4].map((i) => texts.append(long(i)));
    for (const [i, number] of numbers.entries()) expect(texts.read(number) === long(i)).toBe(true);
    texts.close();
  });

  test('the question of an empty answer that is left out belongs to the next turn', async () => {
    const talk = {
      id: 'x',
      conversations: [turn('human', 'one'), turn('gpt', ''), turn('human', 'two'), turn('gpt', 'yes')],
    };
    const table = await loadText('s.json', JSON.stringify([cut, talk]), { zeroOutput: 'skip' });
    expect(table.meta).toMatchObject({ rows: 2, zero_output_rows: 1 });
    expect(table.row(1)).toMatchObject({ row: 2, turn: 1, conversation_id: 'x' });
    expect(table.parent(1)).toBeNull();
    expect(table.prompt(1)?.map(({ content }) => content)).toEqual(['one', 'two']);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['[{"conversations":[{"from":"human","value":"a"}]}, 5]', 's.json: the entry at line 1 is not an object', 'a number in the list'],
    ['[\n{"conversations":[{"from":"human","value":"a"}]},\n{"conversations":[{"from":"human"', 's.json: the JSON array is not closed at line 3', 'cut in transfer'],
    ['[{"conversations":[]},\n{"conversations":[{"from":"ghost","value":"a"}]}]', 's.json:2: the role "ghost" is not known', 'a role nobody knows'],
    ['[{"conversations":[]},\n{"conversations":[{"from":"human","value":1}]}]', 's.json:2: "value" is 1, not a text', 'no text'],
    ['[{"conversations":[]},\n{"conversations":3}]', 's.json:2: "conversations" is 3, not a list of turns', 'no list'],
  ] as const)('what cannot be read is named: %s', async (content, message, _) => {
    await expect(loadText('s.json', content)).rejects.toThrow(message);
  });
});

describe('Parquet', () => {
  async function parquet(name: string, sql: string, options = 'COMPRESSION snappy'): Promise<string> {
    const root = scratch();
    const db = await (await DuckDBInstance.create()).connect();
    await db.run(`COPY (${sql}) TO '${join(root, name)}' (FORMAT parquet, ${options})`);
    db.closeSync();
    return root;
  }
  const wild = `
    SELECT 'h' || i AS conversation_hash, 'gpt-4' AS model, TIMESTAMPTZ '2023-04-09 00:02:53.000001+00' + to_seconds(10 - i) AS "timestamp",
      [{content: 'q' || i, role: 'user', "timestamp": NULL::TIMESTAMPTZ, toxic: false},
       {content: 'a' || i, role: 'assistant', "timestamp": TIMESTAMPTZ '2023-04-09 00:01:00.000002+00' + to_seconds(10 * i), toxic: false},
       {content: 'more', role: 'user', "timestamp": NULL, toxic: false},
       {content: 'done', role: 'assistant', "timestamp": NULL, toxic: false}] AS conversation,
      2 AS turn, 'English' AS language, [{flagged: false}] AS openai_moderation
    FROM range(3) t(i)`;

  test.each(['snappy', 'zstd', 'uncompressed'])(
    'WildChat, %s: stamps of turns to the microsecond',
    async (codec) => {
      const root = await parquet('w.parquet', wild, `COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`);
      const table = await loadTrace('w.parquet', { root, zeroOutput: 'keep', texts: memoryTexts() });
      expect(table.meta).toMatchObject({ format: 'wildchat', unit: 'wall_time', rows: 6 });
      expect(table.meta.first_stamp).toBe('2023-04-09 00:01:00.000002');
      expect(rowsOf(table).map((r) => [r.at_ns, r.conversation_id, r.turn])).toEqual([
        [0n, 'h0', 0],
        [10_000_000_000n, 'h1', 0],
        [20_000_000_000n, 'h2', 0],
        [120_999_999_000n, 'h2', 1],
        [121_999_999_000n, 'h1', 1],
        [122_999_999_000n, 'h0', 1],
      ]);
      expect([3, 4, 5].map((i) => table.parent(i))).toEqual([2, 1, 0]);
      expect(table.row(3)).toMatchObject({ model: 'gpt-4', kind: 'English', parent_row: 4 });
      expect(table.prompt(3)?.map(({ content }) => content)).toEqual(['q2', 'a2', 'more']);
    },
  );

  test('LMSYS-Chat: no time, several row groups', async () => {
    const sql = `SELECT 'c' || i AS conversation_id, 'vicuna' AS model, [{content: 'q' || i, role: 'user'}, {content: '', role: 'assistant'}] AS conversation, 1 AS turn, 'English' AS language, false AS redacted FROM range(5000) t(i)`;
    const root = await parquet('l.parquet', sql, 'COMPRESSION snappy, ROW_GROUP_SIZE 2048');
    const table = await loadTrace('l.parquet', { root, zeroOutput: 'keep', texts: memoryTexts() });
    expect(table.meta).toMatchObject({
      format: 'lmsys-chat',
      unit: 'none',
      rows: 5000,
      zero_output_rows: 5000,
      span_ns: null,
    });
    expect(table.prompt(4999)).toEqual([{ role: 'user', content: 'q4999' }]);
    const some = await loadTrace('l.parquet', { root, zeroOutput: 'keep', limit: 10 });
    expect(some.length).toBe(10);
  });

  test('other columns are no trace, and half a file is none either', async () => {
    const root = await parquet('x.parquet', 'SELECT 1 AS a, 2 AS b');
    await expect(loadTrace('x.parquet', { root, zeroOutput: 'keep' })).rejects.toThrow(
      'no known trace has parquet with "a", "b"',
    );
    await expect(loadText('y.parquet', 'PAR1 and no more')).rejects.toThrow('not a whole Parquet file');
  });

  test('the same conversations as JSON lines', async () => {
    const line = JSON.stringify({
      conversation_hash: 'h',
      timestamp: '2023-04-09T00:02:53Z',
      conversation: [{ role: 'user', content: 'q' }],
    });
    expect((await loadText('w.jsonl', line)).row(0)).toMatchObject({ at_ns: 0n, conversation_id: 'h' });
  });
});
