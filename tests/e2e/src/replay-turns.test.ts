import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MockServerOptions, startMockServer } from '@perwatt/clients';
import { openRun, parseQueryId, scanColumns, verifyRun } from '@perwatt/records';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, temporaryFolder } from './cli.js';

async function mock(options: MockServerOptions = {}) {
  const server = await startMockServer(options);
  onTestFinished(() => server.close());
  return server;
}

const quick = ['--baseline', '0s', '--quiet', '--power', 'none', '--no-check', '--workers', '2', '--json'];

async function replay(trace: string, url: string, args: readonly string[]) {
  const folder = temporaryFolder();
  const finished = await runCli(['replay', trace, '--endpoint', url, '--out', folder, ...quick, ...args], {
    cwd: folder,
  });
  expect(finished.stderr).toBe('');
  return { code: finished.code, result: JSON.parse(finished.stdout) };
}

/** Two chats of three turns, in the form of Qwen's traces, turns 20 ms apart. */
function chatTrace(folder: string): string {
  const rows = Array.from({ length: 6 }, (_, i) => ({
    chat_id: i,
    parent_chat_id: i < 2 ? -1 : i - 2,
    timestamp: Math.floor(i / 2) * 0.02,
    input_length: 16 * (1 + Math.floor(i / 2)),
    output_length: 4,
    type: 'text',
    turn: 1 + Math.floor(i / 2),
    hash_ids: Array.from({ length: 1 + Math.floor(i / 2) }, (_, block) => 10 * (i % 2) + block),
  }));
  const file = join(folder, 'chats.jsonl');
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  return file;
}

const shareGpt = (folder: string): string => {
  const said = (id: string, turns: number) => ({
    id,
    conversations: Array.from({ length: 2 * turns }, (_, i) =>
      i % 2 === 0
        ? { from: 'human', value: `question ${i / 2} of ${id}` }
        : { from: 'gpt', value: `traced answer ${(i - 1) / 2}` },
    ),
  });
  const file = join(folder, 'chats.json');
  writeFileSync(file, JSON.stringify([said('a', 3), said('b', 1), said('c', 2)]));
  return file;
};

function replayed(path: string): Map<number, Record<string, string | number | null>> {
  const run = openRun(path);
  const rows = new Map<number, Record<string, string | number | null>>();
  const [cell] = run.cells();
  scanColumns(run, { cellId: cell?.cell_id ?? '', table: 'replayed' }, (batch) => {
    const texts = ['parent', 'history', 'prompt'].map((name) => [name, batch.text(name)] as const);
    const numbers = [
      'parent_row',
      'late_ns',
      'shared_blocks',
      'wanted_prompt_tokens',
      'made_prompt_tokens',
    ].map((name) => [name, batch.number(name)] as const);
    const id = batch.text('query_id');
    for (let i = 0; i < batch.rows; i++)
      rows.set(
        Number(parseQueryId(id(i) ?? '')?.item_id),
        Object.fromEntries([...texts, ...numbers].map(([name, value]) => [name, value(i)])),
      );
  });
  expect(verifyRun(path).findings).toEqual([]);
  return rows;
}

const temporaries = () => readdirSync(tmpdir()).filter((name) => name.startsWith('perwatt-replay-'));

test('turns of a trace wait for the server, one by one, and their lateness is on record', async () => {
  const server = await mock({ ttft: { kind: 'constant', ms: 60 } });
  const { code, result } = await replay(chatTrace(temporaryFolder()), server.url, [
    '--late-parent',
    'wait',
    '--think',
    '5ms',
  ]);
  expect(code).toBe(0);
  expect(result).toMatchObject({ calls: 6, ok: 6, dropped: 0 });
  expect(result.loop.turns).toMatchObject({ policy: 'wait', think_s: 0.005, late: 4, dropped: 0 });
  const rows = replayed(result.run);
  expect([0, 2, 4].map((row) => rows.get(row)?.['shared_blocks'])).toEqual([0, 1, 2]);
  expect(rows.get(2)).toMatchObject({ parent: 'late', parent_row: 0 });
  expect(rows.get(2)?.['late_ns']).toBeGreaterThan(40e6);
});

test('turns that would be late are left out: they did not fail, and are not good', async () => {
  const server = await mock({ ttft: { kind: 'constant', ms: 300 } });
  const args = ['--late-parent', 'drop', '--slo', 'ttft=10s'];
  const { code, result } = await replay(chatTrace(temporaryFolder()), server.url, args);
  expect(code).toBe(0);
  expect(result).toMatchObject({ calls: 6, ok: 2, failed: 0, dropped: 4, good_fraction: 2 / 6 });
  expect([2, 4].map((row) => replayed(result.run).get(row)?.['parent'])).toEqual(['late', 'dropped']);
});

test('texts of a trace are its prompts, with the answers that the server has just given', async () => {
  const server = await mock({ tokens: 3 });
  const args = ['--shape', 'closed', '--concurrency', '2', '--output-tokens', '5', '--history', 'server'];
  const before = temporaries();
  const { code, result } = await replay(shareGpt(temporaryFolder()), server.url, args);
  expect(code).toBe(0);
  expect(temporaries()).toEqual(before);
  expect(result).toMatchObject({ calls: 6, ok: 6 });
  const rows = replayed(result.run);
  expect([0, 1, 2, 3, 4, 5].map((row) => rows.get(row)?.['history'])).toEqual([
    'none',
    'server',
    'server',
    'none',
    'none',
    'server',
  ]);
  expect(rows.get(1)?.['prompt']).toBe('trace');
  const calls = openRun(result.run).readCalls(openRun(result.run).cells()[0]!.cell_id).rows;
  const prompt = new Map(calls.map((c) => [Number(parseQueryId(c.query_id)?.item_id), c.prompt_tokens!]));
  expect(prompt.get(1)).toBeGreaterThan(prompt.get(0)!);
  expect(prompt.get(2)).toBeGreaterThan(prompt.get(1)!);
});

test("prompts have the trace's lengths by the server's own tokenizer, and both counts stand side by side", async () => {
  const server = await mock();
  const args = ['--tokenizer', 'server', '--rate', '200'];
  const { code, result } = await replay(chatTrace(temporaryFolder()), server.url, args);
  expect(code).toBe(0);
  for (const row of replayed(result.run).values())
    expect(row['made_prompt_tokens']).toBe(row['wanted_prompt_tokens']);
  expect(result.tokens.counter).toBe("the server's /tokenize");
  expect(result.tokens.prompts).toMatchObject({ compared: 6, local_tokens: 2 * (16 + 32 + 48) });
  expect(result.tokens.answers.compared).toBe(6);
});

// biome-ignore format: a table is read in columns
test.each([
  { args: ['--late-parent', 'drop', '--shape', 'closed'],      code: 2, says: '--late-parent drop means nothing in a closed loop' },
  { args: ['--think', '1s'],                                   code: 2, says: '--think means nothing without --late-parent wait' },
  { args: ['--prompts', 'trace'],                              code: 1, says: 'carries no texts' },
  { args: ['--history', 'server', '--prompts', 'made-up'],     code: 2, says: '--history server means nothing with --prompts made-up' },
  { args: ['--tokenizer', 'mine'],                             code: 1, says: '"mine" is not a tokenizer' },
])('a wrong call says what is wrong: $says', async ({ args, code, says }) => {
  const server = await mock();
  const folder = temporaryFolder();
  const finished = await runCli(['replay', chatTrace(folder), '--endpoint', server.url, ...quick, ...args], { cwd: folder });
  expect(finished.stderr).toContain(says);
  expect(finished.code).toBe(code);
});

test('a trace without conversations has no late parents', async () => {
  const server = await mock();
  const folder = temporaryFolder();
  const trace = join(folder, 'plain.csv');
  writeFileSync(trace, 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n0,m,5,2,7,x\n');
  const args = ['replay', trace, '--endpoint', server.url, ...quick, '--late-parent', 'wait'];
  const finished = await runCli(args, { cwd: folder });
  expect(finished.stderr).toContain('names no conversations');
  expect(finished.code).toBe(1);
});
