import { startMockServer } from '@perwatt/clients';
import type { Clock } from '@perwatt/core';
import { calibrateClient, type LoadRowArrays } from '@perwatt/harness';
import { quantile } from '@perwatt/metrics';
import type { LoadTarget } from './replay-thread-messages.js';
import { loadThreads } from './replay-threads.js';

export interface CheckInput {
  readonly workers: number;
  readonly target: LoadTarget;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const CHECK_S = 1.5;

/**
 * Calls a second that this client can send and read: tried with calls of median length against a server on this machine that
 * takes no time. Null when nothing came back.
 */
export async function checkClient(rows: LoadRowArrays, input: CheckInput): Promise<number | null> {
  const mock = await startMockServer();
  try {
    return await calibrateClient({
      input_tokens: quantile(rows.input_tokens, 0.5) ?? 1,
      output_tokens: quantile(rows.output_tokens, 0.5) ?? 1,
      workers: input.workers,
      openWorker: loadThreads({ ...input.target, url: mock.url, api_key: null }),
      clock: input.clock,
      seconds: CHECK_S,
      signal: input.signal,
    });
  } finally {
    await mock.close();
  }
}
