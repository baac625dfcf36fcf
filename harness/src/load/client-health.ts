import { type ClientHealth, clientLimits, type LoadSummary } from '@perwatt/metrics';
import type { ClientFacts, RunFolder, Sitting } from '@perwatt/records';

export interface JudgeClientInput {
  /** Of each worker. */
  readonly health: readonly Omit<ClientHealth, 'lag_p99_ns' | 'calibrated_per_s'>[];
  readonly sitting: Sitting;
  readonly calibrated_per_s: number | null;
  /** Of the sitting's calls. */
  readonly summary: LoadSummary;
}

const worst = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
};

/** How the client fared in a sitting, and whether it may have set the result. */
export function clientFacts({ health, sitting, calibrated_per_s, summary }: JudgeClientInput): ClientFacts {
  const { times, achieved_per_s } = summary;
  const own: ClientHealth = {
    busiest_core_ratio: worst(health.map((h) => h.busiest_core_ratio)),
    loop_utilization_ratio: worst(health.map((h) => h.loop_utilization_ratio)),
    loop_delay_p99_ns: worst(health.map((h) => h.loop_delay_p99_ns)),
    lag_p99_ns: (sitting.loop?.waited ?? 0) > 0 ? null : (times.lag?.p99 ?? null),
    gc_ratio: worst(health.map((h) => h.gc_ratio)),
    calibrated_per_s,
  };
  const load = {
    ttft_p50_ns: times.ttft_any?.p50 ?? null,
    gap_p50_ns: times.tpot?.p50 ?? null,
    achieved_per_s,
  };
  return { health: { ...own }, limits: clientLimits(own, load) };
}

/** Notes how the client fared in the cell's file, and flags the cell where the client may have set the result. */
export function noteClient(run: RunFolder, cellId: string, input: JudgeClientInput): void {
  const cell = run.readCell(cellId);
  if (cell.replay === undefined) return;
  const facts = clientFacts(input);
  const client = cell.sittings.map(({ sitting }) =>
    sitting === input.sitting.sitting ? facts : (cell.replay?.client[sitting] ?? null),
  );
  const texts = facts.limits.map(({ text }) => text);
  const limited = {
    code: 'client_limited',
    text: texts.join('; '),
    fix: 'Lower the rate, or send it from a machine of its own.',
  };
  const verdict =
    cell.verdict === null || texts.length === 0
      ? cell.verdict
      : {
          state: cell.verdict.state === 'invalid' ? ('invalid' as const) : ('flagged' as const),
          reasons: [...cell.verdict.reasons, limited],
        };
  run.writeCell({ ...cell, verdict, replay: { ...cell.replay, client } });
}
