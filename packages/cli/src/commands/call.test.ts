import { Readable } from 'node:stream';
import {
  type MockAnswer,
  mockOpenAiServer,
  sseDone,
  sseEvent,
  streamCases,
  tickingClock,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { callCommand } from './call.js';

interface Result {
  readonly code: number;
  readonly out: string[];
  readonly err: string[];
  readonly requests: readonly { readonly path: string; readonly body: unknown; readonly headers: object }[];
}

interface World {
  readonly answer?: MockAnswer;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

/** Runs the command against a mock server. */
async function run(args: readonly string[], { answer, stdin = '', env = {} }: World = {}): Promise<Result> {
  const server = await mockOpenAiServer(answer);
  onTestFinished(server.close);
  const { io, result } = recordedIo({ stdin: Readable.from([stdin]), env });
  const command = callCommand(io, tickingClock(1_000_000n))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const where = args.includes('--endpoint') ? [] : ['--endpoint', server.url];
  await command.parseAsync([...where, '--model', 'scripted', ...args], { from: 'user' });
  return { ...result, requests: server.requests };
}
const record = ({ out }: Result): unknown => JSON.parse(out.join('\n'));
const count = ['--prompt', 'Say the word apple.', '--max-tokens', '4'];

test('prints the record of a call as JSON, with times after dispatch', async () => {
  const result = await run([...count, '--json']);
  expect(result.code).toBe(0);
  expect(record(result)).toMatchObject({
    status: 'ok',
    content: 'the word apple. one-one',
    reasoning: '',
    tool_calls: [],
    finish_reason: 'length',
    usage: { prompt_tokens: 4, completion_tokens: 4 },
    done: true,
    events: 6,
    content_events: 4,
    n_tokens: 4,
    token_source: 'server_usage',
    http_status: 200,
    error_kind: null,
    error_message: null,
    ttft_any_ns: expect.any(Number),
    ttft_content_ns: expect.any(Number),
    last_content_ns: expect.any(Number),
    end_ns: expect.any(Number),
  });
  const { ttft_any_ns, last_content_ns, end_ns } = record(result) as Record<string, number>;
  expect([0, ttft_any_ns!, last_content_ns!, end_ns!]).toEqual(
    [0, ttft_any_ns!, last_content_ns!, end_ns!].sort((a, b) => a - b),
  );
});

test('without a stream the token times are null', async () => {
  const result = await run([...count, '--json', '--no-stream']);
  expect(record(result)).toMatchObject({
    status: 'ok',
    content: 'the word apple. one-one',
    n_tokens: 4,
    ttft_any_ns: null,
    ttft_content_ns: null,
    last_content_ns: null,
    end_ns: expect.any(Number),
  });
  expect(result.requests[0]?.body).toMatchObject({ stream: false });
});

test('prints the text and a line of figures for people', async () => {
  const { out, err, code } = await run(count);
  expect(out[0]).toBe('the word apple. one-one');
  expect(out[1]).toMatch(
    /^— ok · finish length · 4 prompt tokens · 4 output tokens · first token \d+\.0 ms · last token \d+\.0 ms · end \d+\.0 ms$/,
  );
  expect([err, code]).toEqual([[], 0]);
});

test('sends what the flags say', async () => {
  const { requests } = await run(
    [
      '--prompt',
      '-',
      '--system',
      'Be brief.',
      '--temperature',
      '0.5',
      '--top-p',
      '0.9',
      '--seed',
      '7',
      '--api-key-env',
      'KEY',
    ],
    { stdin: 'a long question\n', env: { KEY: 'secret' } },
  );
  expect(requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer secret' },
    body: {
      model: 'scripted',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a long question\n' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      max_tokens: 256,
      stream: true,
    },
  });
});

test('asks the completion API', async () => {
  const { requests, code } = await run([...count, '--api', 'completion']);
  expect(requests[0]).toMatchObject({ path: '/v1/completions', body: { prompt: 'Say the word apple.' } });
  expect(code).toBe(0);
});

describe('a call that failed', () => {
  test('is a record too, and exit code 1', async () => {
    const result = await run(['--prompt', 'Hi', '--json', '--model', 'absent']);
    expect(result.code).toBe(1);
    expect(record(result)).toMatchObject({
      status: 'http_error',
      http_status: 404,
      error_kind: 'http_404',
      error_message: 'no such model absent',
      n_tokens: null,
      ttft_any_ns: null,
    });
  });

  test('keeps its partial text and says why', async () => {
    const { out, err, code } = await run(['--prompt', 'Hi'], {
      answer: async (exchange) => {
        exchange.head();
        await exchange.write(sseEvent({ choices: [{ delta: { content: 'Hel' } }] }));
        await exchange.write(sseEvent({ error: { message: 'boom' } }) + sseDone);
        exchange.end();
      },
    });
    expect(out[0]).toBe('Hel');
    expect(err).toEqual(['call failed: stream_error (server_error): boom']);
    expect(code).toBe(1);
  });

  test('names a refused connection', async () => {
    const server = await mockOpenAiServer();
    await server.close();
    const result = await run(['--prompt', 'Hi', '--json', '--endpoint', server.url]);
    expect(record(result)).toMatchObject({
      status: 'connect_error',
      error_kind: 'ECONNREFUSED',
      http_status: null,
    });
    expect(result.code).toBe(1);
  });

  // biome-ignore format: a table is read in columns
  test.each<[flag: string, kind: string, answer: MockAnswer]>([
    ['--headers-timeout', 'headers_timeout', () => {}],
    ['--idle-timeout',    'idle_timeout',    (exchange) => exchange.head()],
  ])('%s ends a hanging call', async (flag, kind, answer) => {
    const result = await run(['--prompt', 'Hi', '--json', flag, '20ms'], { answer });
    expect(record(result)).toMatchObject({ status: 'timeout', error_kind: kind });
    expect(result.code).toBe(1);
  });
});

describe('wrong usage', () => {
  // biome-ignore format: a table is read in columns
  test.each<[args: string[], error: object, why: string]>([
    [['--max-tokens', '2'],                                { code: 'commander.missingMandatoryOptionValue' }, 'no prompt'],
    [['--prompt', 'x', '--max-tokens', '0'],               { code: 'commander.invalidArgument' },  'no tokens'],
    [['--prompt', 'x', '--max-tokens', '1.5'],             { code: 'commander.invalidArgument' },  'half a token'],
    [['--prompt', 'x', '--temperature', 'hot'],            { code: 'commander.invalidArgument' },  'not a number'],
    [['--prompt', 'x', '--top-p', '1.1'],                  { code: 'commander.invalidArgument' },  'more than the whole'],
    [['--prompt', 'x', '--seed', '-1'],                    { code: 'commander.invalidArgument' },  'a seed below 0'],
    [['--prompt', 'x', '--api', 'legacy'],                 { code: 'commander.invalidArgument' },  'an unknown API'],
    [['--prompt', 'x', '--idle-timeout', '30'],            { code: 'USAGE', message: '"30" is not a duration' }, 'no unit'],
    [['--prompt', 'x', '--api', 'completion', '--system', 's'], { code: 'USAGE' },                 'a completion has no system message'],
    [['--prompt', 'x', '--api-key-env', 'ABSENT'],         { code: 'USAGE', message: 'the environment variable "ABSENT" of --api-key-env is not set' }, 'no key'],
    [['--prompt', 'x', '--endpoint', 'localhost:8080'],    { code: 'INPUT_INVALID', message: 'endpoint "localhost:8080" is not an http or https address' }, 'no scheme'],
  ])('%j is refused: %s', async (args, error) => {
    await expect(run(args)).rejects.toMatchObject(error);
  });

  test('help names every flag', async () => {
    const help = callCommand(recordedIo().io, tickingClock()).helpInformation();
    for (const flag of [
      '--endpoint',
      '--model',
      '--prompt',
      '--idle-timeout',
      '--headers-timeout',
      '--no-stream',
      '--json',
    ])
      expect(help).toContain(flag);
  });
});

const reference = streamCases();
describe.skipIf(reference === null)(
  'streams of the reference (skipped where the shared folder is missing)',
  () => {
    test.each(reference ?? [])('$id prints what it must', async ({ segments, expect: expected }) => {
      const result = await run(['--prompt', 'x', '--json'], {
        answer: async (exchange) => {
          exchange.head();
          for (const segment of segments) await exchange.write(segment);
          exchange.end();
        },
      });
      const { status, done, ...fields } = expected;
      const printed = Object.entries(fields).filter(([name]) => !name.endsWith('_segment'));
      expect(record(result)).toMatchObject({
        status,
        ...Object.fromEntries(printed),
        ...(status === 'ok' ? { done } : {}),
      });
      expect(result.code).toBe(status === 'ok' ? 0 : 1);
    });
  },
);
