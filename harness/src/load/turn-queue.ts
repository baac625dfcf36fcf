import type { LateParentPolicy } from '@perwatt/core';
import { timeQueue } from './time-queue.js';

/**
 * How a turn stood to the one it goes on from. `none`: it begins a conversation. `absent`: that one is not in this load. `ended`:
 * it had ended in time. `late`: it had not. `dropped`: it was not sent. `untracked`: calls go out whatever they go on from.
 */
export const parentStates = ['none', 'absent', 'ended', 'late', 'dropped', 'untracked'] as const;
/** One of `parentStates`. */
export type ParentState = (typeof parentStates)[number];

/** A turn whose time has come. */
export interface DueTurn {
  readonly index: number;
  /** When it was due, ns: for a turn that waited, when it could be sent. */
  readonly due_ns: number;
  readonly parent: ParentState;
  /** How much later than by the schedule it became due, ns; null where it was not held back. */
  readonly late_ns: number | null;
  /** Whether it is to be left out. */
  readonly drop: boolean;
}

export interface TurnQueueOptions {
  /** When each call is due by the schedule, ns, never falling. */
  readonly due_ns: Float64Array;
  /** Which calls are in the queue, in order. */
  readonly own: ArrayLike<number>;
  /** The call that each goes on from; -1 for none. One that does not stand before its child counts as none. */
  readonly parent: Int32Array;
  readonly policy: LateParentPolicy;
  /** From the end of a late turn to the next, ns; only where turns wait. */
  readonly think_ns: number;
}

/** Turns of conversations in the order in which their times come. */
export interface TurnQueue {
  /** The next turn whose time has come by `now_ns`; null when there is none. */
  take(now_ns: number): DueTurn | null;
  /** Tells that a call has ended, however it did. */
  ended(index: number, at_ns: number): void;
  /** When the next turn comes that waits for no other; infinity when none does. */
  nextTime(): number;
  /** Whether every turn has been taken. */
  done(): boolean;
}

const DROPPED = Number.POSITIVE_INFINITY;

/** Holds back turns whose parents are late, or lets them go, as the policy says. */
export function createTurnQueue(options: TurnQueueOptions): TurnQueue {
  const { due_ns, own, parent, policy } = options;
  const think_ns = policy === 'wait' ? options.think_ns : 0;
  const end_ns = new Float64Array(due_ns.length).fill(Number.NaN);
  const held = new Map<number, number[]>();
  const later = timeQueue<DueTurn>();
  let [next, holding] = [0, 0];

  const dueAt = (index: number) => due_ns[index] ?? 0;
  const nextDue = () => (next < own.length ? dueAt(own[next] ?? 0) : Number.POSITIVE_INFINITY);
  const dropped = (index: number, state: ParentState): DueTurn => {
    end_ns[index] = DROPPED;
    return { index, due_ns: dueAt(index), parent: state, late_ns: null, drop: true };
  };
  const go = (index: number, state: ParentState): DueTurn => ({
    index,
    due_ns: dueAt(index),
    parent: state,
    late_ns: null,
    drop: false,
  });
  const postpone = (index: number, at: number) => {
    const due = dueAt(index);
    later.push(at, { index, due_ns: at, parent: 'late', late_ns: at - due, drop: false });
  };
  const whileParentRuns = (index: number, from: number): DueTurn | null => {
    if (policy === 'send') return go(index, 'late');
    if (policy === 'drop') return dropped(index, 'late');
    held.set(from, [...(held.get(from) ?? []), index]);
    holding += 1;
    return null;
  };
  /** What becomes of a turn that is due; null when it has to wait. */
  const admit = (index: number): DueTurn | null => {
    const from = parent[index] ?? -1;
    if (from < 0 || from >= index) return go(index, 'none');
    const ended = end_ns[from] ?? Number.NaN;
    if (Number.isNaN(ended)) return whileParentRuns(index, from);
    if (ended === DROPPED) return dropped(index, 'dropped');
    const from_ns = ended + think_ns;
    if (policy !== 'wait' || from_ns <= dueAt(index)) return go(index, 'ended');
    postpone(index, from_ns);
    return null;
  };
  return {
    take(now) {
      while (nextDue() <= now && nextDue() <= later.nextTime()) {
        const turn = admit(own[next++] ?? 0);
        if (turn !== null) return turn;
      }
      return later.nextTime() <= now ? (later.shift() ?? null) : null;
    },
    ended(index, at) {
      end_ns[index] = at;
      const children = held.get(index) ?? [];
      held.delete(index);
      holding -= children.length;
      for (const child of children) postpone(child, Math.max(dueAt(child), at + think_ns));
    },
    nextTime: () => Math.min(nextDue(), later.nextTime()),
    done: () => next >= own.length && holding === 0 && later.length === 0,
  };
}
