import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRun } from '@perwatt/records';
import { answerJson, type MockExchange, mockOpenAiServer, sseDone, sseEvent } from '@perwatt/test-kit';
import { afterEach, describe, expect, test } from 'vitest';
import { runCli, temporaryFolder } from './cli.js';

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Asked {
  readonly model?: string;
  readonly messages?: readonly { readonly content: string }[];
}

/** Models by name on one port: each says what its function makes of the last message. */
async function models(says: Readonly<Record<string, (prompt: string) => string>>) {
  const asked: string[] = [];
  const server = await mockOpenAiServer(async (exchange: MockExchange) => {
    const { model = '', messages } = (exchange.body ?? {}) as Asked;
    if (messages === undefined) {
      const data = Object.keys(says).map((id) => ({ id, object: 'model' }));
      return answerJson(exchange, 200, { object: 'list', data });
    }
    asked.push(model);
    const content = says[model]?.(messages.at(-1)?.content ?? '') ?? '';
    const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model };
    exchange.head();
    await exchange.write(
      sseEvent({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    );
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage };
    await exchange.write(sseEvent(end) + sseDone);
    exchange.end();
  });
  servers.push(server);
  return { url: server.url, asked };
}

const write = (folder: string, name: string, rows: readonly object[]) =>
  writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

interface Setting {
  readonly url: string;
  readonly dataset: string;
  readonly grading: string;
}

async function run(folder: string, { url, dataset, grading }: Setting) {
  const matrix = `name: graded
protocol: quick
axes:
  model: [{id: m, endpoint: local, model: subject}]
  dataset: [${dataset}]
power: {sources: []}
${grading}
endpoints:
  local: {url: "${url}"}
`;
  writeFileSync(join(folder, 'matrix.yaml'), matrix);
  const args = ['run', 'matrix.yaml', '--out', 'runs', '--json'];
  const env = { PERWATT_CACHE: join(folder, 'cache') };
  const done = await runCli(args, { cwd: folder, env });
  return { ...done, env };
}

const opened = (folder: string, stderrAndOut: string) => {
  const path = /runs\/[\w.-]+/.exec(stderrAndOut)?.[0] ?? '';
  const folderOfRun = openRun(join(folder, path));
  const [cell] = folderOfRun.cells();
  return { run: folderOfRun, path, cell: cell! };
};

describe('a run', () => {
  const rows = ['Paris', 'Rome', 'Oslo'].map((city) => ({
    question: `Which city is ${city}?`,
    reference_answer: city,
  }));
  const subject = (prompt: string) =>
    prompt.includes('Rome') ? 'Madrid, I think.' : `It is ${/is (\w+)\?/.exec(prompt)?.[1]}.`;
  const judge = (prompt: string) => {
    const [reference = '', answer = ''] = [
      ...prompt.matchAll(/(?:REFERENCE|ANSWER):\n<<<\w+\n([\s\S]*?)\n\w+>>>/g),
    ].map((m) => m[1] ?? '');
    return `VERDICT: ${answer.includes(reference) ? 'CORRECT' : 'INCORRECT'}`;
  };

  test('asks a judge after the measured window, with a ledger of its own; graded again it needs no call', async () => {
    const folder = temporaryFolder();
    write(folder, 'nr.jsonl', rows);
    const { url, asked } = await models({ subject, judge });
    const grading = 'grading: {judge: {endpoint: local, model: judge}}';
    const setting = { url, dataset: '{id: nr, kind: natural-reasoning, path: nr.jsonl}', grading };
    const done = await run(folder, setting);
    expect(done.code, done.stderr).toBe(0);
    const { run: made, path, cell } = opened(folder, done.stdout + done.stderr);
    const verdicts = made.readQueries(cell.cell_id).rows.map(({ verdict }) => verdict);
    expect(verdicts.toSorted()).toEqual(['correct', 'correct', 'incorrect']);
    expect(cell.grading_ledgers).toMatchObject([
      {
        role: 'judge',
        model: 'judge',
        calls: 3,
        failed_calls: 0,
        unreadable: 0,
        prompt_tokens: 27,
        completion_tokens: 9,
      },
    ]);
    expect(made.readCalls(cell.cell_id).rows.every(({ role }) => role === 'solver')).toBe(true);
    expect(asked.lastIndexOf('subject')).toBeLessThan(asked.indexOf('judge'));
    const before = asked.length;
    const again = await runCli(
      ['grade', path, '--mode', 'robust', '--judge-endpoint', url, '--judge-model', 'judge'],
      { cwd: folder, env: done.env },
    );
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toContain('0 of 3 verdicts changed');
    expect(asked.length).toBe(before);
  });

  test('without a judge leaves such answers unscored', async () => {
    const folder = temporaryFolder();
    write(folder, 'nr.jsonl', rows);
    const { url } = await models({ subject });
    const dataset = '{id: nr, kind: natural-reasoning, path: nr.jsonl}';
    const done = await run(folder, { url, dataset, grading: '' });
    const { run: made, cell } = opened(folder, done.stdout + done.stderr);
    expect(made.readQueries(cell.cell_id).rows.map(({ verdict }) => verdict)).toEqual(
      Array(3).fill('unscored'),
    );
    expect(cell.grading_ledgers).toBeUndefined();
  });

  test('with an endpoint that is not there is refused', async () => {
    const folder = temporaryFolder();
    write(folder, 'nr.jsonl', rows);
    const { url } = await models({ subject });
    const dataset = '{id: nr, kind: natural-reasoning, path: nr.jsonl}';
    const grading = 'grading: {judge: {endpoint: other, model: j}}';
    const done = await run(folder, { url, dataset, grading });
    expect(done.code).toBe(1);
    expect(done.stderr).toContain(
      'error[ENDPOINT_UNKNOWN]: grading names the endpoint "other"; endpoints: local',
    );
  });
});

describe('code', () => {
  const prompt = 'def add(a, b):\n    """ Sum. """\n';
  const test_code = 'def check(candidate):\n    assert candidate(2, 3) == 5\n';
  const rows = [1, 2].map((n) => ({
    task_id: `T/${n}`,
    prompt,
    entry_point: 'add',
    canonical_solution: '    return a + b\n',
    test: test_code,
  }));
  const subject = () => '```python\ndef add(a, b):\n    return a + b\n```';
  const dataset = '{id: he, kind: humaneval, path: he.jsonl}';

  test.each([
    ['', 'unscored'],
    ['grading: {allow_code: true}', 'correct'],
  ])('of answers is run only where that is allowed (%s)', async (grading, verdict) => {
    const folder = temporaryFolder();
    write(folder, 'he.jsonl', rows);
    const { url } = await models({ subject });
    const done = await run(folder, { url, dataset, grading });
    if (done.code !== 0 && done.stderr.includes('SANDBOX_UNAVAILABLE')) {
      expect(grading, done.stderr).not.toBe('');
      expect(existsSync(join(folder, 'runs'))).toBe(false);
      return;
    }
    expect(done.code, done.stderr).toBe(0);
    const { run: made, cell } = opened(folder, done.stdout + done.stderr);
    expect(made.readQueries(cell.cell_id).rows.map((row) => row.verdict)).toEqual([verdict, verdict]);
  });
});
