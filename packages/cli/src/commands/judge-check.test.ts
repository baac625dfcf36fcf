import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { answerJson, type MockExchange, mockOpenAiServer } from '@perwatt/test-kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { gradeCommand } from './grade.js';

let folder = '';
const servers: { close(): Promise<void> }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-judge-'));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly temperature: number;
}

/** A judge on a real port that says what `says` makes of the last message. */
async function judgeServer(says: (prompt: string) => string) {
  const asked: Asked[] = [];
  const server = await mockOpenAiServer(async (exchange: MockExchange) => {
    const body = exchange.body as Asked | null;
    if (body?.messages === undefined)
      return answerJson(exchange, 200, { object: 'list', data: [{ id: 'j' }] });
    asked.push(body);
    return stream(exchange, says(body.messages.at(-1)?.content ?? ''));
  });
  servers.push(server);
  return { ...server, asked };
}

async function stream(exchange: MockExchange, text: string): Promise<void> {
  const chunk = (delta: object, rest: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'j', choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`;
  exchange.head();
  await exchange.write(chunk({ role: 'assistant', content: text }));
  const usage = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  await exchange.write(
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'j', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\n`,
  );
  await exchange.write('data: [DONE]\n\n');
  exchange.end();
}

async function run(args: readonly string[], lines: readonly object[] = []) {
  const { io, result } = recordedIo({
    stdin: Readable.from(lines.map((line) => `${JSON.stringify(line)}\n`)),
    env: { PERWATT_CACHE: folder, JUDGE_KEY: 'secret' },
  });
  const error = await gradeCommand(io, '0.0.0')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(['--grader', 'judge', ...args], { from: 'user' })
    .then(
      () => null,
      (thrown: unknown) => thrown,
    );
  return { out: result.out, error };
}

/** Knows the labelled set's answers against a reference by heart, prefers the longer reply, and meets every criterion. */
const says = (prompt: string): string => {
  if (prompt.includes('CRITERIA')) return 'CRITERION 1: MET\nCRITERION 2: MET';
  if (!prompt.includes('REPLY A'))
    return prompt.includes('Canberra.\n') ? 'VERDICT: CORRECT' : 'VERDICT: INCORRECT';
  const [first = '', second = ''] = [...prompt.matchAll(/REPLY [AB]:\n<<<\w+\n([\s\S]*?)\n\w+>>>/g)].map(
    (m) => m[1] ?? '',
  );
  return first.length > second.length ? 'Longer is better.\nVERDICT: A>B' : 'VERDICT: B>>A';
};

describe('perwatt grade --grader judge', () => {
  const row = { gold: 'Canberra', data: { way: 'reference', question: 'Capital of Australia?' } };

  test('asks the model over HTTP, greedy, and keeps its replies for the next time', async () => {
    const { url, asked } = await judgeServer(says);
    const args = ['--judge-endpoint', url, '--judge-model', 'j', '--judge-key-env', 'JUDGE_KEY', '--json'];
    const lines = [
      { id: 1, prediction: 'Canberra.', ...row },
      { id: 2, prediction: 'Sydney.', ...row },
    ];
    const first = await run(args, lines);
    expect(first.error).toBeNull();
    expect(first.out.map((line): unknown => JSON.parse(line))).toMatchObject([
      { id: 1, verdict: 'correct', rule: 'judge.reference', reason: 'the judge says CORRECT' },
      { id: 2, verdict: 'incorrect', score: 0 },
    ]);
    expect(asked.map(({ model, temperature }) => [model, temperature])).toEqual([
      ['j', 0],
      ['j', 0],
    ]);
    expect(await run(args, lines)).toEqual(first);
    expect(asked).toHaveLength(2);
    expect(readdirSync(join(folder, 'judge-replies'))).not.toEqual([]);
  });

  test('without a judge answers are unscored', async () => {
    const { out } = await run(['--json'], [{ prediction: 'Canberra.', ...row }]);
    expect(JSON.parse(out[0]!)).toMatchObject({ verdict: 'unscored', reason: 'no judge was asked' });
  });

  test('a judge that cannot be reached is one error before anything is graded', async () => {
    const args = ['--judge-endpoint', 'http://127.0.0.1:9/v1', '--judge-model', 'j'];
    const { error } = await run(args, [{ prediction: 'Canberra.', ...row }]);
    expect(error).toMatchObject({ code: 'CLIENT_UNREACHABLE' });
  });
});

describe('perwatt grade --judge-check', () => {
  test('says how far a judge agrees with the labelled set', async () => {
    const { url } = await judgeServer(says);
    const args = ['--judge-endpoint', url, '--judge-model', 'j', '--judge-check'];
    const { out, error } = await run([...args, '--json']);
    expect(error).toBeNull();
    const { groups, account, disagreements } = JSON.parse(out.join('\n')) as {
      groups: {
        way: string;
        labelled: number;
        unscored: number;
        agreement: { value: number; lo: number; hi: number };
        kappa: number | null;
      }[];
      account: Record<string, number>;
      disagreements: { id: string }[];
    };
    expect(groups.map(({ way, labelled, unscored }) => [way, labelled, unscored])).toEqual([
      ['reference', 20, 0],
      ['pairwise', 10, 0],
      ['rubric', 6, 0],
      ['all', 36, 0],
    ]);
    const [reference, , rubric, all] = groups;
    expect(reference).toMatchObject({ agreement: { value: 11 / 20 } });
    expect(reference!.kappa).toBeCloseTo(0.1, 9);
    expect(rubric).toMatchObject({ agreement: { value: 0.5 }, kappa: 0 });
    expect(all!.agreement.lo).toBeLessThan(all!.agreement.value);
    expect(all!.agreement.hi).toBeGreaterThan(all!.agreement.value);
    expect(account).toMatchObject({
      role: 'judge',
      failed_calls: 0,
      unreadable: 0,
      pairs: 10,
      order_flips: 2,
    });
    expect([account['calls'], account['completion_tokens']]).toEqual([46, 5 * 46]);
    expect(disagreements).toHaveLength(Math.round(36 * (1 - all!.agreement.value)));
    const table = await run(args);
    expect(table.out[0]).toMatch(/way\s+labelled\s+unscored\s+agreement \[95 %\]\s+κ ± 1\.96 se/);
    expect(table.out.at(-1)).toContain('replies cached');
  });

  test('takes labelled answers of a file, and names the line that is wrong', async () => {
    const { url } = await judgeServer(says);
    const file = join(folder, 'labels.jsonl');
    const good = {
      id: 'a',
      way: 'reference',
      question: 'q',
      gold: 'Canberra',
      prediction: 'Canberra.',
      label: 'correct',
    };
    const args = ['--judge-endpoint', url, '--judge-model', 'j', '--judge-check', '--labels', file, '--json'];
    writeFileSync(file, `${JSON.stringify(good)}\n`);
    const { out } = await run(args);
    expect(JSON.parse(out.join('\n'))).toMatchObject({
      groups: [{ way: 'reference', labelled: 1, agreement: { value: 1 }, kappa: null }],
    });
    writeFileSync(file, `${JSON.stringify(good)}\n${JSON.stringify({ ...good, label: 'maybe' })}\n`);
    expect((await run(args)).error).toMatchObject({
      code: 'INPUT_INVALID',
      message: `${file} line 2: "label" is "maybe", not "correct" or "incorrect"`,
    });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [['--judge-check'],                          /--judge-check needs --grader judge/],
    [['--judge-endpoint', 'http://127.0.0.1:9'], /belong together/],
  ])('%j is wrong usage', async (args, message) => {
    expect((await run(args)).error).toMatchObject({ code: 'USAGE', message: expect.stringMatching(message) });
  });
});
