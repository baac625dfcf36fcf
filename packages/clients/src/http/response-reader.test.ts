import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { createResponseReader, type ResponseReader } from './response-reader.js';

interface Read {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly over: boolean;
  readonly reusable: boolean;
  readonly endsWithConnection: boolean;
  readonly fault: string | null;
}

/** What a reader makes of one response that comes in these reads. */
function read(reader: ResponseReader, reads: readonly Uint8Array[]): Read {
  reader.begin();
  const seen = { status: null as number | null, headers: {}, body: '', over: false, reusable: false };
  let fault: string | null = null;
  for (const each of reads) {
    const bytes = Buffer.from(each);
    fault = reader.push(bytes);
    const { head, start, end, over, reusable } = reader.found;
    if (head !== null) Object.assign(seen, { status: head.status, headers: { ...head.headers } });
    seen.body += bytes.toString('latin1', start, end);
    Object.assign(seen, { over, reusable });
    if (fault !== null || over) break;
  }
  return { ...seen, fault, endsWithConnection: reader.endsWithConnection };
}

const bytewise = (text: string) => Array.from(Buffer.from(text, 'latin1'), (byte) => Uint8Array.of(byte));
const whole = (text: string) => [Buffer.from(text, 'latin1')];
const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
const kept = { over: true, reusable: true, fault: null };

// biome-ignore format: a table is read in columns
const responses: readonly (readonly [text: string, expected: Partial<Read>, why: string])[] = [
  [`${ok}Content-Length: 3\r\nX-A:  v \r\n\r\nabc`,             { ...kept, status: 200, body: 'abc', headers: { 'content-length': '3', 'x-a': 'v' } }, 'a body of a stated length'],
  [`${ok}Content-Length: 0\r\n\r\n`,                            { ...kept, body: '' },                           'an empty one'],
  [`${chunked}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,                { ...kept, body: 'abcde' },                      'a body in chunks'],
  [`${chunked}0A;x=1\r\n0123456789\r\n1 \r\n!\r\n0\r\nT: 1\r\nU: 2\r\n\r\n`, { ...kept, body: '0123456789!' },      'extensions, spaces and trailers'],
  [`${chunked}0\r\n\r\n`,                                       { ...kept, body: '' },                           'no chunk at all'],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n', { ...kept, status: 204 }, 'heads on the way, and a status without a body'],
  ['HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',    { ...kept, status: 304, body: '' },              'a length that tells of another body'],
  [`${ok}Connection: close\r\nContent-Length: 1\r\n\r\na`,      { over: true, reusable: false, body: 'a' },      'the server will close'],
  ['HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na',             { over: true, reusable: false, body: 'a' },      'an old server closes'],
  ['HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na', { ...kept, body: 'a' },             'unless it says that it will not'],
  [`${ok}\r\nabc`,                                              { over: false, endsWithConnection: true, body: 'abc' }, 'the close is the end'],
  [`${ok}Content-Length: 9\r\n\r\nabc`,                         { over: false, endsWithConnection: false, body: 'abc' }, 'not all of it came'],
  ['HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na',                { ...kept, body: 'a' },                          'a status without words'],
  [`${ok}Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n`, { headers: { 'set-cookie': 'a', 'content-length': '0' } }, 'the first of several'],
  ['SSH-2.0-x\r\n\r\n',                                         { fault: 'not_http' },                           'another protocol'],
  ['HTTP/2 200 OK\r\n\r\n',                                     { fault: 'not_http' },                           'another version'],
  ['HTTP/1.1 OK\r\n\r\n',                                       { fault: 'not_http' },                           'no status'],
  [`${ok}no header\r\n\r\n`,                                    { fault: 'not_http' },                           'a line that is no header'],
  [`${ok}Content-Length: -1\r\n\r\n`,                           { fault: 'not_http' },                           'no length'],
  [`${chunked}zz\r\nabc`,                                       { fault: 'not_http', body: '' },                 'no size'],
  [`${chunked}3\r\nabcd\r\n`,                                   { fault: 'not_http', body: 'abc' },              'a chunk longer than it says'],
  [`${chunked}\r\n\r\n`,                                        { fault: 'not_http' },                           'a size without digits'],
  [`${chunked}fffffffffffffffff\r\n`,                           { fault: 'not_http' },                           'a size that no number holds'],
  [`${chunked}3\rabc`,                                          { fault: 'not_http' },                           'half an end of line'],
  [`${ok}X: ${'x'.repeat(70_000)}`,                             { fault: 'headers_too_large' },                  'headers without an end'],
];

describe('a response', () => {
  test.each(responses)('%#: %s gives what it holds (%s, %s)', (text, expected) => {
    const reader = createResponseReader();
    const found = read(reader, whole(text));
    expect(found).toMatchObject(expected);
    if (text.length < 1000) expect(read(reader, bytewise(text))).toEqual(found);
  });

  test('with bytes behind it leaves no connection to use', () => {
    const text = `${ok}Content-Length: 1\r\n\r\nab`;
    expect(read(createResponseReader(), whole(text))).toMatchObject({
      over: true,
      reusable: false,
      body: 'a',
    });
  });

  test('is followed by another, heads that are known already included', () => {
    const known = new Map();
    for (let i = 0; i < 200; i++) {
      const text = `${ok}X: ${i % 100}\r\nContent-Length: 2\r\n\r\n${String(i % 90).padStart(2, '0')}`;
      const found = read(createResponseReader(known), whole(text));
      expect(found).toMatchObject({ ...kept, body: text.slice(-2) });
    }
    expect(known.size).toBeLessThanOrEqual(64);
  });
});

const pieces = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }), { maxLength: 8 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

test.prop([pieces, cuts], { seed: 5 })('is the same however it is cut', (texts, places) => {
  const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');
  const text = `${chunked}${chunks}0\r\n\r\n`;
  const ends = [...places.map((place) => place % text.length), text.length].sort((a, b) => a - b);
  const reads = ends.map((end, i) => Buffer.from(text.slice(ends[i - 1] ?? 0, end), 'latin1'));
  expect(read(createResponseReader(), reads)).toMatchObject({ ...kept, body: texts.join('') });
});

test.prop([fc.uint8Array({ maxLength: 300 }), fc.boolean()], { seed: 6 })(
  'any bytes are read to their end, whole or one by one',
  (bytes, headed) => {
    const text = `${headed ? chunked : ''}${Buffer.from(bytes).toString('latin1')}`;
    const found = read(createResponseReader(), whole(text));
    const slowly = read(createResponseReader(), bytewise(text));
    expect({ ...slowly, reusable: null }).toEqual({ ...found, reusable: null });
  },
);
