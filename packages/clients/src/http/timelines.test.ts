import {
  chatChunk,
  deliver,
  greedyRequest,
  manualClock,
  sseDone,
  sseEvent,
  watchedClock,
} from '@perwatt/test-kit';
import { describe, expect, test } from 'vitest';
import { finish, start, token, usage } from './scripted-answers.fixture.js';

describe('timelines', () => {
  type Timeline = readonly (readonly [at_ms: number, bytes: string])[];

  /** Plays a timeline (ms after dispatch) and gives the record with its times in ms after dispatch. */
  async function play(timeline: Timeline) {
    const manual = manualClock();
    const clock = watchedClock(manual);
    let now = 0;
    const { call } = await start(
      async (exchange) => {
        const segments = timeline.map(([at_ms, bytes]) => ({
          bytes,
          before: () => {
            manual.advance(Math.round((at_ms - now) * 1e6));
            now = at_ms;
          },
        }));
        await deliver(exchange, clock, segments);
        exchange.end();
      },
      { clock },
    );
    const record = await call({ sampling: { ...greedyRequest.sampling, max_tokens: 100 } });
    const { dispatch_ns, first_any_ns, first_content_ns, last_content_ns, done_ns, end_ns } = record.stamps;
    const ms = (at: bigint | null) => (at === null ? null : Number(at - dispatch_ns) / 1e6);
    const [first, last] = [ms(first_any_ns), ms(last_content_ns)];
    return {
      status: record.status,
      n: record.n_tokens,
      ttft_any: first,
      ttft_content: ms(first_content_ns),
      last,
      tpot:
        first === null || last === null || !record.n_tokens ? null : (last - first) / (record.n_tokens - 1),
      icl: record.icl_ns.map((gap) => gap / 1e6),
      per_token: record.icl_ns.map((gap, i) => gap / 1e6 / (record.event_tokens?.[i + 1] ?? Number.NaN)),
      done: ms(done_ns),
      end: ms(end_ns),
    };
  }

  const steps = (count: number, from: number, gap: number, make: (i: number) => string): Timeline =>
    Array.from({ length: count }, (_, i) => [from + i * gap, make(i)]);
  const reasoning = (name: string) => () => chatChunk({ [name]: 'x' });

  // biome-ignore format: a table is read in columns
  test.each<[name: string, timeline: Timeline, expected: object]>([
    ['a role is no token',
      [[0, chatChunk({ role: 'assistant', content: '' })], [900, token('a')], [910, token('b')], [911, finish]],
      { ttft_any: 900, ttft_content: 900, icl: [10] }],
    ['reasoning counts as a first token, but not as content',
      [...steps(20, 100, 10, reasoning('reasoning_content')), [300, finish], [301, usage(20)], [302, sseDone]],
      { ttft_any: 100, ttft_content: null, n: 20, last: 290 }],
    ['reasoning under its other name',
      [...steps(10, 500, 10, reasoning('reasoning')), [600, token('a')], [601, finish + usage(11) + sseDone]],
      { ttft_any: 500, ttft_content: 600, tpot: 10, n: 11 }],
    ['a late usage block does not move the end of the tokens',
      [[100, token('a')], [110, token('b')], [120, token('c')], [120, finish], [420, usage(3)], [421, sseDone]],
      { last: 120, tpot: 10, done: 421, end: 421 }],
    ['tokens that came are counted, not those asked for',
      [...steps(10, 200, 10, () => token('x')), [291, finish], [292, sseDone]],
      { n: 10, tpot: 10 }],
    ['a chunk of several tokens is one gap',
      [...steps(8, 100, 12.8, (i) => sseEvent({ choices: [{ delta: { content: 'abcd' } }], usage: { prompt_tokens: 5, completion_tokens: 4 * (i + 1) } })), [200, finish + sseDone]],
      { icl: Array(7).fill(12.8), per_token: Array(7).fill(3.2), n: 32, tpot: 89.6 / 31 }],
    ['the time per token leaves out the first token',
      [[500, token('a')], [540, token('b')], [580, token('c')], [580, finish], [590, usage(12)], [590, sseDone]],
      { tpot: 80 / 11, icl: [40, 40] }],
    ['no content at all',
      [[5, chatChunk({ role: 'assistant' })], [6, finish], [7, sseDone]],
      { status: 'ok', ttft_any: null, ttft_content: null, last: null, tpot: null, icl: [] }],
  ])('%s', async (_, timeline, expected) => {
    expect(await play(timeline)).toMatchObject({ status: 'ok', ...expected });
  });
});

describe('one read', () => {
  test('has one stamp, whatever it brings', async () => {
    const clock = watchedClock();
    const { call } = await start(
      async (exchange) => {
        await deliver(exchange, clock, [
          { bytes: token('a') },
          { bytes: token('b') + token('c') + finish + sseDone },
        ]);
        exchange.end();
      },
      { clock },
    );
    const { stamps, icl_ns, reads, bytes_in } = await call();
    expect(reads).toBe(2);
    expect(bytes_in).toBe([token('a'), token('b'), token('c'), finish, sseDone].join('').length);
    expect(stamps.last_content_ns).toBe(stamps.done_ns);
    expect(icl_ns).toEqual([Number(stamps.last_content_ns! - stamps.first_any_ns!), 0]);
  });

  test('is one, however many chunks of the transfer it holds', async () => {
    const { call } = await start((exchange) => {
      const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
      const chunks = [token('a'), token('b'), finish, sseDone].map(chunk).join('');
      exchange.raw(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
      );
    });
    const { status, reads, icl_ns, stamps } = await call();
    expect({ status, reads, icl_ns }).toEqual({ status: 'ok', reads: 1, icl_ns: [0] });
    expect([stamps.headers_ns, stamps.first_any_ns, stamps.end_ns]).toEqual(
      Array(3).fill(stamps.last_content_ns),
    );
  });
});
