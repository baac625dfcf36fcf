import { instant } from '@perwatt/core';
import { expect, test } from 'vitest';
import { slotTimes, startClosedLoop } from './closed-loop.js';
import { dealLoad } from './deal.js';
import { manualTimer } from './manual-timer.fixture.js';
import { startPacer } from './pacer.js';
import { drawSchedule } from './schedule.js';

interface Sent {
  readonly index: number;
  readonly at_ms: number;
  readonly lag_ms: number;
}

interface Trial {
  readonly due_ms: readonly number[];
  readonly cap: number | null;
  /** Time a call takes. */
  readonly call_ms: number;
  readonly until_ms?: number;
}

/** Paces calls on a clock of its own, each of which ends after `call_ms`. */
function trial({ due_ms, cap, call_ms, until_ms = 100_000 }: Trial) {
  const world = manualTimer();
  const sent: Sent[] = [];
  const pacer = startPacer({
    due_ns: Float64Array.from(due_ms, (ms) => ms * 1e6),
    zero: instant(0n),
    clock: world.clock,
    timer: world.timer,
    cap,
    send(index, sched_ns) {
      const at_ms = world.now() / 1e6;
      sent.push({ index, at_ms, lag_ms: at_ms - Number(sched_ns) / 1e6 });
      world.atMs(at_ms + call_ms, () => pacer.ended());
    },
  });
  world.runToMs(until_ms);
  return { sent, counts: pacer.counts() };
}

test('every call goes out when it is due, ties in order', () => {
  const { sent, counts } = trial({ due_ms: [0, 0, 10, 10, 25.5], cap: null, call_ms: 1000 });
  expect(sent).toEqual([
    { index: 0, at_ms: 0, lag_ms: 0 },
    { index: 1, at_ms: 0, lag_ms: 0 },
    { index: 2, at_ms: 10, lag_ms: 0 },
    { index: 3, at_ms: 10, lag_ms: 0 },
    { index: 4, at_ms: 25.5, lag_ms: 0 },
  ]);
  expect(counts).toEqual({ sent: 5, waited: 0, most_in_flight: 5 });
});

test('a cap makes calls wait: the wait is lag, is counted, and the schedule does not move', () => {
  const due_ms = Array.from({ length: 8 }, (_, i) => i * 100);
  const { sent, counts } = trial({ due_ms, cap: 1, call_ms: 500 });
  expect(sent.map(({ lag_ms }) => lag_ms)).toEqual([0, 400, 800, 1200, 1600, 2000, 2400, 2800]);
  expect(counts).toEqual({ sent: 8, waited: 7, most_in_flight: 1 });
});

test('a slot is taken when a call is due, not before', () => {
  const { sent, counts } = trial({ due_ms: [0, 1000, 1001, 1002], cap: 2, call_ms: 999 });
  expect(sent.map(({ at_ms }) => at_ms)).toEqual([0, 1000, 1001, 1999]);
  expect(counts.waited).toBe(1);
});

test('a backlog is sent in turns and none of it is lost', () => {
  const { sent } = trial({ due_ms: Array.from({ length: 1000 }, () => 5), cap: null, call_ms: 1 });
  expect(sent.map(({ index }) => index)).toEqual([...Array(1000).keys()]);
});

test('a loop that was held up catches up at once, its lag counted from the schedule', () => {
  const world = manualTimer();
  const lags: number[] = [];
  startPacer({
    due_ns: Float64Array.of(0, 10e6, 20e6, 200e6),
    zero: instant(0n),
    clock: world.clock,
    timer: { ...world.timer, after: (ms, action) => world.timer.after(ms + 50, action) },
    cap: null,
    send: (_, sched) => void lags.push((world.now() - Number(sched)) / 1e6),
  });
  world.runToMs(1000);
  expect(lags).toEqual([0, 50, 40, 50]);
});

test('a stopped pacer sends nothing more', async () => {
  const world = manualTimer();
  const sent: number[] = [];
  const pacer = startPacer({
    due_ns: Float64Array.of(0, 10e6, 20e6),
    zero: instant(0n),
    clock: world.clock,
    timer: world.timer,
    cap: null,
    send: (index) => void sent.push(index),
  });
  world.runToMs(12);
  pacer.stop();
  world.runToMs(100);
  await pacer.sent;
  expect(sent).toEqual([0, 1]);
});

test.each([1, 2, 7])('%i workers send the same schedule and never exceed the cap together', (workers) => {
  const world = manualTimer();
  const { due_ns } = drawSchedule({ kind: 'poisson', rate_per_s: 200 }, { count: 400, seed: 3 });
  const sched: number[] = [];
  let [inFlight, most] = [0, 0];
  for (const share of dealLoad(workers, 5)) {
    const pacer = startPacer({
      due_ns,
      ...share,
      cap: share.cap,
      zero: instant(0n),
      clock: world.clock,
      timer: world.timer,
      send(_, at) {
        sched.push(Number(at));
        inFlight += 1;
        most = Math.max(most, inFlight);
        world.atMs(world.now() / 1e6 + 40, () => {
          inFlight -= 1;
          pacer.ended();
        });
      },
    });
  }
  world.runToMs(100_000);
  expect(sched.toSorted((a, b) => a - b)).toEqual([...due_ns]);
  expect(most).toBe(5);
});

test('a closed loop holds its slots full, opened along the ramp, and takes each call once', () => {
  const world = manualTimer();
  const sent: { index: number; at_ms: number }[] = [];
  let [cursor, inFlight, most] = [0, 0, 0];
  for (const worker of [0, 1, 2]) {
    const loop = startClosedLoop({
      opens_ns: slotTimes(4, { worker, workers: 3, ramp_s: 0.4 }),
      zero: instant(0n),
      clock: world.clock,
      timer: world.timer,
      take: () => (cursor < 12 ? cursor++ : null),
      send(index) {
        sent.push({ index, at_ms: world.now() / 1e6 });
        inFlight += 1;
        most = Math.max(most, inFlight);
        world.atMs(world.now() / 1e6 + 1000, () => {
          inFlight -= 1;
          loop.ended();
        });
      },
    });
  }
  world.runToMs(10_000);
  expect(sent.map(({ index }) => index)).toEqual([...Array(12).keys()]);
  expect(sent.slice(0, 5).map(({ at_ms }) => at_ms)).toEqual([0, 100, 200, 300, 1000]);
  expect(most).toBe(4);
});
