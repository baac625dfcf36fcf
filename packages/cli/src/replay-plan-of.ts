import type { Arrivals, EndpointFacts } from '@perwatt/core';
import type { TraceTable } from '@perwatt/datasets';
import { planReplay, type ReplayPlan, type ReplaySpec } from '@perwatt/harness';
import { parseDuration } from './duration.js';
import { keptFlags, type ReplayFlags } from './replay-session.js';
import type { LoadTarget } from './replay-thread-messages.js';
import { rowsOfTrace } from './replay-trace.js';

export interface PlanInput {
  readonly flags: ReplayFlags;
  readonly table: TraceTable;
  readonly arrivals: Arrivals | null;
  readonly facts: EndpointFacts;
  readonly target: LoadTarget;
}

/** What flags and a trace amount to. */
export function planOf({ flags, table, arrivals, facts, target }: PlanInput): ReplayPlan {
  const { path, format, sha256 } = table.meta;
  const cap = flags.concurrency;
  return planReplay({
    trace: { path, format, sha256 },
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
    rows: rowsOfTrace(table, {
      arrivals,
      seed: flags.seed,
      input_tokens: flags.inputTokens ?? null,
      output_tokens: flags.outputTokens ?? null,
    }),
  });
}

const closedLoad = ({ concurrency, ramp }: ReplayFlags): ReplaySpec['load'] => ({
  concurrency: Math.min(4096, concurrency ?? 1),
  ...(ramp === undefined ? {} : { ramp_s: parseDuration(ramp) / 1000 }),
});
