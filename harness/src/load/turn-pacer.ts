import { type Instant, instant } from '@perwatt/core';
import { eventLoopTimer, type Pacer, type PacerOptions } from './pacer.js';
import { createTurnQueue, type DueTurn, type TurnQueueOptions } from './turn-queue.js';

export interface TurnPacerOptions
  extends TurnQueueOptions,
    Pick<PacerOptions, 'zero' | 'clock' | 'cap' | 'timer'> {
  readonly send: (turn: DueTurn, sched_ns: Instant) => void;
  readonly drop: (turn: DueTurn, sched_ns: Instant) => void;
}

const TURN_CALLS = 256;
const LONGEST_WAIT_MS = 60_000;

/**
 * Sends the turns of conversations when their times have come, as `startPacer` does with calls that depend on nothing: one
 * timer, everything that is due at once, slots below the cap taken when a turn goes out.
 */
export function startTurnPacer(options: TurnPacerOptions): Pacer {
  const { zero, clock, cap, send, drop, timer = eventLoopTimer } = options;
  const most = cap ?? Number.POSITIVE_INFINITY;
  const queue = createTurnQueue(options);
  const now = () => Number(clock.now() - zero);
  /** Turns that had to wait for a free place. */
  let line: DueTurn[] = [];
  let [inFlight, sent, waited, most_in_flight] = [0, 0, 0, 0];
  let [stopped, queued] = [false, false];
  let cancel = () => {};
  let resolve = () => {};
  const done = new Promise<void>((settle) => {
    resolve = settle;
  });

  const stampOf = ({ due_ns }: DueTurn) => instant(zero + BigInt(Math.round(due_ns)));
  const sendTurn = (turn: DueTurn) => {
    sent += 1;
    inFlight += 1;
    most_in_flight = Math.max(most_in_flight, inFlight);
    send(turn, stampOf(turn));
  };
  const takeTurn = (turn: DueTurn) => {
    if (turn.drop) return drop(turn, stampOf(turn));
    if (inFlight < most) return sendTurn(turn);
    waited += 1;
    line.push(turn);
  };
  const later = () => {
    if (queued || stopped) return;
    queued = true;
    timer.soon(() => {
      queued = false;
      drain();
    });
  };
  const serveLine = () => {
    const free = Math.max(0, most - inFlight);
    const going = line.slice(0, free);
    if (going.length > 0) line = line.slice(going.length);
    for (const turn of going) sendTurn(turn);
  };
  /** False when the turn of the event loop is over before everything due was taken. */
  const takeDue = (): boolean => {
    for (let turn = 0; turn < TURN_CALLS; turn++) {
      const due = queue.take(now());
      if (due === null) return true;
      takeTurn(due);
    }
    return false;
  };
  const drain = () => {
    cancel();
    cancel = () => {};
    if (stopped) return;
    serveLine();
    if (!takeDue()) return later();
    if (queue.done() && line.length === 0) return resolve();
    const wait_ns = queue.nextTime() - now();
    if (Number.isFinite(wait_ns))
      cancel = timer.after(Math.min(Math.max(0, wait_ns) / 1e6, LONGEST_WAIT_MS), drain);
  };
  later();
  return {
    sent: done,
    ended(index) {
      inFlight -= 1;
      if (index !== undefined) queue.ended(index, now());
      later();
    },
    counts: () => ({ sent, waited, most_in_flight }),
    stop() {
      stopped = true;
      cancel();
      resolve();
    },
  };
}
