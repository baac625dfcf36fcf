import type { Clock, Instant, LoadColumns, LoadEngine, LoadEngineNeeds } from '@perwatt/core';
import { slotTimes, startClosedLoop } from './closed-loop.js';
import type { Share } from './deal.js';
import { droppedColumns } from './dropped-columns.js';
import type { LoadRowArrays } from './load-rows.js';
import { type PaceCounts, type Pacer, startPacer } from './pacer.js';
import { syntheticPrompt } from './synthetic-prompt.js';
import { type DroppedTurn, type TurnFact, type TurnPlay, type TurnShare, turnShare } from './turn-share.js';

/** What one worker of a load is told. Arrays lie in shared memory. */
export interface LoadWork {
  readonly rows: LoadRowArrays;
  readonly share: Share;
  readonly workers: number;
  /** Slots and ramp of a closed loop; null for an open one. */
  readonly closed: { readonly concurrency: number; readonly ramp_s: number } | null;
  /** Number of the next call of a closed loop, for all workers. */
  readonly cursor: Int32Array;
  /** Counts of this worker, by `counterNames`. */
  readonly counters: Int32Array;
  readonly model: string;
  readonly api: 'chat' | 'completion';
  /** Whether to keep the gaps between deltas of each call. */
  readonly gaps: boolean;
  /** Most connections of this worker. */
  readonly connections: number;
  /** How conversations and texts of the rows are played; absent where they are left alone. */
  readonly turns?: TurnPlay | null;
}

/** Counts that a worker keeps up to date for whoever looks. */
export const counterNames = ['sent', 'waited', 'most_in_flight'] as const;

/** What a worker does besides sending. */
export interface LoadWorkerParts {
  readonly clock: Clock;
  readonly openEngine: (needs: LoadEngineNeeds) => LoadEngine;
  /** Takes calls that ended, some at a time, and of loads with conversations or texts what else is known of them. */
  readonly onCalls: (columns: LoadColumns, facts: readonly TurnFact[] | null) => void;
  readonly signal: AbortSignal;
}

/** How often ended calls are handed over: by number, or after this time. */
const HAND_OVER_CALLS = 4096;
const HAND_OVER_MS = 250;

/** Sends a worker's share of a load from `zero` on, and resolves when every call of it has ended or was given up. */
export async function runLoadShare(
  work: LoadWork,
  zero: Instant,
  parts: LoadWorkerParts,
): Promise<PaceCounts> {
  const { clock, signal } = parts;
  let settle = () => {};
  let [allSent, closing] = [false, false];
  const idle = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const handOver = () => {
    if (closing || engine.ended === 0) return;
    const columns = engine.drain();
    parts.onCalls(work.gaps ? columns : withoutGaps(columns), turns?.facts(columns.row) ?? null);
  };
  const turns = turnShare(work);
  const drop = (turn: DroppedTurn) => {
    const columns = droppedColumns(turn, clock.now());
    parts.onCalls(columns, turns?.facts(columns.row) ?? null);
  };
  let inFlight = 0;
  const engine = parts.openEngine({
    connections: work.connections,
    onEnded(call) {
      inFlight -= 1;
      turns?.ended(call);
      pacer.ended(call.row);
      if (engine.ended >= HAND_OVER_CALLS) handOver();
      if (allSent && inFlight === 0) settle();
    },
  });
  const send = (index: number, due_ns: bigint | null) => {
    inFlight += 1;
    const body = bodyOf(work, index, turns);
    engine.send({ row: index, due_ns, body, ...(turns?.keepsText(index) ? { keep_text: true } : {}) });
  };
  const pacer = turns?.pace({ zero, clock, send, drop }) ?? pace(work, { zero, clock, send });
  const looking = setInterval(() => {
    handOver();
    tell(work, pacer);
  }, HAND_OVER_MS);
  const stop = () => {
    pacer.stop();
    settle();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await pacer.sent;
  allSent = true;
  if (inFlight > 0) await idle;
  clearInterval(looking);
  handOver();
  closing = true;
  await engine.close();
  tell(work, pacer);
  return pacer.counts();
}

interface Pace {
  readonly zero: Instant;
  readonly clock: Clock;
  readonly send: (index: number, due_ns: bigint | null) => void;
}

function pace(work: LoadWork, { zero, clock, send }: Pace): Pacer {
  const { rows, share, closed, cursor } = work;
  if (closed === null) return startPacer({ due_ns: rows.due_ns, ...share, zero, clock, send });
  const total = rows.row.length;
  return startClosedLoop({
    opens_ns: slotTimes(closed.concurrency, {
      worker: share.worker,
      workers: work.workers,
      ramp_s: closed.ramp_s,
    }),
    zero,
    clock,
    take() {
      const index = Atomics.add(cursor, 0, 1);
      return index < total ? index : null;
    },
    send: (index) => send(index, null),
  });
}

function bodyOf({ rows, model, api }: LoadWork, index: number, turns: TurnShare | null): string {
  const max_tokens = rows.output_tokens[index] ?? 0;
  const asked = JSON.stringify({
    model,
    ...(max_tokens === 0 ? {} : { max_tokens }),
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
  const question = turns?.question(index) ?? madeUp(rows, api, index);
  return `${asked.slice(0, -1)},${question}}`;
}

function madeUp({ row, input_tokens, blocks }: LoadRowArrays, api: LoadWork['api'], index: number): string {
  const prompt = syntheticPrompt({
    row: row[index] ?? 0,
    tokens: input_tokens[index] ?? 0,
    hash_ids: blocks?.ids.subarray(blocks.offsets[index], blocks.offsets[index + 1]) ?? null,
    block_tokens: blocks?.block_tokens ?? 0,
  });
  const text = JSON.stringify(prompt);
  return api === 'chat' ? `"messages":[{"role":"user","content":${text}}]` : `"prompt":${text}`;
}

const place = Object.fromEntries(counterNames.map((name, i) => [name, i])) as Record<
  (typeof counterNames)[number],
  number
>;

function tell({ counters }: LoadWork, pacer: Pacer): void {
  const { sent, waited, most_in_flight } = pacer.counts();
  Atomics.store(counters, place.sent, sent);
  Atomics.store(counters, place.waited, waited);
  Atomics.store(counters, place.most_in_flight, most_in_flight);
}

function withoutGaps(columns: LoadColumns): LoadColumns {
  const { length } = columns;
  const none = {
    offsets: new Int32Array(length + 1),
    values: new Float64Array(),
    valid: new Uint8Array(length),
  };
  return { ...columns, icl_ns: none, ...('event_tokens' in columns ? { event_tokens: none } : {}) };
}
