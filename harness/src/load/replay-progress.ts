import type { Instant, LoadColumns } from '@perwatt/core';
import type { LoadRowArrays } from './load-rows.js';
import { counterNames, type LoadWork } from './load-worker.js';

/** Counts of a replay so far, for a display. */
export interface ReplayProgress {
  readonly phase: string;
  readonly rows: number;
  /** On disk or on the way to it, earlier sittings included. */
  readonly done: number;
  readonly failed: number;
  readonly sent: number;
  readonly in_flight: number;
  readonly waited: number;
  /** Output tokens of this sitting. */
  readonly tokens: number;
  /** Since the sitting began, ns; null before. */
  readonly elapsed_ns: number | null;
  /** When the last call is due, ns from the start; null in a closed loop. */
  readonly span_ns: number | null;
}

/** A count of all workers together. */
export const countOf = (works: readonly LoadWork[], name: (typeof counterNames)[number]): number =>
  works.reduce((sum, { counters }) => sum + Atomics.load(counters, counterNames.indexOf(name)), 0);

export type ReplayCount = ReturnType<typeof createReplayCount>;

interface Counted {
  /** Rows of the whole replay, and how many of them earlier sittings did. */
  readonly rows: number;
  readonly before: number;
  readonly left: LoadRowArrays;
}

/** Counts what a sitting has done. */
export function createReplayCount({ rows, before, left }: Counted) {
  let [ended, ok, tokens] = [0, 0, 0];
  let phase = 'starting';
  let zero: Instant | null = null;
  let works: readonly LoadWork[] = [];
  return {
    phase(name: string) {
      phase = name;
    },
    begin(at: Instant) {
      zero = at;
    },
    follow(all: readonly LoadWork[]) {
      works = all;
    },
    add({ length, status, completion_tokens }: LoadColumns) {
      const good = status.names.indexOf('ok');
      ended += length;
      for (let i = 0; i < length; i++) {
        if (status.indices[i] === good) ok += 1;
        tokens += completion_tokens.values[i] ?? 0;
      }
    },
    now(at: Instant): ReplayProgress {
      const sent = countOf(works, 'sent');
      return {
        phase,
        rows,
        done: before + ended,
        failed: ended - ok,
        sent,
        in_flight: Math.max(0, sent - ended),
        waited: countOf(works, 'waited'),
        tokens,
        elapsed_ns: zero === null ? null : Math.max(0, Number(at - zero)),
        span_ns: left.due_ns.at(-1) ?? null,
      };
    },
  };
}
