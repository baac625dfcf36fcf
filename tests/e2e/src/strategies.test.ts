import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CallRow } from '@perwatt/core';
import { openRun } from '@perwatt/records';
import { strategies } from '@perwatt/strategies';
import { expect, onTestFinished, test } from 'vitest';
import { onlyRun, repository, runCli, temporaryFolder } from './cli.js';

/** What one request met, in the order they came. */
const meetings = [
  'ok',
  'ok',
  'too_many',
  'ok',
  'slow',
  'ok',
  'cut',
  'ok',
  'bad_json',
  'ok',
  'no_usage',
] as const;
type Meeting = (typeof meetings)[number];

/** An answer that has something for every role to read. */
const answer =
  'The issue is small. Score: 8 \\boxed{0.5} Action: look {"decision": "provide_final_answer", "message": "42", "answer": "42"} Answer: 42';

interface Served {
  readonly url: string;
  /** Requests by what they met. */
  readonly met: Record<Meeting, number>;
  /** Output tokens that were billed. */
  billed: number;
  /** Answers that were begun and have not ended. */
  open: number;
}

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const deltas = answer
  .split(/(?<= )/)
  .map((content) => event({ choices: [{ index: 0, delta: { content } }] }));
const finish = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = (completion_tokens: number) =>
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens } });

/** What is written of an answer, piece by piece. */
const pieces: Record<Exclude<Meeting, 'too_many'>, (tokens: number) => readonly string[]> = {
  ok: (tokens) => [...deltas, finish, usage(tokens), 'data: [DONE]\n\n'],
  slow: (tokens) => [...deltas, finish, usage(tokens), 'data: [DONE]\n\n'],
  no_usage: () => [...deltas, finish, 'data: [DONE]\n\n'],
  cut: () => deltas.slice(0, 3),
  bad_json: () => [...deltas.slice(0, 3), 'data: {"choices": [\n\n'],
};

async function write(response: ServerResponse, meeting: Exclude<Meeting, 'too_many'>, tokens: number) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces[meeting](tokens)) {
    response.write(piece);
    if (meeting === 'slow') await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (meeting === 'cut') response.destroy();
  else response.end();
}

async function serveFaults(): Promise<Served> {
  const server = createServer((request, response) => void respond(request, response));
  const met: Record<Meeting, number> = { ok: 0, too_many: 0, slow: 0, cut: 0, bad_json: 0, no_usage: 0 };
  const served: Served = { url: '', met, billed: 0, open: 0 };
  let count = 0;
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return void response.end('{"data": [{"id": "m"}]}');
    for await (const _ of request);
    const meeting = meetings[count++ % meetings.length] ?? 'ok';
    met[meeting] += 1;
    served.open += 1;
    response.on('close', () => {
      served.open -= 1;
    });
    if (meeting === 'too_many') return void response.writeHead(429, { 'retry-after': '1' }).end('{}');
    const tokens = 5 + (count % 7);
    if (meeting === 'ok' || meeting === 'slow') served.billed += tokens;
    await write(response, meeting, tokens);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return Object.assign(served, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
}

/** Kinds of the strategies that a text names. */
const named = (texts: string) =>
  new Set([...texts.matchAll(/\{ id: (\w+)(?:, kind: (\w+))?/g)].map(([, id, kind]) => kind ?? id));

const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** The longest chain of output tokens along the parents of calls. */
function longestChain(calls: readonly CallRow[]): number {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const chain = (call: CallRow): number => {
    const parents = (call.parent_ids ?? '').split(' ').flatMap((id) => byId.get(id) ?? []);
    return (call.completion_tokens ?? 0) + Math.max(0, ...parents.map(chain));
  };
  return Math.max(0, ...calls.map(chain));
}

const router = join(repository, 'examples/strategies-router.json');
const plain = `
    - { id: single }
    - { id: self_consistency }
    - { id: weighted_vote, bind: { verifier: other } }
    - { id: best_of_n, bind: { verifier: other } }
    - { id: repeated_sampling, attempts: 4 }
    - { id: sequential_revision }
    - { id: compute_optimal, calls: 4, probes: 2, edges: [1], parallel: [1, 0] }
    - { id: budget_forcing, thinking_tokens: 16 }
    - { id: debate }
    - { id: prove_verify_refine, pool: 2, verifications: 2, bind: { verifier: other } }
    - { id: delegate, max_turns: 2 }
    - { id: spawn_join, max_turns: 2 }
    - { id: team_vote, bind: { strong: other, weak: m } }
    - { id: route_threshold, bind: { strong: other, weak: m } }
    - { id: route_learned, router: '${router}', bind: { strong: other, weak: m } }
    - { id: cascade, bind: { strong: other, weak: m } }
    - { id: frugal, kind: debate, budget: { calls: 4 } }`;

// biome-ignore format: a table is read in columns
const cases: readonly (readonly [dataset: string, strategies: string, why: string])[] = [
  ['arithmetic, level: 1',  plain,                                                            'questions'],
  ['multi-hop, level: 1',   '\n    - { id: minion, bind: { strong: other, weak: m } }\n    - { id: minions, max_rounds: 2, max_jobs: 4, bind: { strong: other, weak: m } }\n    - { id: keyed, kind: delegate, reading: keys, max_turns: 2 }', 'questions about passages'],
  ['household, level: 1',   '\n    - { id: env_react, max_steps: 3 }\n    - { id: taught, kind: env_react, skills: on, max_steps: 2 }', 'a world'],
  ['code_f, level: 1',      '\n    - { id: propose_solve }\n    - { id: evolve, iterations: 2 }', 'programs'],
];

test('every strategy is put to it', () => {
  const texts = cases.map(([, text]) => text).join('');
  expect([...named(texts)].sort()).toEqual(
    strategies()
      .map(({ id }) => id)
      .sort(),
  );
});

test.each(cases)(
  'over a server that fails in many ways the books of %s close: %s',
  async (dataset, matrix) => {
    const server = await serveFaults();
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'matrix.yaml'),
      `
name: strategies
protocol: quick
order: as-written
axes:
  model: [{ id: m, endpoint: here }]
  dataset: [{ id: items, kind: ${dataset}, limit: 3, max_tokens: 32 }]
  strategy:${matrix}
  load: [{ concurrency: 2 }]
models: [{ id: other, endpoint: here }]
power: { sources: [] }
endpoints:
  here: { url: '${server.url}', headers_timeout_s: 5, idle_timeout_s: 5 }
`,
    );
    const { code, stderr } = await runCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], {
      cwd: folder,
    });
    expect({ code, stderr: code === 2 ? stderr : '' }).not.toMatchObject({ code: 2 });
    const run = openRun(onlyRun(join(folder, 'runs')));
    const cells = run.cells();
    expect(cells).toHaveLength(matrix.match(/- \{/g)!.length);
    const calls = cells.flatMap(({ cell_id }) => run.readCalls(cell_id).rows);
    expect(calls).toHaveLength(sum(Object.values(server.met)));
    const counted = calls.filter(({ token_source }) => token_source === 'server_usage');
    expect(sum(counted.map((call) => call.completion_tokens))).toBe(server.billed);
    expect(server.open).toBe(0);
    for (const { cell_id } of cells) {
      const measured = run.readCalls(cell_id).rows.filter(({ phase }) => phase === 'measure');
      const queries = run.readQueries(cell_id).rows;
      expect(queries).toHaveLength(3);
      for (const query of queries) {
        const own = measured.filter((call) => call.query_id === query.query_id);
        expect(query).toMatchObject({
          calls: own.length,
          completion_tokens: own.some((call) => call.completion_tokens === null)
            ? null
            : sum(own.map((c) => c.completion_tokens)),
        });
        if (query.sequential_tokens !== null) expect(query.sequential_tokens).toBe(longestChain(own));
      }
    }
  },
  120_000,
);
