import { type CallRow, coverEndpoints, type EndpointFacts, instant, seedFrom } from '@perwatt/core';
import { completedQueries, type LoopFacts, parseQueryId, type StoppingFacts } from '@perwatt/records';
import { sha256Hex } from './canonical.js';
import type { Cell } from './plan.js';
import { stoppingOf } from './repeat-rule.js';
import { liveQueries, type RepeatQuery, repeatValue, settledQuery } from './repeat-value.js';
import type { CellWorld, OpenQuery } from './run-cell.js';

/** What repeats that end by a rule are driven with. */
export interface RepeatsInput {
  readonly todo: readonly OpenQuery[];
  /** What answers. */
  readonly endpoints: readonly EndpointFacts[];
  readonly world: CellWorld;
  /** Calls of the sitting, in the order they ended. */
  readonly calls: readonly CallRow[];
  /** Sends queries of one repeat and waits for them. */
  readonly send: (todo: readonly OpenQuery[], seed: number) => Promise<LoopFacts>;
}

/** What came of them; `loop` is null where nothing had to be sent. */
export interface RepeatsOutcome {
  readonly stopping: StoppingFacts;
  readonly loop: LoopFacts | null;
}

/**
 * Sends the open queries of a cell repeat by repeat, each with a load that starts anew, and looks at the values after each
 * until the cell's rule says to stop. Nothing is sent between two repeats.
 */
export async function sendRepeats(cell: Cell, input: RepeatsInput, seed: number): Promise<RepeatsOutcome> {
  const { rule } = cell;
  if (rule === null) throw new RangeError(`cell ${cell.id} has no rule on repeats`);
  const { todo, world, send } = input;
  const settled = settledRepeats(cell, world);
  const loops: LoopFacts[] = [];
  const values: (number | null)[] = [];
  let stopping = stoppingOf(values, rule.until);
  for (let repeat = 0; repeat < rule.until.max && stopping.stopped === null; repeat++) {
    const open = todo.filter((query) => query.repeat === repeat);
    const live =
      open.length === 0
        ? []
        : await oneRepeat(open, { ...input, send, loops, seed: seedFrom(seed, String(repeat)) });
    if (world.signal.aborted) break;
    values.push(repeatValue(rule.until.metric, [...(settled.get(repeat) ?? []), ...live]));
    stopping = stoppingOf(values, rule.until);
  }
  return { stopping, loop: joined(loops) };
}

interface OneRepeat extends Omit<RepeatsInput, 'todo'> {
  readonly loops: LoopFacts[];
  readonly seed: number;
}

async function oneRepeat(
  open: readonly OpenQuery[],
  { world, endpoints, calls, send, loops, seed }: OneRepeat,
): Promise<RepeatQuery[]> {
  const { power, deps, plan } = world;
  const before = calls.length;
  const start = power.mark() ?? deps.clock.now();
  loops.push(await send(open, seed));
  const end = power.mark() ?? deps.clock.now();
  power.drain();
  return liveQueries({
    calls: calls.slice(before),
    series: coverEndpoints(power.series(), endpoints, ({ domain }) => domain),
    window: { start: instant(start), end: instant(end) },
    attribution: plan.matrix.energy?.attribution ?? 'time_share',
  });
}

/** Queries of earlier sittings by repeat. */
function settledRepeats(cell: Cell, { run }: CellWorld): Map<number, RepeatQuery[]> {
  const repeats = new Map<number, RepeatQuery[]>();
  for (const [id, row] of completedQueries(run, cell.id).settled) {
    const repeat = parseQueryId(id)?.repeat ?? row.repeat;
    repeats.set(repeat, [...(repeats.get(repeat) ?? []), settledQuery(row)]);
  }
  return repeats;
}

/** The loops of several repeats in one. */
function joined(loops: readonly LoopFacts[]): LoopFacts | null {
  const [first] = loops;
  if (first === undefined) return null;
  const digests = loops.map((loop) => loop.schedule_sha256);
  return {
    kind: first.kind,
    schedule_sha256: digests.includes(null) ? null : sha256Hex(digests.join(' ')),
    offered_per_s: known(
      loops.map((loop) => loop.offered_per_s),
      (rates) => sum(rates) / rates.length,
    ),
    due: known(
      loops.map((loop) => loop.due),
      sum,
    ),
    waited: known(
      loops.map((loop) => loop.waited),
      sum,
    ),
    most_in_flight: Math.max(...loops.map((loop) => loop.most_in_flight)),
  };
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function known(values: readonly (number | null)[], of: (values: readonly number[]) => number): number | null {
  const all = values.filter((value) => value !== null);
  return all.length < values.length ? null : of(all);
}
