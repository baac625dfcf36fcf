import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { traceCommand } from './trace.js';

function folder(files: Readonly<Record<string, string>> = {}): string {
  const cwd = mkdtempSync(join(tmpdir(), 'perwatt-trace-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

async function run(cwd: string, ...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd });
  const command = traceCommand(io);
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeErr: () => {} });
  const error = await command.parseAsync(args, { from: 'user' }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { ...result, error };
}

const azure =
  'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:05.9799600,3180,8\r\n2023-11-16 18:17:04.4799600,16,9';
const bailian =
  '{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 32, "output_length": 0, "type": "text", "turn": 1, "hash_ids": [1, 2]}\n' +
  '{"chat_id": 2, "parent_chat_id": 1, "timestamp": 1.5, "input_length": 48, "output_length": 5, "type": "text", "turn": 2, "hash_ids": [1, 2, 3]}\n';
const chats = JSON.stringify([
  {
    id: 'a',
    conversations: [
      { from: 'human', value: 'hi' },
      { from: 'gpt', value: 'hello' },
    ],
  },
]);

describe('perwatt trace inspect', () => {
  test('prints the facts of a trace, a plot, and warns of what it had to do', async () => {
    const { out, err } = await run(folder({ 'a.csv': azure }), 'inspect', 'a.csv');
    expect(out.map((line) => line.replace(/sha256 [0-9a-f]{64}/, 'sha256 …'))).toEqual([
      'a.csv: azure-llm, time in wall-clock stamps, sha256 …',
      'rows            3, 1 out of order (sorted), 0 without output (keep)',
      'span            2 s, from 2023-11-16 18:17:03.9799600',
      'rate            1.500 calls/s',
      'gaps            CV 0.500, burstiness -0.333, gamma shape 4.000, lag-1 correlation –, calls per second: variance/mean 1.000',
      '                smallest 0.5 s, largest 1.5 s',
      'ties            0 rows share the stamp of the one before; 3 stamps, at most 1 rows at one',
      'input           min 16, median 3,180, p95 4,808, max 4,808, mean 2668.0, CV 0.746, sum 8,004 tokens over 3 rows',
      'output          min 8, median 9, p95 10, max 10, mean 9.0000, CV 0.091, sum 27 tokens over 3 rows',
      `arrivals        █${' '.repeat(14)}█${' '.repeat(43)}█  over the span`,
      'input lengths   █      ██  16 to 8,192 tokens, doubling',
      'output lengths  █  8 to 16 tokens, doubling',
    ]);
    expect(err).toEqual(['warning: 1 row of a.csv stood behind a later one; the trace was sorted']);
  });

  test('is JSON on request, with the span as text', async () => {
    const { out } = await run(folder({ 'q.jsonl': bailian }), 'inspect', 'q.jsonl', '--json');
    expect(JSON.parse(out.join(''))).toMatchObject({
      meta: {
        format: 'qwen-bailian',
        unit: 's',
        span_ns: '1000000000',
        zero_output_rows: 1,
        block_tokens: 16,
      },
      arrivals: { rate_per_s: 2 },
      prefixes: { blocks: 5, distinct_blocks: 3, hit_ratio: 0.4 },
      conversations: 1,
      kinds: { text: 2 },
      plots: { input_tokens: { from: 32, counts: [2] } },
    });
  });

  test('says what a trace of texts does not tell', async () => {
    const { out } = await run(folder({ 's.json': chats }), 'inspect', 's.json');
    expect(out.join('\n')).toContain('s.json: sharegpt, without time, sha256');
    expect(out.join('\n')).toContain('tokens not known');
  });

  test('stops at the first bad row, or leaves it out and says so', async () => {
    const cwd = folder({ 'a.csv': `${azure}\nnever,1,1\n` });
    const { error } = await run(cwd, 'inspect', 'a.csv');
    expect(error).toMatchObject({
      code: 'TRACE_INVALID',
      message: expect.stringContaining('a.csv:5: "TIMESTAMP"'),
    });
    const { out, err } = await run(cwd, 'inspect', 'a.csv', '--skip-bad');
    expect(out[1]).toContain('1 unreadable ones left out');
    expect(err).toContain('warning: 1 row of a.csv could not be read; left out');
  });
});

describe('perwatt trace convert', () => {
  test('writes what is read again as the same trace, and leaves nothing else behind', async () => {
    const cwd = folder({ 'q.jsonl': bailian });
    const { out } = await run(cwd, 'convert', 'q.jsonl', '--to', 'arrow', '--out', 'q.arrows');
    expect(out[0]).toMatch(/^q\.arrows: 2 rows, [0-9]+ bytes$/);
    await run(cwd, 'convert', 'q.arrows', '--to', 'jsonl', '--out', 'again.jsonl');
    expect(readFileSync(join(cwd, 'again.jsonl'), 'utf8').split('\n')[1]).toBe(
      '{"row":1,"at_ns":1000000000,"input_tokens":48,"output_tokens":5,"hash_ids":[1,2,3],"block_tokens":16,"turn":2,"kind":"text","conversation_id":"1","id":"2","parent_id":"1","parent_row":0}',
    );
    expect(readdirSync(cwd).sort()).toEqual(['again.jsonl', 'q.arrows', 'q.jsonl']);
  });

  test('keeps texts where the form has a place for them, and says where it has none', async () => {
    const cwd = folder({ 's.json': chats });
    await run(cwd, 'convert', 's.json', '--to', 'jsonl', '--out', 't.jsonl');
    expect(readFileSync(join(cwd, 't.jsonl'), 'utf8')).toContain('"content":"hi"');
    const { err } = await run(cwd, 'convert', 's.json', '--to', 'csv', '--out', 't.csv');
    expect(err).toEqual(['note: csv has no place for text; left out']);
  });

  test('policies hold', async () => {
    const cwd = folder({ 'q.jsonl': bailian });
    const { out } = await run(
      cwd,
      'convert',
      'q.jsonl',
      '--zero-output',
      'skip',
      '--to',
      'burstgpt',
      '--out',
      'b.csv',
      '--json',
    );
    expect(JSON.parse(out[0]!)).toMatchObject({
      rows: 1,
      form: 'burstgpt',
      from: { zero_output_rows: 1, zero_output: 'skip' },
    });
    expect(readFileSync(join(cwd, 'b.csv'), 'utf8')).toBe(
      'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type,Session ID\n0,unknown,48,5,53,text,1\n',
    );
  });

  test('a file that cannot be made leaves the old one, and nothing new', async () => {
    const cwd = folder({ 'q.jsonl': bailian, 'm.jsonl': 'old' });
    const { error } = await run(cwd, 'convert', 'q.jsonl', '--to', 'mooncake', '--out', 'm.jsonl');
    expect(error).toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('blocks of 16 tokens'),
    });
    expect(readFileSync(join(cwd, 'm.jsonl'), 'utf8')).toBe('old');
    expect(readdirSync(cwd).sort()).toEqual(['m.jsonl', 'q.jsonl']);
    const nowhere = await run(cwd, 'convert', 'q.jsonl', '--to', 'csv', '--out', 'no/m.csv');
    expect(nowhere.error).toMatchObject({
      code: 'FILE_UNREADABLE',
      message: 'cannot write no/m.csv: ENOENT',
    });
  });
});

describe('perwatt trace synth', () => {
  const laws = ['--shape', 'poisson', '--rate', '10', '--input', '100:1', '--output', '20'];

  test('makes a file of any public form, the same for the same seed', async () => {
    const cwd = folder();
    for (const name of ['a.csv', 'b.csv'])
      await run(cwd, 'synth', ...laws, '--rows', '500', '--as', 'burstgpt', '--out', name);
    expect(readFileSync(join(cwd, 'a.csv'))).toEqual(readFileSync(join(cwd, 'b.csv')));
    const { out } = await run(cwd, 'inspect', 'a.csv', '--json');
    expect(JSON.parse(out[0]!)).toMatchObject({
      meta: { format: 'burstgpt', rows: 500 },
      output: { min: 20, max: 20 },
    });
  });

  test('is like a trace, at another rate', async () => {
    const cwd = folder({ 'a.csv': azure });
    await run(cwd, 'synth', '--like', 'a.csv', '--rows', '300', '--rate', '100', '--out', 'l.arrows');
    const { out } = await run(cwd, 'inspect', 'l.arrows', '--json');
    const found = JSON.parse(out[0]!);
    expect(found.arrivals.rate_per_s).toBeCloseTo(100, -1);
    expect(found.input).toMatchObject({ min: 16, median: 3180, max: 4808 });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['--rows', '5'], 'say what the trace is like', 'no law and no source'],
    [[...laws, '--cv', '2', '--rows', '5'], '--cv is no option of --shape poisson', 'a CV that means nothing'],
    [['--shape', 'gamma', '--rate', '1', '--input', '1', '--output', '1', '--rows', '5'], '--shape gamma needs the CV', 'gamma without its CV'],
    [['--shape', 'constant', '--input', '1', '--output', '1', '--rows', '5'], '--shape constant needs a rate', 'no rate'],
    [['--like', 'a.csv', '--input', '5', '--rows', '5'], '--like takes lengths and prefixes from the trace', 'two sources of lengths'],
  ] as const)('%j is refused', async (args, message, _) => {
    const cwd = folder({ 'a.csv': azure });
    const { error } = await run(cwd, 'synth', ...args, '--out', 'x.arrows');
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) });
    expect(existsSync(join(cwd, 'x.arrows'))).toBe(false);
  });

  test.each(['0', '-1', 'x', '1.5'])('--rows %s is wrong usage', async (rows) => {
    const { error } = await run(folder(), 'synth', ...laws, '--rows', rows, '--out', 'x.arrows');
    expect(error).toBeInstanceOf(CommanderError);
  });
});
