import { fc, test } from '@fast-check/vitest';
import type { LateParentPolicy } from '@perwatt/core';
import { describe, expect } from 'vitest';
import { createTurnQueue, type DueTurn } from './turn-queue.js';

interface World {
  readonly due: readonly number[];
  readonly parent: readonly number[];
  /** Time that each call takes. */
  readonly takes: readonly number[];
  readonly policy: LateParentPolicy;
  readonly think?: number;
}

type Queue = ReturnType<typeof createTurnQueue>;
type Taken = DueTurn & { readonly at: number };

/** Plays a load to its end on a clock that jumps from event to event. */
function play({ due, parent, takes, policy, think = 0 }: World): Taken[] {
  const queue = createTurnQueue({
    due_ns: Float64Array.from(due),
    own: due.map((_, i) => i),
    parent: Int32Array.from(parent),
    policy,
    think_ns: think,
  });
  const running = new Map<number, number>();
  const taken: Taken[] = [];
  let now = 0;
  for (let step = 0; !queue.done() || running.size > 0; step++) {
    if (step > 20 * due.length + 20) throw new Error('it does not come to an end');
    endCalls(queue, running, now);
    for (const turn of takenAt(queue, now)) {
      taken.push({ ...turn, at: now });
      if (!turn.drop) running.set(turn.index, now + (takes[turn.index] ?? 0));
    }
    now = Math.max(now, Math.min(queue.nextTime(), ...running.values()));
  }
  return taken;
}

function endCalls(queue: Queue, running: Map<number, number>, now: number): void {
  for (const [index, end] of running) {
    if (end > now) continue;
    running.delete(index);
    queue.ended(index, end);
  }
}

function* takenAt(queue: Queue, now: number) {
  for (let turn = queue.take(now); turn !== null; turn = queue.take(now)) yield turn;
}

const chain = { due: [0, 10, 20], parent: [-1, 0, 1], takes: [15, 2, 1] };

describe('a turn whose parent is late', () => {
  test('waits for its end and the think time, and is due then', () => {
    const turns = play({ ...chain, policy: 'wait', think: 3 });
    expect(turns.map(({ index, at, parent, late_ns }) => [index, at, parent, late_ns])).toEqual([
      [0, 0, 'none', null],
      [1, 18, 'late', 8],
      [2, 23, 'late', 3],
    ]);
    expect(turns.map(({ due_ns, at }) => due_ns - at)).toEqual([0, 0, 0]);
  });

  test('is left out with all that follow it', () => {
    const turns = play({ ...chain, policy: 'drop' });
    expect(turns.map(({ index, drop, parent }) => [index, drop, parent])).toEqual([
      [0, false, 'none'],
      [1, true, 'late'],
      [2, true, 'dropped'],
    ]);
  });

  test('is sent at its time', () => {
    const turns = play({ ...chain, policy: 'send', think: 99 });
    expect(turns.map(({ index, at, parent }) => [index, at, parent])).toEqual([
      [0, 0, 'none'],
      [1, 10, 'late'],
      [2, 20, 'ended'],
    ]);
  });
});

test('a turn whose parent had ended in time is due by the schedule', () => {
  const turns = play({ due: [0, 10], parent: [-1, 0], takes: [3, 1], policy: 'wait', think: 7 });
  expect(turns[1]).toMatchObject({ at: 10, parent: 'ended', late_ns: null });
});

test('a call that names itself or a later one as its parent begins a conversation', () => {
  const turns = play({ due: [0, 0, 5], parent: [1, 1, 0], takes: [1, 1, 1], policy: 'wait' });
  expect(turns.map(({ parent }) => parent)).toEqual(['none', 'none', 'ended']);
});

const worlds = fc.integer({ min: 1, max: 40 }).chain((n) =>
  fc.record({
    due: fc.array(fc.nat(100), { minLength: n, maxLength: n }).map((due) => due.sort((a, b) => a - b)),
    parent: fc.array(fc.integer({ min: -1, max: n }), { minLength: n, maxLength: n }),
    takes: fc.array(fc.nat(60), { minLength: n, maxLength: n }),
    policy: fc.constantFrom('wait', 'drop', 'send' as const),
    think: fc.nat(20),
  }),
);

test.prop([worlds], { numRuns: 300 })('every turn is taken once, whatever goes on from what', (world) => {
  const turns = play(world as World);
  expect(turns.map(({ index }) => index).sort((a, b) => a - b)).toEqual(world.due.map((_, i) => i));
  for (const { index, at, late_ns } of turns) {
    expect(at).toBeGreaterThanOrEqual(world.due[index] ?? 0);
    if (world.policy !== 'wait') expect(late_ns).toBeNull();
  }
});

test.prop([worlds], { numRuns: 200 })(
  'a turn that waits is never sent before its parent has ended',
  (world) => {
    const turns = play({ ...(world as World), policy: 'wait' });
    const at = new Map(turns.map((turn) => [turn.index, turn.at]));
    for (const { index } of turns) {
      const from = world.parent[index] ?? -1;
      if (from < 0 || from >= index) continue;
      const ended = (at.get(from) ?? 0) + (world.takes[from] ?? 0);
      expect(at.get(index)).toBeGreaterThanOrEqual(ended);
    }
  },
);
