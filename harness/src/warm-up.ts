import { type CallRow, coverEndpoints, type Item, instant } from '@perwatt/core';
import { energyInWindow } from '@perwatt/metrics';
import type { WarmUpFacts } from '@perwatt/records';
import { factsOf } from './bound-clients.js';
import { summedDomains } from './energy.js';
import { driveLoop } from './load/drive-loop.js';
import type { Cell } from './plan.js';
import type { CellWorld } from './run-cell.js';
import { type QueryContext, runQuery } from './run-query.js';
import type { SittingLog } from './sitting-log.js';
import { type WarmRound, warmUntilStable } from './stability.js';

/** What the calls of a warm-up belong to. */
export interface WarmUpContext extends Omit<QueryContext, 'query_id' | 'phase' | 'onCall'> {
  readonly log: SittingLog;
}

export interface WarmedUp {
  readonly queries: number;
  /** Null where a fixed number of queries did it. */
  readonly facts: WarmUpFacts | null;
}

/**
 * Puts queries through a cell before anything counts: a number of them one after the other, or rounds of the same ones at the
 * cell's concurrency until throughput and power no longer change.
 */
export async function warmUp(cell: Cell, context: WarmUpContext, world: CellWorld): Promise<WarmedUp> {
  const { warm_up_rule: rule, warmup_calls } = world.plan.protocol;
  let queries = 0;
  const ask = async (item: Item, calls: CallRow[]) => {
    const query_id = `${cell.id}/warmup/${context.sitting}.${queries}`;
    queries += 1;
    const onCall = (call: CallRow) => {
      context.log.append([call], []);
      calls.push(call);
    };
    await runQuery(cell, { item, repeat: 0 }, { ...context, query_id, phase: 'warmup', onCall });
  };
  if (rule === undefined) {
    for (const item of lastItems(cell, warmup_calls)) {
      if (context.signal.aborted) break;
      await ask(item, []);
    }
    return { queries, facts: null };
  }
  const items = lastItems(cell, Math.max(cell.concurrency, warmup_calls));
  const { deps, signal } = world;
  const facts = await warmUntilStable(rule, {
    round: () => warmRound(items, { cell, context, world, ask }),
    nowS: () => Number(deps.clock.now()) / 1e9,
    signal,
  });
  return { queries, facts };
}

/** The last items of the data set, so that a warm-up is like the load and a prompt cache gains least from it. */
const lastItems = ({ dataset }: Cell, count: number): readonly Item[] =>
  count === 0 ? [] : dataset.items.slice(-count);

interface RoundInput {
  readonly cell: Cell;
  readonly context: WarmUpContext;
  readonly world: CellWorld;
  readonly ask: (item: Item, calls: CallRow[]) => Promise<void>;
}

async function warmRound(
  items: readonly Item[],
  { cell, context, world, ask }: RoundInput,
): Promise<WarmRound> {
  const { power, deps, signal } = world;
  const calls: CallRow[] = [];
  const start = power.mark() ?? deps.clock.now();
  await driveLoop(
    { kind: 'closed', concurrency: cell.concurrency, ramp_s: 0 },
    {
      count: items.length,
      seed: 0,
      clock: deps.clock,
      signal,
      run: async (index) => {
        const item = items[index];
        if (item !== undefined) await ask(item, calls);
      },
      ...(deps.timer && { timer: deps.timer }),
    },
  );
  const end = power.mark() ?? deps.clock.now();
  power.drain();
  const seconds = Number(end - start) / 1e9;
  const window = { start: instant(start), end: instant(end) };
  const series = coverEndpoints(power.series(), factsOf(context.clients), ({ domain }) => domain);
  const summed = summedDomains(series);
  const energies = series
    .filter(({ domain }) => summed.includes(domain.id))
    .map((one) => energyInWindow(one, window).energy_j);
  return {
    tokens_per_s: rate(
      calls.map((call) => call.completion_tokens),
      seconds,
    ),
    power_w: rate(energies, seconds),
  };
}

/** A sum a second; null where a part isn't known, or there is none. */
function rate(parts: readonly (number | null)[], seconds: number): number | null {
  const known = parts.filter((part) => part !== null);
  if (known.length < parts.length || known.length === 0 || seconds <= 0) return null;
  return known.reduce((a, b) => a + b, 0) / seconds;
}
