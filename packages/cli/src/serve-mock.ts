import { resolve } from 'node:path';
import {
  type MockFailure,
  type MockServerOptions,
  parseMockDelay,
  parseMockFailure,
  startMockServer,
} from '@perwatt/clients';
import { PerwattError } from '@perwatt/core';
import { aborted } from './aborted.js';
import type { Io } from './io.js';

/** The options of `perwatt serve` that are the mock's. */
export interface MockFlags {
  readonly name?: string;
  readonly host: string;
  readonly port: number;
  readonly ttftMs?: string;
  readonly tpotMs?: string;
  readonly tokens?: number;
  readonly tokensPerEvent?: number;
  readonly slots?: number;
  readonly fail?: readonly string[];
  readonly seed?: number;
  readonly log?: string;
}

/** What the options say of a mock server. Throws `INPUT_INVALID` naming what is wrong. */
export function mockOptions(flags: MockFlags): MockServerOptions {
  const { name, tokens, slots, seed, log, tokensPerEvent, ttftMs, tpotMs } = flags;
  return {
    host: flags.host,
    port: flags.port,
    failures: failuresOf(flags.fail ?? []),
    ...(name === undefined ? {} : { model: name }),
    ...(ttftMs === undefined ? {} : { ttft: parseMockDelay(ttftMs) }),
    ...(tpotMs === undefined ? {} : { tpot: parseMockDelay(tpotMs) }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(tokensPerEvent === undefined ? {} : { tokens_per_event: tokensPerEvent }),
    ...(slots === undefined ? {} : { slots }),
    ...(seed === undefined ? {} : { seed }),
    ...(log === undefined ? {} : { log }),
  };
}

function failuresOf(texts: readonly string[]): Partial<Record<MockFailure, number>> {
  const failures = Object.fromEntries(texts.map(parseMockFailure));
  const sum = Object.values(failures).reduce((total, rate) => total + rate, 0);
  if (sum > 1 + 1e-9)
    throw new PerwattError('INPUT_INVALID', `the rates of the failures sum to ${sum}, which is more than 1`);
  return failures;
}

/** Serves the mock until it is told to stop, or has died as it was told to. */
export async function serveMock(options: MockServerOptions, json: boolean, io: Io): Promise<void> {
  const { log } = options;
  const mock = await startMockServer(log === undefined ? options : { ...options, log: resolve(io.cwd, log) });
  if (json) io.print(JSON.stringify({ url: mock.url, pid: mock.pid }));
  else io.print(`serving made-up answers at ${mock.url}; Ctrl-C ends it`);
  await Promise.race([aborted(io.signal), mock.ended]);
  await mock.close();
}
