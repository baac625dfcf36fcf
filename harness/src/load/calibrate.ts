import { type Clock, instant } from '@perwatt/core';
import { pause } from '../deps.js';
import { dealLoad } from './deal.js';
import { sharedRows } from './load-rows.js';
import { counterNames, type LoadWork } from './load-worker.js';
import type { OpenLoadWorker } from './replay-run.js';

export interface CalibrationOptions {
  /** Length of a typical prompt and answer of the load, tokens. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly workers: number;
  /** Workers whose target is a server on this machine that takes no time. */
  readonly openWorker: OpenLoadWorker;
  readonly clock: Clock;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Calls in flight for each worker: enough that it never waits for a server. */
const CONCURRENCY = 32;
const MOST_CALLS = 200_000;
/** The first part is spent on connections and on code that is not compiled yet. */
const WARM_SHARE = 0.4;

/** Calls a second that this client can send and read, with all its workers at it; null when nothing came back. */
export async function calibrateClient(options: CalibrationOptions): Promise<number | null> {
  const { workers, clock, signal } = options;
  const rows = { ...sharedRows(MOST_CALLS), due_ns: new Float64Array(), blocks: null };
  rows.input_tokens.fill(options.input_tokens);
  rows.output_tokens.fill(Math.max(1, options.output_tokens));
  for (let i = 0; i < MOST_CALLS; i++) rows.row[i] = i;
  const cursor = new Int32Array(new SharedArrayBuffer(4));
  const concurrency = CONCURRENCY * workers;
  const works = dealLoad(workers, concurrency).map(
    (share): LoadWork => ({
      rows,
      share,
      workers,
      closed: { concurrency, ramp_s: 0 },
      cursor,
      counters: new Int32Array(new SharedArrayBuffer(4 * counterNames.length)),
      model: 'mock',
      api: 'chat',
      gaps: false,
      connections: CONCURRENCY,
    }),
  );
  let ended = 0;
  const threads = works.map((work) =>
    options.openWorker(work, ({ length, status }) => {
      const ok = status.names.indexOf('ok');
      for (let i = 0; i < length; i++) if (status.indices[i] === ok) ended += 1;
    }),
  );
  await Promise.all(threads.map(({ ready }) => ready));
  const running = threads.map((thread) => thread.run(instant(clock.now())));
  await pause(options.seconds * 1000 * WARM_SHARE, signal);
  const [before, since] = [ended, clock.now()];
  await pause(options.seconds * 1000 * (1 - WARM_SHARE), signal);
  const [counted, length] = [ended - before, Number(clock.now() - since)];
  for (const thread of threads) thread.stop();
  await Promise.all(running);
  return counted === 0 || signal.aborted ? null : (counted / length) * 1e9;
}
