import { didYouMean, PerwattError } from '@perwatt/core';
import type { MockDelay } from './mock-delay.js';

/**
 * Ways in which the mock fails on purpose. `refuse`: the connection is reset, and new ones are refused for a moment. `reset`:
 * reset between two tokens. `hang`: no answer, the connection stays open. `stall`: the same between two tokens.
 * `slow_headers`: nothing comes for a second, then the answer. `too_many`: status 429 with
 * `Retry-After`. `error`: status 500. `html`: a web page with status 200. `bad_json`: an event that is no JSON.
 * `stream_error`: an error object between two tokens. `truncate`: an orderly end without finish reason and `[DONE]`.
 * `death`: the server ends, and all its connections with it.
 */
export const mockFailures = [
  'refuse',
  'reset',
  'hang',
  'stall',
  'slow_headers',
  'too_many',
  'error',
  'html',
  'bad_json',
  'stream_error',
  'truncate',
  'death',
] as const;
/** One of `mockFailures`. */
export type MockFailure = (typeof mockFailures)[number];

/** How a mock server answers. Everything has a default. */
export interface MockServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  /** From a request's arrival, or its turn where `slots` are taken, to its first token. Default 0. */
  readonly ttft?: MockDelay;
  /** From one event to the next. Default 0; without any delay an answer is one write. */
  readonly tpot?: MockDelay;
  /** Tokens of an answer, unless `max_tokens` is less. Default: as many as `max_tokens`, 16 where it is not said. */
  readonly tokens?: number;
  /** Tokens in each event; the last may have fewer. Default 1. */
  readonly tokens_per_event?: number;
  /** Answers written at a time; later requests wait in line. Default: all. */
  readonly slots?: number;
  /** Share of the calls that fail in each way, 0…1 in sum. */
  readonly failures?: Partial<Readonly<Record<MockFailure, number>>>;
  /** Of every random choice; the n-th request has the same luck in every run. Default 0. */
  readonly seed?: number;
  /** Name of the model. Any name is answered to. Default `mock`. */
  readonly model?: string;
  /** File that gets a line of JSON for each whole answer: `MockLogLine`. Default: none. */
  readonly log?: string;
}

/** What the mock saw of one answer, ns on the host's monotonic clock. */
export interface MockLogLine {
  /** The answer's `id`. */
  readonly id: string;
  /** Header `x-request-id` of the request, else the `user` of its body; null without either. */
  readonly request_id: string | null;
  /** Whether it was the first request of its connection. */
  readonly fresh: boolean;
  /** The whole request had arrived. */
  readonly received_ns: string;
  /** When each event with text was handed to the socket. */
  readonly sent_ns: readonly string[];
}

/** Reads `kind:rate`; a kind alone is every call. Throws `INPUT_INVALID` naming what is wrong. */
export function parseMockFailure(text: string): readonly [kind: MockFailure, rate: number] {
  const [name = '', rate = '1', ...more] = text.split(':');
  const kind = mockFailures.find((each) => each === name.trim());
  if (kind === undefined) {
    throw new PerwattError(
      'INPUT_INVALID',
      `"${name}" is not a failure of the mock${didYouMean(name, mockFailures)}`,
      {
        hint: `Name one of ${mockFailures.join(', ')}.`,
      },
    );
  }
  const share = Number(rate);
  if (more.length > 0 || !/^\d*\.?\d+$/.test(rate) || share > 1)
    throw new PerwattError('INPUT_INVALID', `"${text}" has no rate from 0 to 1`, {
      hint: 'Write for example `reset:0.01` for one call in a hundred.',
    });
  return [kind, share];
}

/** The failure that a number from 0 to 1 falls on; null for none. */
export function failureAt(failures: MockServerOptions['failures'], luck: number): MockFailure | null {
  let upTo = 0;
  for (const kind of mockFailures) {
    upTo += failures?.[kind] ?? 0;
    if (luck < upTo) return kind;
  }
  return null;
}
