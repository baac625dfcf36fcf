import type { EndedLoadCall, HistorySource, Instant, LateParentPolicy } from '@perwatt/core';
import { slotTimes, startClosedLoop } from './closed-loop.js';
import type { LoadWork } from './load-worker.js';
import { eventLoopTimer, type Pacer, type PacerOptions } from './pacer.js';
import { type TurnArrays, type TurnLinks, type TurnTexts, turnLinks } from './turn-arrays.js';
import { type HistoryState, plainText, turnBodies } from './turn-bodies.js';
import { startTurnPacer } from './turn-pacer.js';
import type { ParentState } from './turn-queue.js';
import { turnTake } from './turn-take.js';

/** How the conversations of a load are played. */
export interface TurnPlay {
  /** Null where calls go out at their times whatever they go on from. */
  readonly policy: LateParentPolicy | null;
  /** From the end of a turn to the next, where it is the end that the next waits for; ns. */
  readonly think_ns: number;
  readonly history: HistorySource;
  /** Every so many-th call's answer is handed over; null for none. */
  readonly answers_every: number | null;
}

/** What a worker knows of a call beside its columns. */
export interface TurnFact {
  /** As in the columns. */
  readonly row: number;
  readonly parent: ParentState;
  readonly late_ns: number | null;
  readonly history: HistoryState;
  readonly answer: string | null;
}

/** A call that was left out. */
export interface DroppedTurn {
  readonly index: number;
  readonly sched_ns: bigint;
}

interface SharePace extends Pick<PacerOptions, 'zero' | 'clock'> {
  readonly send: (index: number, due_ns: bigint | null) => void;
  readonly drop: (turn: DroppedTurn) => void;
}

/** A worker's part of conversations. */
export interface TurnShare {
  /** Null where calls do not wait for others: they are paced like any. */
  pace(options: SharePace): Pacer | null;
  /** The question of a call as members of the request's JSON, without braces; null where the trace has no texts. */
  question(index: number): string | null;
  keepsText(index: number): boolean;
  ended(call: EndedLoadCall): void;
  /** Of calls that ended; each is told once. */
  facts(rows: ArrayLike<number>): TurnFact[];
}

/** What a worker of a load with conversations or texts does beside sending; null for a load without. */
export function turnShare(work: LoadWork): TurnShare | null {
  const { turns } = work.rows;
  const play = work.turns ?? null;
  if (turns === undefined || turns === null || play === null) return null;
  const links = turnLinks(turns);
  const bodies = hasTexts(turns) ? turnBodies(turns, links, play.history) : null;
  const known = new Map<number, Partial<TurnFact>>();
  const note = (index: number, fact: Partial<TurnFact>) => known.set(index, { ...known.get(index), ...fact });
  const sampled = (index: number) => play.answers_every !== null && index % play.answers_every === 0;
  const absent = (index: number, state: ParentState) =>
    state === 'none' && links.absent[index] === 1 ? 'absent' : state;
  return {
    pace(options) {
      if (play.policy === null) return null;
      return work.closed === null
        ? openPace(
            work,
            { links, play, policy: play.policy },
            {
              ...options,
              onTurn: (index, parent, late_ns) => note(index, { parent: absent(index, parent), late_ns }),
            },
          )
        : closedPace(work, { links, play }, options);
    },
    question(index) {
      if (bodies === null) return null;
      const { messages, history } = bodies.prompt(index);
      note(index, { history });
      return work.api === 'chat'
        ? `"messages":${messages}`
        : `"prompt":${JSON.stringify(plainText(messages))}`;
    },
    keepsText: (index) => sampled(index) || bodies?.needs(index) === true,
    ended({ row, text }) {
      bodies?.answered(row, text);
      if (text !== null && sampled(row)) note(row, { answer: text });
    },
    facts: (rows) =>
      Array.from(rows, (row) => {
        const own = known.get(row);
        known.delete(row);
        const inLoad = (links.parent[row] ?? -1) >= 0;
        return {
          row,
          parent:
            own?.parent ?? absent(row, inLoad ? (play.policy === null ? 'untracked' : 'ended') : 'none'),
          late_ns: own?.late_ns ?? null,
          history: own?.history ?? 'none',
          answer: own?.answer ?? null,
        };
      }),
  };
}

const hasTexts = (turns: TurnArrays): turns is TurnArrays & { readonly texts: TurnTexts } =>
  turns.texts !== null;

interface Played {
  readonly links: TurnLinks;
  readonly play: TurnPlay;
}

interface OpenPace extends SharePace {
  readonly onTurn: (index: number, parent: ParentState, late_ns: number | null) => void;
}

/** Conversations are dealt to the workers in turn, so that a turn and the one it goes on from have the same worker. */
function openPace(
  { rows, share }: LoadWork,
  { links, play, policy }: Played & { readonly policy: LateParentPolicy },
  { zero, clock, send, drop, onTurn }: OpenPace,
): Pacer {
  const own: number[] = [];
  for (const [index, conversation] of links.conversation.entries())
    if (conversation % share.step === share.first) own.push(index);
  return startTurnPacer({
    due_ns: rows.due_ns,
    own,
    parent: links.parent,
    policy,
    think_ns: play.think_ns,
    zero,
    clock,
    cap: share.cap,
    send({ index, parent, late_ns }, sched_ns: Instant) {
      onTurn(index, parent, late_ns);
      send(index, sched_ns);
    },
    drop({ index, parent, late_ns }, sched_ns) {
      onTurn(index, parent, late_ns);
      drop({ index, sched_ns });
    },
  });
}

/** As many conversations at a time as there are slots, each turn as soon as the one before it has ended. */
function closedPace(
  { closed, cursor, share, workers }: LoadWork,
  { links, play }: Played,
  options: SharePace,
): Pacer {
  const { zero, clock, send } = options;
  const take = turnTake(links, {
    nextConversation: () => Atomics.add(cursor, 0, 1),
    after: (action) => eventLoopTimer.after(play.think_ns / 1e6, action),
    think: play.think_ns > 0,
    onReady: () => loop.wake(),
  });
  const loop = startClosedLoop({
    opens_ns: slotTimes(closed?.concurrency ?? 1, {
      worker: share.worker,
      workers,
      ramp_s: closed?.ramp_s ?? 0,
    }),
    zero,
    clock,
    take: take.next,
    send: (index) => send(index, null),
  });
  return {
    ...loop,
    ended(index) {
      if (index !== undefined) take.ended(index);
      loop.ended();
    },
    stop() {
      take.stop();
      loop.stop();
    },
  };
}
