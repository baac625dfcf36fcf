import { openAiClient } from '@perwatt/clients';
import { type CallRow, type Item, instant } from '@perwatt/core';
import { loadDataset, programLanguage, worldOf } from '@perwatt/datasets';
import { numeric } from '@perwatt/graders';
import { runQuery } from '@perwatt/harness';
import { strategies, strategyById } from '@perwatt/strategies';
import { chatChunk, type MockExchange, mockOpenAiServer, sseDone, sseEvent } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const itemOf = async (kind: string): Promise<Item> =>
  (await loadDataset({ kind, options: { level: 1 }, limit: 1 }, { root: '/', seed: 3 })).items[0]!;
const [sum, hop, house, program] = await Promise.all(
  ['arithmetic', 'multi-hop', 'household', 'code_f'].map(itemOf),
);

/** Items that fit a strategy where a plain question doesn't. */
const items: Readonly<Record<string, Item | undefined>> = {
  delegate: hop,
  minion: hop,
  minions: hop,
  env_react: house,
  propose_solve: program,
  evolve: program,
};
const params: Readonly<Record<string, object>> = {
  delegate: { reading: 'keys' },
  route_learned: { router: 'router.json' },
  repeated_sampling: { attempts: 4 },
  prove_verify_refine: { pool: 2, verifications: 2 },
};

/** A text that keeps every role going: nobody is sure, all ask on. */
const said = [
  '```json\n{"decision": "request_additional_info", "message": "and?", "program": "f(x) = x", "input": "1"}\n```',
  '<tool_call>{"name": "spawn_clone", "arguments": {"objectives": ["a", "b"]}}</tool_call>',
  '<tool_call>{"name": "spawn", "arguments": {"msgs": ["a", "b"]}}</tool_call>',
  '## Solution\nIt is 1.\n## Self Evaluation\nWeak. \\boxed{0.5} Score: 3\nAction: look\n',
].join('\n');

interface Held {
  readonly url: string;
  /** Requests that have come and whose answer has not ended. */
  open: number;
  /** Requests that have come. */
  came: number;
  /** Answers that were begun and are held open. */
  holding: number;
}

/** A server that answers, until from request number `from` on every answer is begun and never ended. */
async function serveUntil(from: number): Promise<Held> {
  const held: Held = { url: '', open: 0, came: 0, holding: 0 };
  async function answer(exchange: MockExchange): Promise<void> {
    held.came += 1;
    held.open += 1;
    const number = held.came;
    exchange.head();
    if (number >= from) {
      await exchange.write(chatChunk({ content: 'I ' }));
      held.holding += 1;
      await exchange.gone;
      held.open -= 1;
      return;
    }
    await exchange.write(chatChunk({ content: said }));
    await exchange.write(chatChunk({}, 'stop'));
    await exchange.write(sseEvent({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } }));
    await exchange.write(sseDone);
    held.open -= 1;
    exchange.end();
  }
  const server = await mockOpenAiServer(answer);
  onTestFinished(() => server.close());
  return Object.assign(held, { url: server.url });
}

/** Puts an item through a strategy at a server, and stops it as soon as an answer is held. */
async function stopped(id: string, from: number) {
  const server = await serveUntil(from);
  const client = openAiClient({
    url: server.url,
    api: 'chat',
    clock: { now: () => instant(process.hrtime.bigint()) },
  });
  onTestFinished(() => client.close());
  const strategy = strategyById(id);
  const parsed = strategy.params.parse(params[id] ?? {});
  const facts = { pids: [] } as never;
  const bound = { client, facts, model: 'm', request_model: 'm' };
  const names = ['main', ...strategy.needs(parsed).endpoints];
  const stop = new AbortController();
  const rows: CallRow[] = [];
  let seq = 0;
  const ended = runQuery(
    {
      seed: 1,
      strategy,
      params: parsed,
      sampling: {},
      grader: numeric,
      mode: 'robust',
      max_tokens: 32,
      aids: {
        worldOf,
        language: programLanguage,
        router: { score: () => 0.5, threshold: 0.5, sha256: '' },
      },
    },
    { item: items[id] ?? sum!, repeat: 0 },
    {
      run_id: 'r',
      cell_id: 'c',
      query_id: 'c/i/0',
      sitting: 0,
      phase: 'measure',
      clients: new Map(names.map((name) => [name, bound])),
      signal: stop.signal,
      nextSeq: () => seq++,
      onCall: (row) => rows.push(row),
    },
  );
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await vi.waitFor(() => expect(over || server.holding > 0).toBe(true));
  const finished = over;
  stop.abort();
  const outcome = await ended;
  return { outcome, finished, sent: seq, rows, server };
}

/** Calls that come back before the one that is held: none, one, and some. */
const places = [1, 2, 4];

describe.each(strategies().map(({ id }) => id))('%s', (id) => {
  test.each(places)('stopped while call %d is in flight leaves none open at the server', async (from) => {
    const { outcome, finished, sent, rows, server } = await stopped(id, from);
    await vi.waitFor(() => expect(server.open).toBe(0));
    expect(rows).toHaveLength(sent);
    if (finished) return expect(server.came).toBeLessThan(from);
    expect(outcome).toBeNull();
    expect(server.holding).toBeGreaterThan(0);
    expect(rows.filter(({ status }) => status === 'cancelled').length).toBeGreaterThan(0);
    expect(rows.filter(({ status }) => status !== 'cancelled' && status !== 'ok')).toEqual([]);
  });
});

test('all but those that make few calls are stopped in the midst of their calls', async () => {
  const calls = await Promise.all(
    strategies().map(async ({ id }) => [id, (await stopped(id, 2)).finished] as const),
  );
  expect(calls.filter(([, finished]) => finished).map(([id]) => id)).toEqual([
    'single',
    'route_threshold',
    'route_learned',
  ]);
});
