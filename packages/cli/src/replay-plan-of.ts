import type { Arrivals, EndpointFacts } from '@perwatt/core';
import { planReplay, type ReplayPlan, type ReplaySpec } from '@perwatt/harness';
import { parseDuration } from './duration.js';
import { keptFlags, type ReplayFlags } from './replay-session.js';
import type { LoadTarget } from './replay-thread-messages.js';
import type { ReadTrace } from './replay-trace-reader.js';
import { turnPlayOf } from './replay-turns.js';

export interface PlanInput {
  readonly flags: ReplayFlags;
  readonly read: ReadTrace;
  readonly arrivals: Arrivals | null;
  readonly facts: EndpointFacts;
  readonly target: LoadTarget;
}

/** What flags and a trace amount to. */
export function planOf({ flags, read, arrivals, facts, target }: PlanInput): ReplayPlan {
  const cap = flags.concurrency;
  return planReplay({
    trace: read.trace,
    settings: { flags: keptFlags(flags) },
    endpoint: {
      url: target.url,
      api: target.api,
      idle_timeout_s: target.idle_timeout_ms / 1000,
      headers_timeout_s: target.headers_timeout_ms / 1000,
    },
    model: flags.model ?? facts.model,
    load:
      arrivals === null
        ? closedLoad(flags)
        : { concurrency: 1, arrivals, ...(cap === undefined ? {} : { cap }) },
    seed: flags.seed,
    ...(flags.power === undefined
      ? {}
      : { power: { sources: flags.power === 'none' ? [] : flags.power.split(',') } }),
    rows: read.rows,
    ...(read.rows.turns
      ? {
          turns: turnPlayOf(flags, { rows: read.rows.row.length, counted: read.counter !== null }),
        }
      : {}),
  });
}

const closedLoad = ({ concurrency, ramp }: ReplayFlags): ReplaySpec['load'] => ({
  concurrency: Math.min(4096, concurrency ?? 1),
  ...(ramp === undefined ? {} : { ramp_s: parseDuration(ramp) / 1000 }),
});
