import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { createSseParser, type SseEvent } from './sse.js';

const parse = (reads: readonly (string | Uint8Array)[]): SseEvent[] => {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => void events.push(event));
  for (const read of reads) parser.push(Buffer.from(read));
  parser.end();
  return events;
};
const data = (reads: readonly (string | Uint8Array)[]) => parse(reads).map((event) => event.data);

// biome-ignore format: a table is read in columns
test.each<[stream: string, expected: string[], why: string]>([
  ['data: a\n\ndata: b\n\n',         ['a', 'b'],      'two events'],
  ['data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b'],      'lines end at CRLF'],
  ['data: a\r\rdata: b\r\r',         ['a', 'b'],      'lines end at CR'],
  ['data: a\n\r\ndata: b\r\n\n',     ['a', 'b'],      'terminators may be mixed'],
  ['data: a\n\rdata: b\n\n',         ['a', 'b'],      'LF CR are two terminators'],
  ['data:a\n\n',                     ['a'],           'the blank after the colon may be missing'],
  ['data:  a\n\n',                   [' a'],          'only one blank is removed'],
  ['data:\ta\n\n',                   ['\ta'],         'and only a blank'],
  ['data: a\ndata: b\n\n',           ['a\nb'],        'data lines are joined by line feeds'],
  ['data\n\n',                       [''],            'a field without a colon has an empty value'],
  ['data\ndata\n\n',                 ['\n'],          'two of them are one line feed'],
  ['data: a:b\n\n',                  ['a:b'],         'only the first colon separates'],
  [': ping\n\ndata: a\n\n:\n\n',     ['a'],           'comments are no events'],
  ['data: a\n: ping\ndata: b\n\n',   ['a\nb'],        'a comment does not end an event'],
  ['event: x\n\ndata: a\n\n',        ['a'],           'an event without data is none'],
  ['id: 1\nretry: 5\nfoo: b\n\n',    [],              'nor are other fields'],
  ['Data: a\n data: b\ndata : c\n\n', [],             'field names are exact'],
  ['\n\n\ndata: a\n\n\n\n',          ['a'],           'extra blank lines do nothing'],
  ['\uFEFFdata: a\n\n',              ['a'],           'a byte order mark at the start is removed'],
  ['\uFEFF\uFEFFdata: a\n\n',        [],              'but only one'],
  ['data: \uFEFFa\n\n',              ['\uFEFFa'],     'and none elsewhere'],
  ['data: a\u2028b\u0085c\u000bd\n\n', ['a\u2028b\u0085c\u000bd'], 'other separators end no line'],
  ['data: a',                        ['a'],           'a pending event is dispatched at the end'],
  ['data: a\n',                      ['a'],           'also when its line is complete'],
  ['data: a\n\n: x',                 ['a'],           'a pending comment is none'],
  ['',                               [],              'nothing'],
])('%j gives %j: %s', (stream, expected) => {
  expect(data([stream])).toEqual(expected);
});

test('an event names its type and the last id, and says when the end cut it off', () => {
  expect(parse(['event: error\nid: 7\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d'])).toEqual([
    { type: 'error', id: '7', data: 'a', terminated: true },
    { type: '', id: '7', data: 'b', terminated: true },
    { type: '', id: '7', data: 'c', terminated: true },
    { type: '', id: '', data: 'd', terminated: false },
  ]);
});

test('an event is dispatched as soon as its blank line is complete', () => {
  const events: string[] = [];
  const parser = createSseParser((event) => void events.push(event.data));
  parser.push(Buffer.from('data: a\r\n'));
  expect(events).toEqual([]);
  parser.push(Buffer.from('\r'));
  expect(events).toEqual(['a']);
  parser.push(Buffer.from('\ndata: b\n\n'));
  expect(events).toEqual(['a', 'b']);
});

test('characters may be cut between reads, and broken ones become U+FFFD', () => {
  const bytes = Buffer.from('data: 你好\n\n');
  expect(data([bytes.subarray(0, 7), bytes.subarray(7)])).toEqual(['你好']);
  expect(data([Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xe4, 0xbd, 0x0a, 0x0a])])).toEqual(['\ufffd']);
});

test('a long line may come in tiny reads', () => {
  const line = Buffer.from(`data: ${'x'.repeat(200_000)}\n\n`);
  expect(data(Array.from(line, (_, i) => line.subarray(i, i + 1)))).toEqual(['x'.repeat(200_000)]);
});

/** The grammar over the whole text at once, as slow and plain as it can be. */
function oracle(text: string): string[] {
  const events: string[] = [];
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) events.push(lines.join('\n'));
    lines = [];
  };
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    if (line === '') flush();
    const [, name, value = ''] = /^([^:]*)(?::(?: ?)([\s\S]*))?$/u.exec(line) ?? [];
    if (name === 'data') lines.push(value);
  }
  flush();
  return events;
}

const piece = fc.constantFrom(
  'data: ',
  'data:',
  'data',
  'event: x',
  ': ',
  ':',
  ' ',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  '\uFEFF',
  '\u2028',
  '\u0085',
  'é',
  '你',
  '🙂',
  'id: 1',
  '{"a":1}',
  'a',
  '\0',
);
const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

describe('however a stream is cut into reads', () => {
  property.prop([stream, fc.array(fc.nat(), { maxLength: 8 })], { seed: 1 })(
    'its events are the same',
    (text, cuts) => {
      const bytes = Buffer.from(text);
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
      const reads = ends.slice(1).map((end, i) => bytes.subarray(ends[i], end));
      expect(data(reads)).toEqual(oracle(text));
    },
  );

  property.prop([stream], { seed: 2 })('byte by byte, too', (text) => {
    const bytes = Buffer.from(text);
    expect(data(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))).toEqual(oracle(text));
  });
});
