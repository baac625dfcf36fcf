import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDataset } from '@perwatt/datasets';
import { parseMatrix } from '@perwatt/harness';
import { openRun } from '@perwatt/records';
import { strategies, strategyById } from '@perwatt/strategies';
import {
  answerJson,
  chatChunk,
  type MockExchange,
  mockOpenAiServer,
  sseDone,
  sseEvent,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onlyRun, repository, runCli, temporaryFolder } from './cli.js';

const example = (name: string) => {
  const file = join('examples', `${name}.yaml`);
  return parseMatrix(readFileSync(join(repository, file), 'utf8'), file);
};

type Entry = ReturnType<typeof example>['axes']['strategy'][number];

/** Calls of a query of a strategy on the axis, at most. */
function callsOf({ id, kind, bind: _, when: __, ...params }: Entry): number {
  const strategy = strategyById(kind ?? id);
  return strategy.calls(strategy.params.parse(params));
}

test('the example compares eight ways or more on a hundred shared items or more, with few tokens and calls', async () => {
  const { axes } = example('strategies');
  const [{ kind, id: _, max_tokens, limit, ...options }] = axes.dataset as [(typeof axes.dataset)[number]];
  expect(axes.dataset).toHaveLength(1);
  expect(max_tokens).toBeLessThanOrEqual(24);
  const { items } = await loadDataset({ kind: kind!, limit: limit!, options }, { root: '/', seed: 0 });
  expect(items.length).toBeGreaterThanOrEqual(100);
  const calls = axes.strategy.map(callsOf);
  expect(calls.length).toBeGreaterThanOrEqual(8);
  expect(calls.reduce((a, b) => a + b) / calls.length).toBeLessThanOrEqual(4);
});

test('the small example has every strategy, two models and five items a cell', () => {
  const { axes } = example('strategies-smoke');
  const kinds = new Set(axes.strategy.map(({ id, kind }) => kind ?? id));
  expect([...kinds].sort()).toEqual(
    strategies()
      .map(({ id }) => id)
      .sort(),
  );
  expect(axes.model).toHaveLength(2);
  expect(axes.dataset.map(({ limit }) => limit)).toEqual(axes.dataset.map(() => 5));
});

test('the example of a published set is a matrix', () => {
  expect(example('strategies-gsm8k').axes.dataset).toMatchObject([{ id: 'gsm8k', limit: 5 }]);
});

/** A server whose model says what `say` gives for a prompt, and counts a token for each four characters of it. */
async function server(say: (prompt: string, request: number) => string): Promise<string> {
  let count = 0;
  async function answer(exchange: MockExchange): Promise<void> {
    if (exchange.method === 'GET') return answerJson(exchange, 200, { data: [{ id: 'm' }] });
    const { messages } = exchange.body as { readonly messages: readonly { readonly content: string }[] };
    const prompt = messages.map(({ content }) => content).join('\n');
    const usage = { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: 3 };
    exchange.head();
    await exchange.write(chatChunk({ content: say(prompt, count++) }));
    await exchange.write(chatChunk({}, 'stop'));
    await exchange.write(sseEvent({ choices: [], usage }));
    await exchange.write(sseDone);
    exchange.end();
  }
  const mock = await mockOpenAiServer(answer);
  onTestFinished(() => mock.close());
  return mock.url;
}

/** Runs axes against a server and returns the run. */
async function ran(url: string, axes: string) {
  const cwd = temporaryFolder();
  const matrix = `
name: small
protocol: quick
axes:
  model: [{ id: m, endpoint: here }]
${axes}
power: { sources: [] }
endpoints:
  here: { url: '${url}' }
`;
  writeFileSync(join(cwd, 'matrix.yaml'), matrix);
  const done = await runCli(['run', 'matrix.yaml', '--quiet', '--no-report'], { cwd });
  expect(done).toMatchObject({ code: 0, stderr: '' });
  return onlyRun(join(cwd, 'runs'));
}

describe('the workload of shared prefixes', () => {
  test('counts once what the prompts of a group have in common, in rows and in results', async () => {
    const path = await ran(
      await server(() => '42'),
      `  dataset: [{ id: register, kind: shared-prefix, prefix_tokens: 400, group: 4, limit: 8, max_tokens: 8 }]
  strategy: [single]
  load: [{ concurrency: 1 }]`,
    );
    const run = openRun(path);
    const [cell] = run.cells();
    const calls = run.readCalls(cell!.cell_id).rows.filter(({ phase }) => phase === 'measure');
    expect(new Set(calls.map(({ prefix_key }) => prefix_key)).size).toBe(2);
    const shares = calls.map((call) => call.shared_prefix_tokens! / call.prompt_tokens!);
    expect([shares[0], shares[4]].every((share) => share! < 0.05)).toBe(true);
    for (const share of [...shares.slice(1, 4), ...shares.slice(5)]) expect(share).toBeGreaterThan(0.9);
    const { stdout } = await runCli(['results', path, '--format', 'json', '--metric', 'billed_once_tokens']);
    const [figure] = (JSON.parse(stdout) as { readonly figures: readonly { readonly value: number }[] })
      .figures;
    const asked = calls.reduce((sum, call) => sum + call.prompt_tokens!, 0);
    const shared = calls.reduce((sum, call) => sum + call.shared_prefix_tokens!, 0);
    expect(figure?.value).toBeCloseTo((asked - shared) / 8, 4);
  }, 60_000);
});

describe('the page of compute_optimal', () => {
  test('has a query that tells the accuracy of each share by agreement', async () => {
    const page = readFileSync(join(repository, 'docs/strategies/compute_optimal.md'), 'utf8');
    const sql = /^perwatt query RUN "(.*)"$/m.exec(page)?.[1] ?? '';
    const path = await ran(
      await server((_, request) => `${request % 2 === 0 ? 3 : 4}`),
      `  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 6, max_tokens: 8 }]
  strategy:
    - { id: p0, kind: compute_optimal, calls: 4, probes: 2, edges: [], parallel: [0] }
    - { id: p1, kind: compute_optimal, calls: 4, probes: 2, edges: [], parallel: [1] }`,
    );
    const { stdout, code } = await runCli(['query', path, sql, '--csv']);
    expect(code).toBe(0);
    const [head, ...rows] = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    expect(head).toEqual(['agreement', 'strategy', 'n', 'accuracy', 'calibration_j']);
    expect(rows.map(([agreement]) => Number(agreement)).every((own) => own === 0.5 || own === 1)).toBe(true);
    expect(rows.reduce((sum, [, , n]) => sum + Number(n), 0)).toBe(12);
  }, 60_000);
});
