import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveModel } from '@perwatt/clients';
import { type Item, messageOf } from '@perwatt/core';
import { loadDataset, worldOf } from '@perwatt/datasets';
import { openRun } from '@perwatt/records';
import {
  answerJson,
  chatChunk,
  type MockExchange,
  mockOpenAiServer,
  sseDone,
  sseEvent,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onlyRun, runCli, temporaryFolder } from './cli.js';

const SEED = 11;
const sets = [
  { kind: 'household', level: 1, limit: 6 },
  { kind: 'household', level: 2, limit: 3 },
  { kind: 'shop', level: 1, limit: 6 },
  { kind: 'shop', level: 2, limit: 3 },
] as const;

const nameOf = ({ kind, level }: (typeof sets)[number]) => `${kind}-${level}`;
const datasets = sets
  .map(
    (set) =>
      `    - { id: ${nameOf(set)}, kind: ${set.kind}, level: ${set.level}, limit: ${set.limit}, seed: ${SEED}, max_tokens: 48 }`,
  )
  .join('\n');

/** An item as its expert knows it. */
interface Known {
  readonly item: Item;
  readonly opening: string;
  readonly skills: string;
  readonly plan: readonly string[];
}

async function knownItems(): Promise<Known[]> {
  const loaded = await Promise.all(
    sets.map(({ kind, level, limit }) =>
      loadDataset({ kind, options: { level }, limit, seed: SEED }, { root: '/', seed: 0 }),
    ),
  );
  return loaded.flatMap(({ items }) =>
    items.map((item) => {
      const world = worldOf(item)!;
      const { opening, skills } = world.open(item);
      return { item, opening, skills: skills!, plan: world.solve(item)! };
    }),
  );
}

interface WireMessage {
  readonly role: string;
  readonly content: string;
}

/** What an expert was asked, and whether it was told of the skills. */
interface Asked {
  readonly item_id: string;
  readonly taught: boolean;
}

/** A server whose model knows a plan for every item: it finds the item by its opening and its place in the plan by what was said. */
async function expertServer(known: readonly Known[]) {
  const asked: Asked[] = [];
  const byLength = known.toSorted((a, b) => b.opening.length - a.opening.length);
  async function answer(exchange: MockExchange): Promise<void> {
    if (exchange.method === 'GET') return answerJson(exchange, 200, { data: [{ id: 'expert' }] });
    const { messages } = exchange.body as { readonly messages: readonly WireMessage[] };
    const told = messages.find(({ role }) => role === 'user')?.content ?? '';
    const found = byLength.find(({ opening }) => told.startsWith(opening));
    if (found === undefined) return answerJson(exchange, 404, { error: { message: 'no such task' } });
    const skipped = Number(/\((\d+) earlier steps are not shown\)/.exec(told)?.[1] ?? 0);
    const step = skipped + messages.filter(({ role }) => role === 'assistant').length;
    asked.push({
      item_id: found.item.id,
      taught: messages.some(({ role, content }) => role === 'system' && content.includes(found.skills)),
    });
    exchange.head();
    await exchange.write(chatChunk({ content: `I know how.\nAction: ${found.plan[step] ?? 'look'}` }));
    await exchange.write(chatChunk({}, 'stop'));
    await exchange.write(sseEvent({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 6 } }));
    await exchange.write(sseDone);
    exchange.end();
  }
  const server = await mockOpenAiServer(answer);
  onTestFinished(() => server.close());
  return { url: server.url, asked };
}

const strategies = `    - { id: bare, kind: env_react, history: 4 }
    - { id: taught, kind: env_react, history: 4, skills: on }`;

test('an expert behind a real server solves every task of both worlds, with skills and without', async () => {
  const known = await knownItems();
  expect(new Set(known.map(({ opening }) => opening)).size).toBe(known.length);
  expect(Math.max(...known.map(({ plan }) => plan.length))).toBeGreaterThan(5);
  const server = await expertServer(known);
  const cwd = temporaryFolder();
  writeFileSync(
    join(cwd, 'matrix.yaml'),
    `
name: experts
protocol: quick
axes:
  model: [{ id: expert, endpoint: here }]
  dataset:
${datasets}
  strategy:
${strategies}
  load: [{ concurrency: 4 }]
power: { sources: [] }
endpoints:
  here: { url: '${server.url}' }
`,
  );
  const done = await runCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], { cwd });
  expect(done).toMatchObject({ code: 0, stderr: '' });
  const run = openRun(onlyRun(join(cwd, 'runs')));
  const plans = new Map(known.map(({ item, plan }) => [item.id, plan]));
  let solved = 0;
  for (const { cell_id, point } of run.cells()) {
    for (const query of run.readQueries(cell_id).rows) {
      const steps = plans.get(query.item_id)!.length;
      expect(query, `${point.dataset} ${point.strategy} ${query.item_id}`).toMatchObject({
        verdict: 'correct',
        score: 1,
        status: 'answered',
        calls: steps,
        rounds: steps,
        sequential_tokens: 6 * steps,
      });
      solved += 1;
    }
  }
  expect(solved).toBe(2 * known.length);
  for (const { item } of known) {
    const own = server.asked.filter(({ item_id }) => item_id === item.id);
    expect(new Set(own.map(({ taught }) => taught))).toEqual(new Set([false, true]));
  }
}, 120_000);

describe('a real model', async () => {
  const reason = await resolveModel('smollm2-135m', { env: process.env }).then(() => null, messageOf);
  if (reason !== null) process.stdout.write(`skipped worlds with a real model: ${reason}\n`);

  test.skipIf(reason !== null)(
    'acts in both worlds until its episodes end',
    async () => {
      const cwd = temporaryFolder();
      writeFileSync(
        join(cwd, 'matrix.yaml'),
        `
name: acting
protocol: quick
warm_up: { calls: 0 }
axes:
  model: [smollm2-135m]
  dataset:
    - { id: house, kind: household, level: 1, limit: 1, max_tokens: 12 }
    - { id: shop, kind: shop, level: 1, limit: 1, max_tokens: 12 }
  strategy:
    - { id: bare, kind: env_react, max_steps: 2, admissible: false }
    - { id: taught, kind: env_react, max_steps: 2, admissible: false, skills: on }
power: { sources: [] }
`,
      );
      const done = await runCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], { cwd });
      expect(done.stderr).not.toContain('error[');
      const run = openRun(onlyRun(join(cwd, 'runs')));
      const cells = run.cells();
      expect(cells.map(({ status }) => status)).toEqual(Array(4).fill('done'));
      for (const { cell_id } of cells) {
        const [query, ...more] = run.readQueries(cell_id).rows;
        expect(more).toEqual([]);
        expect(query).toMatchObject({ status: 'answered', calls: 2, rounds: 2, grader: 'environment' });
        expect(query?.score).not.toBeNull();
        const answer = run.readTexts(cell_id).rows.find(({ kind }) => kind === 'answer');
        expect(answer?.text?.split('\n')).toHaveLength(2);
        expect(answer?.detail).toContain('solved in 2 actions');
      }
    },
    240_000,
  );
});
