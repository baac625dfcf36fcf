import { createHash } from 'node:crypto';
import { fc } from '@fast-check/vitest';
import { type Clock, instant } from '@perwatt/core';
import { deliver, mockOpenAiServer, type StreamCase, streamCases, watchedClock } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { noEventTimes, streamReader } from './body-reader.js';
import { createAnswer } from './delta.js';
import { createLoadEngine } from './load-engine.js';
import { oneCall } from './load-rows.fixture.js';
import { openAiClient } from './openai-client.js';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const ok = { status: 'ok', reasoning: '', finish_reason: 'stop', done: true };
const done = 'data: [DONE]\n\n';

/** Streams of our own, in the form of the reference. */
const own: readonly StreamCase[] = [
  {
    id: 'a character cut after its first byte',
    segments: [
      Buffer.concat([Buffer.from('data: {"choices":[{"delta":{"content":"'), Buffer.from([0xe4])]),
      Buffer.concat([Buffer.from([0xbd, 0xa0]), Buffer.from(`"}}]}\n\n${chunk({}, 'stop')}${done}`)]),
    ],
    expect: {
      ...ok,
      content: '你',
      events: 2,
      first_content_segment: 1,
      n_tokens: 1,
      token_source: 'events',
    },
  },
  {
    id: 'a separator of lines elsewhere, raw in a text',
    segments: [
      Buffer.from(`data: {"choices":[{"delta":{"content":"a\u2028b"}}]}\n\n${chunk({}, 'stop')}${done}`),
    ],
    expect: { ...ok, content: 'a\u2028b', content_events: 1 },
  },
  {
    id: 'a last delta without content',
    segments: [chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop'), done].map((s) =>
      Buffer.from(s),
    ),
    expect: { ...ok, content: 'ab', events: 3, content_events: 2, last_content_segment: 1, n_tokens: 2 },
  },
  {
    id: 'both names of reasoning in one delta',
    segments: [Buffer.from(chunk({ reasoning: 'hm', reasoning_content: 'hm' }) + chunk({}, 'stop') + done)],
    expect: { ...ok, content: '', reasoning: 'hm', first_any_segment: 0, first_content_segment: null },
  },
  {
    id: 'a tool call in pieces',
    segments: [
      chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] }),
      chunk({
        tool_calls: [
          { index: 0, function: { arguments: '{"x"' } },
          { index: 1, function: { arguments: '{}' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      chunk({ tool_calls: [{ index: 0 }] }, 'tool_calls') + done,
    ].map((s) => Buffer.from(s)),
    expect: {
      ...ok,
      finish_reason: 'tool_calls',
      content: '',
      content_events: 4,
      last_content_segment: 3,
      tool_calls: [
        { index: 0, id: 'a', name: 'f', arguments: '{"x":1}' },
        { index: 1, id: 'b', name: 'g', arguments: '{}' },
      ],
    },
  },
  {
    id: 'the completion API',
    segments: [
      'data: {"choices":[{"index":0,"text":"Hel","finish_reason":null}]}\n\n',
      'data: {"choices":[{"index":0,"text":"lo","finish_reason":"length"}]}\n\ndata: [DONE]\n\n',
    ].map((s) => Buffer.from(s)),
    expect: { ...ok, finish_reason: 'length', content: 'Hello', content_events: 2, first_any_segment: 0 },
  },
  {
    id: 'running usage, with details',
    segments: [
      Buffer.from(
        `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n` +
          `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7,` +
          `"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}\n\n` +
          done,
      ),
    ],
    expect: {
      ...ok,
      content: 'ab',
      usage: { prompt_tokens: 5, completion_tokens: 7, cached_tokens: 4, reasoning_tokens: 2 },
      n_tokens: 7,
      token_source: 'server_usage',
    },
  },
  {
    id: 'usage without a count is no usage',
    segments: [
      Buffer.from(
        `${chunk({ content: 'a' }, 'stop')}data: {"choices":[],"usage":{"total_tokens":3}}\n\n${done}`,
      ),
    ],
    expect: { ...ok, content: 'a', usage: null, n_tokens: 1, token_source: 'events' },
  },
  {
    id: 'an error object that is a bare text, and nothing read after it',
    segments: [
      Buffer.from(
        `${chunk({ content: 'a' })}data: {"error":"out of memory"}\n\n${chunk({ content: 'b' }, 'stop')}${done}`,
      ),
    ],
    expect: {
      status: 'stream_error',
      content: 'a',
      error_message: 'out of memory',
      events: 2,
      n_tokens: null,
    },
  },
  {
    id: 'an event of the type error',
    segments: [Buffer.from(`${chunk({ content: 'a' })}event: error\ndata: {"message":"boom"}\n\n`)],
    expect: { status: 'stream_error', content: 'a', error_message: 'boom', n_tokens: null },
  },
  {
    id: 'an error of null is none',
    segments: [
      Buffer.from(
        `data: {"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n${done}`,
      ),
    ],
    expect: { ...ok, content: 'a' },
  },
  {
    id: 'an event that is no JSON',
    segments: [
      Buffer.from(
        `${chunk({ content: 'a' })}data: {"choices":[\n\n${chunk({ content: 'b' }, 'stop')}${done}`,
      ),
    ],
    expect: {
      status: 'protocol_error',
      error_kind: 'bad_json',
      content: 'a',
      n_tokens: null,
      token_source: null,
    },
  },
  {
    id: 'JSON that is no object',
    segments: [Buffer.from(`${chunk({ content: 'a' })}data: 7\n\n`)],
    expect: { status: 'protocol_error', error_kind: 'bad_json', content: 'a' },
  },
  {
    id: 'choices that are no list',
    segments: [Buffer.from('data: {"choices":"none"}\n\n')],
    expect: { status: 'protocol_error', error_kind: 'bad_payload' },
  },
  {
    id: 'an event cut off in the middle of its JSON',
    segments: [Buffer.from(`${chunk({ content: 'a' })}data: {"choices":[{"del`)],
    expect: { status: 'truncated', content: 'a', events: 1, content_events: 1, n_tokens: null },
  },
  {
    id: 'usage cut off after the finish reason',
    segments: [Buffer.from(`${chunk({ content: 'a' }, 'stop')}data: {"choices":[],"usa`)],
    expect: { ...ok, done: false, content: 'a', events: 1, usage: null, n_tokens: 1, token_source: 'events' },
  },
  {
    id: 'role and finish without any content',
    segments: [Buffer.from(chunk({ role: 'assistant' }) + chunk({}, 'stop') + done)],
    expect: { ...ok, content: '', events: 2, content_events: 0, first_any_segment: null, n_tokens: 0 },
  },
  {
    id: 'comments and then nothing',
    segments: [Buffer.from(': ping\n\n: ping\n\n')],
    expect: { status: 'truncated', error_kind: 'empty_stream', events: 0, first_event_segment: null },
  },
  {
    id: 'an error object that is called a stream but is none',
    segments: [Buffer.from('{"error":{"message":"boom"}}')],
    expect: { status: 'stream_error', error_message: 'boom', events: 0 },
  },
  {
    id: 'nothing is read after [DONE]',
    segments: [Buffer.from(chunk({ content: 'a' }, 'stop') + done + chunk({ content: 'b' }) + done)],
    expect: { ...ok, content: 'a', events: 1 },
  },
  {
    id: 'choices of other indices',
    segments: [
      Buffer.from(
        `data: {"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n${done}`,
      ),
    ],
    expect: { ...ok, content: 'a', content_events: 1 },
  },
];

const segmentFields = {
  first_event_segment: 'first_event_ns',
  first_any_segment: 'first_any_ns',
  first_content_segment: 'first_content_ns',
  last_content_segment: 'last_content_ns',
} as const;

/** Delivers the segments over a socket; gives the record with the `*_segment` indices of the reference. */
async function overSocket(segments: readonly Buffer[]) {
  const clock = watchedClock();
  let stamps: readonly bigint[] = [];
  const server = await mockOpenAiServer(async (exchange) => {
    stamps = await deliver(
      exchange,
      clock,
      segments.map((bytes) => ({ bytes })),
    );
    exchange.end();
  });
  onTestFinished(server.close);
  const client = openAiClient({ url: server.url, api: 'chat', clock });
  onTestFinished(client.close);
  const record = await client.call({
    model: 'm',
    input: { kind: 'completion', prompt: 'p' },
    sampling: { temperature: 0, top_p: 1, max_tokens: 9 },
  });
  const indices = Object.entries(segmentFields).map(([name, stamp]) => {
    const at = record.stamps[stamp];
    return [name, at === null ? null : stamps.indexOf(at)];
  });
  return { ...record, ...Object.fromEntries(indices) };
}

/** The same by the load engine: what its columns say of the one call. */
async function byEngine(segments: readonly Buffer[]) {
  const clock = watchedClock();
  let stamps: readonly bigint[] = [];
  const server = await mockOpenAiServer(async (exchange) => {
    stamps = await deliver(
      exchange,
      clock,
      segments.map((bytes) => ({ bytes })),
    );
    exchange.end();
  });
  onTestFinished(server.close);
  const limits = { connections: 1, headersTimeoutMs: 0, idleTimeoutMs: 0 };
  const { row } = await oneCall(createLoadEngine({ url: server.url, api: 'chat', clock, ...limits }));
  const indices = Object.entries(segmentFields).map(([name, stamp]) => {
    const at = row[stamp] as bigint | null;
    return [name, at === null ? null : stamps.indexOf(at)];
  });
  return { ...row, n_tokens: row['completion_tokens'], ...Object.fromEntries(indices) };
}
/** What a row of the engine says, of what a stream is expected to give. */
const rowFields: ReadonlySet<string> = new Set([
  'status',
  'finish_reason',
  'error_kind',
  'error_message',
  'events',
  'content_events',
  'n_tokens',
  'token_source',
  ...Object.keys(segmentFields),
]);

/** The same bytes without a socket: what the parse says, times left out. */
function inMemory(reads: readonly Uint8Array[]) {
  const answer = createAnswer();
  const reader = streamReader({ answer, times: noEventTimes(), onDelta: () => {}, declared: true });
  for (const read of reads) {
    const failure = reader.take(read, frozen.now());
    if (failure !== null) return { ...answer.soFar(), failure };
  }
  return { ...answer.soFar(), failure: reader.end(null) };
}
const frozen: Clock = { now: () => instant(0n) };

const cutsOf = (bytes: Buffer) => fc.array(fc.nat({ max: bytes.length }), { maxLength: 10 });

/** The bytes in pieces, none of them empty. */
function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [0, ...cuts, bytes.length].sort((a, b) => a - b);
  return ends
    .slice(1)
    .map((end, i) => bytes.subarray(ends[i], end))
    .filter(({ length }) => length > 0);
}

function behavesAs(stream: StreamCase) {
  const { done: sawDone, ...fields } = stream.expect;
  const judgesDone = fields['status'] === 'ok' && sawDone !== undefined;
  const expected = judgesDone ? { ...fields, done: sawDone } : fields;
  const bytes = Buffer.concat(stream.segments);

  test(`${stream.id}: read by read over a socket`, async () => {
    expect(await overSocket(stream.segments)).toMatchObject(expected);
  });

  test(`${stream.id}: the load engine reads the same`, async () => {
    const fields = Object.fromEntries(Object.entries(expected).filter(([name]) => rowFields.has(name)));
    expect(await byEngine(stream.segments)).toMatchObject(fields);
  });

  const anyRead = Object.fromEntries(Object.entries(expected).filter(([name]) => !name.endsWith('_segment')));
  const deliveries: readonly (readonly Buffer[])[] = [
    [bytes],
    Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)),
    ...fc.sample(cutsOf(bytes), { seed: 2, numRuns: 4 }).map((cuts) => cutAt(bytes, cuts)),
  ];
  test(`${stream.id}: whole, byte by byte and at random cuts over a socket`, async () => {
    for (const segments of deliveries) expect(await overSocket(segments)).toMatchObject(anyRead);
  });

  test(`${stream.id}: whole, byte by byte and at random cuts it is the same`, () => {
    const whole = inMemory([bytes]);
    expect(inMemory(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))).toEqual(whole);
    fc.assert(
      fc.property(cutsOf(bytes), (cuts) => {
        expect(inMemory(cutAt(bytes, cuts))).toEqual(whole);
      }),
      { seed: 1, numRuns: 50 },
    );
  });
}

describe('streams of our own', () => {
  for (const stream of own) behavesAs(stream);
});

const reference = streamCases();
describe.skipIf(reference === null)(
  'streams of the reference (skipped where the shared folder is missing)',
  () => {
    test.each((reference ?? []).filter(({ sha256 }) => sha256 !== undefined))(
      '$id has the bytes it states',
      (stream) => {
        const bytes = Buffer.concat(stream.segments);
        expect(bytes.length).toBe(stream.bytes);
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(stream.sha256);
      },
    );

    for (const stream of reference ?? []) behavesAs(stream);
  },
);
