import { fc, test as property } from '@fast-check/vitest';
import { instant } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { noEventTimes, streamReader } from './body-reader.js';
import { type ChunkTemplates, createTemplates } from './chunk-template.js';
import { createAnswer } from './delta.js';

const blind: ChunkTemplates = { ...createTemplates(), match: () => -1, learn: () => {} };

/** What comes of a stream in these reads, with every event stamped by the number of its read. */
function parse(reads: readonly Uint8Array[], templates: ChunkTemplates) {
  const answer = createAnswer();
  const times = noEventTimes();
  const deltas: object[] = [];
  const reader = streamReader({
    answer,
    times,
    onDelta: (delta) => deltas.push(delta),
    declared: true,
    templates,
  });
  let failure = null;
  for (const [i, read] of reads.entries()) failure ??= reader.take(read, instant(BigInt(i)));
  return { ...answer.soFar(), times, deltas, failure: failure ?? reader.end(null) };
}

function matches(first: string, second: string): boolean {
  const templates = createTemplates();
  templates.learn(first);
  return templates.match(Buffer.from(`data: ${second}\n\n`), 0) > 0;
}

const vllm = (content: string, more = '') =>
  `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":{"content":${content}},"logprobs":null,"finish_reason":null}]${more}}`;
const running = (prompt: string, completion: string) =>
  `,"usage":{"prompt_tokens":${prompt},"total_tokens":9,"completion_tokens":${completion}}`;

// biome-ignore format: a table is read in columns
test.each<[first: string, second: string, matched: boolean, why: string]>([
  [vllm('"a"'), vllm('"Hello"'),                          true,  'another text'],
  [vllm('"a"'), vllm('""'),                               true,  'an empty text is one'],
  [vllm('"a"'), vllm('"你 é"'),                            true,  'any plain character'],
  [vllm('"a"'), vllm('"b"').replace('-1"', '-2"').replace('17', '18'), true, 'ids and times of no meaning'],
  [vllm('"a"', running('5', '1')), vllm('"b"', running('7', '20')), true, 'running counts'],
  [vllm('"a"'), vllm('"\\n"'),                             false, 'an escape'],
  [vllm('"a"'), vllm('"\\u0041"'),                         false, 'an escape of a plain character'],
  [vllm('"a"'), vllm('"a\tb"'),                           false, 'a raw tab is no JSON'],
  [vllm('"a"'), vllm('null'),                             false, 'no text'],
  [vllm('"a"'), vllm('"a","role":"assistant"'),           false, 'a further key'],
  [vllm('"a"'), vllm('"a"').replace('null}]', '"stop"}]'), false, 'a finish reason'],
  [vllm('"a"'), vllm('"a"').replace('0', '1'),            false, 'another choice'],
  [vllm('"a"', running('5', '1')), vllm('"b"', running('5', '01')),   false, 'no number of JSON'],
  [vllm('"a"', running('5', '1')), vllm('"b"', running('5', '1.5')),  false, 'no whole number'],
  [vllm('"a"', running('5', '1')), vllm('"b"', running('5', '1e300')), false, 'a number of another form'],
  [vllm('"a"', running('5', '1')), vllm('"b"'),           false, 'no usage'],
  [vllm('"\\n"'), vllm('"b"'),                             true,  'what is learned may have an escape'],
  [vllm('"a"').replace('content', 'c\\u006fntent'), vllm('"b"').replace('content', 'c\\u006fntent'), false, 'a key spelled with an escape'],
  [vllm('"a","content":"z"'), vllm('"b","content":"z"'),  false, 'a key that stands twice'],
  [vllm('"a","reasoning":"z"'), vllm('"b","reasoning":"z"'), false, 'two texts'],
  [vllm('"a"', ',"":{"id":7}'), vllm('"a"', ',"":{"id":8}'), false, 'a count that is not at the top'],
])('after %s, %s: matched is %s (%s)', (first, second, matched) => {
  expect(matches(first, second)).toBe(matched);
});

test('an event is matched whole or not at all, with any of its ends of line', () => {
  const templates = createTemplates();
  templates.learn(vllm('"a"'));
  const event = vllm('"b"');
  for (const field of ['data: ', 'data:'])
    for (const end of ['\n\n', '\r\n\r\n']) {
      const bytes = Buffer.from(`${field}${event}${end}data: more`);
      expect(templates.match(bytes, 0)).toBe(field.length + event.length + end.length);
      for (let i = 0; i < field.length + event.length + end.length; i++)
        expect(templates.match(bytes.subarray(0, i), 0)).toBe(-1);
    }
  for (const end of ['\r\r', '\n', '\n\r\n', '\ndata: x\n\n', ' \n\n'])
    expect(templates.match(Buffer.from(`data: ${event}${end}`), 0)).toBe(-1);
});

test('most events of a plain stream are matched', () => {
  const templates = createTemplates();
  let matched = 0;
  const counting: ChunkTemplates = {
    ...templates,
    match: (bytes, start) => {
      const end = templates.match(bytes, start);
      if (end >= 0) matched += 1;
      return end;
    },
  };
  const text = Array.from({ length: 100 }, (_, i) => `data: ${vllm(`"t${i}"`)}\n\n`).join('');
  expect(parse([Buffer.from(text)], counting)).toMatchObject({ events: 100, content_events: 100 });
  expect(matched).toBe(99);
});

const text = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'a',
      ' the',
      '',
      '你好',
      '🙂',
      'x"y',
      '\n',
      '\\',
      '\u2028',
      '","content":"z',
      '{}',
    ),
  },
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const count = fc.oneof(fc.nat({ max: 999 }), fc.constantFrom(0, -1, 1.5, 1e21, 2 ** 53, null, '7'));
const usage = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.constantFrom(undefined, null, { cached_tokens: 3 }),
  }),
);
const delta = fc.oneof(
  { weight: 4, arbitrary: fc.record({ content: text }) },
  fc.record({ role: fc.constant('assistant'), content: text }),
  fc.record({ content: fc.constantFrom(null, '', 5, [{ text: 'p' }]), reasoning_content: fc.option(text) }),
  fc.record({ reasoning: text, content: fc.constantFrom(undefined, null, 'c') }),
  fc.record({
    content: text,
    tool_calls: fc.constantFrom(null, [], [{ index: 0, function: { name: 'f' } }]),
  }),
  fc.record({ nested: fc.record({ content: text, delta: fc.record({ content: text }) }), content: text }),
);
const finish = fc.constantFrom(null, null, null, null, undefined, 'stop', '');
const choice = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      index: fc.constantFrom(0, 0, 0, undefined, 1),
      delta,
      finish_reason: finish,
      logprobs: fc.constant(null),
    }),
  },
  fc.record({ text, index: fc.constant(0), finish_reason: finish }),
  fc.record({ text, delta, message: fc.record({ content: text }) }, { requiredKeys: [] }),
);
const payload = fc
  .record(
    {
      id: text,
      object: fc.constantFrom('chat.completion.chunk', 'chat.completion.chunk', 'error'),
      created: count,
      choices: fc.oneof({ weight: 6, arbitrary: fc.tuple(choice) }, fc.array(choice, { maxLength: 2 })),
      usage,
      error: fc.constantFrom(undefined, undefined, undefined, null, 'boom'),
      at_ns: text,
    },
    { requiredKeys: ['choices'] },
  )
  .chain((value) =>
    fc
      .shuffledSubarray(Object.keys(value), { minLength: Object.keys(value).length })
      .map((keys) => Object.fromEntries(keys.map((key) => [key, (value as Record<string, unknown>)[key]]))),
  );

/** Changes to the text of an event that a server may make, or a broken one. */
const mutation = fc.constantFrom<(json: string) => string>(
  (json) => json,
  (json) => json,
  (json) => json.replace('"content"', '"con\\u0074ent"'),
  (json) => json.replace(':"', ':"\\u0041'),
  (json) => json.replaceAll(':', ' : '),
  (json) => json.replace('}', ',"content":"twice"}'),
  (json) => json.replace('{', '{"choices":[],'),
  (json) => json.replace('{', '{"":{"choices":[{"delta":{"content":"n"}}]},'),
  (json) => json.replace(/\d/, '07'),
  (json) => json.slice(0, -1),
  (json) => json.replace('a', '\u0001'),
  (json) => ` ${json} `,
);
const framed = fc.record({
  field: fc.constantFrom('data: ', 'data: ', 'data:', 'data:  ', 'event: error\ndata: ', ': c\ndata: '),
  end: fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n', '\n\r\n'),
});
const event = fc
  .tuple(payload, mutation, framed)
  .map(([value, mutate, { field, end }]) => `${field}${mutate(JSON.stringify(value))}${end}`);
/** Streams that repeat their forms, as servers' do: few forms, each several times with other texts. */
const stream = fc
  .array(fc.tuple(event, fc.array(text, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 6 })
  .map((forms) =>
    forms
      .flatMap(([form, texts]) => [
        form,
        ...texts.map((t) => form.replace(/"content":"[^"]*"/, `"content":${JSON.stringify(t)}`)),
        form.replace(/\d+/, '12'),
      ])
      .join(''),
  );

describe('the byte scan', () => {
  const runs = Number(process.env['PERWATT_FULL'] ?? 0) > 0 ? 20_000 : 1000;
  const shared = createTemplates();

  property.prop([stream, fc.array(fc.nat(), { maxLength: 6 })], { seed: 3, numRuns: runs })(
    'gives what JSON gives, alone, with what other streams taught it, and however the stream is cut',
    (bytesOf, cuts) => {
      const bytes = Buffer.from(bytesOf);
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
      const reads = ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
      const slow = parse(reads, blind);
      expect(parse(reads, createTemplates())).toEqual(slow);
      expect(parse(reads, shared)).toEqual(slow);
    },
  );
});
