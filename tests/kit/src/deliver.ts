import type { Instant } from '@perwatt/core';
import type { WatchedClock } from './clocks.js';
import type { MockExchange } from './mock-openai-server.js';

/** One part of a body, and what happens just before it is sent. */
export interface Segment {
  readonly bytes: string | Uint8Array;
  readonly before?: () => void;
}

/**
 * Sends each segment only when the client has read the one before, so that a segment is one read of the client.
 *
 * @param clock the client's clock
 * @returns the client's stamp of each segment; shorter than `segments` when the client went away
 */
export async function deliver(
  exchange: MockExchange,
  clock: WatchedClock,
  segments: readonly Segment[],
): Promise<Instant[]> {
  await stamped(exchange, clock, async () => exchange.head());
  const stamps: Instant[] = [];
  for (const { bytes, before } of segments) {
    before?.();
    const at = await stamped(exchange, clock, () => exchange.write(bytes));
    if (at === null) break;
    stamps.push(at);
  }
  return stamps;
}

async function stamped(
  exchange: MockExchange,
  clock: WatchedClock,
  send: () => Promise<void>,
): Promise<Instant | null> {
  const read = clock.next();
  await send();
  return Promise.race([read, exchange.gone.then(() => null)]);
}
