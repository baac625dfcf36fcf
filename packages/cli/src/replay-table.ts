import type { ReplayOutcome } from '@perwatt/harness';
import type { CallTimeName, LoadSummary, TimeSummary } from '@perwatt/metrics';
import type { CellFile } from '@perwatt/records';
import { type ReplaySteady, steadyLines } from './replay-steady.js';
import { textTable } from './text-table.js';

/** Energy of a replay over the domains of its total; null members where it can't be told. */
export interface ReplayEnergy {
  readonly energy_j: number | null;
  readonly net_energy_j: number | null;
  readonly energy_per_call_j: number | null;
  /** Over the output tokens of all calls that ended well; null when one has no count. */
  readonly energy_per_output_token_j: number | null;
  /** Over the whole window, idle time included, W. */
  readonly window_power_w: number | null;
}

/** The sum; null when a part is unknown, or when there is nothing to sum. */
const sumKnown = (values: readonly (number | null)[]): number | null =>
  values.length === 0
    ? null
    : values.reduce((sum, v) => (sum === null || v === null ? null : sum + v), 0 as number | null);

export function replayEnergy({ ledgers, sittings }: CellFile, summary: LoadSummary): ReplayEnergy {
  const total = ledgers.filter((ledger) => ledger.in_total);
  const energy_j = sumKnown(total.map(({ meter_j }) => meter_j));
  const window_s = sittings.reduce(
    (sum, { start_ns, end_ns }) =>
      sum + (end_ns === null ? 0 : Number(BigInt(end_ns) - BigInt(start_ns)) / 1e9),
    0,
  );
  const per = (n: number | null) => (energy_j === null || n === null || n === 0 ? null : energy_j / n);
  return {
    energy_j,
    net_energy_j: sumKnown(total.map(({ net_j }) => net_j ?? null)),
    energy_per_call_j: per(summary.calls),
    energy_per_output_token_j: per(summary.output_tokens),
    window_power_w: per(window_s),
  };
}

const titles: Readonly<Record<CallTimeName, string>> = {
  e2e_from_schedule: 'latency from schedule',
  e2e_from_dispatch: 'latency from dispatch',
  ttft_any: 'time to first token',
  ttft_content: 'time to first answer text',
  tpot: 'time per output token',
  lag: 'lag behind the schedule',
};

const ms = (ns: number) => (ns / 1e6).toFixed(ns < 1e8 ? 2 : 0);
const dash = '–';
const figure = (value: number | null, digits: number) => (value === null ? dash : value.toFixed(digits));

/** What a replay came to, as lines. */
export function replayTable(
  { cell, summary }: ReplayOutcome,
  { width, steady }: { readonly width: number; readonly steady: ReplaySteady | null },
): string[] {
  const rows = (Object.entries(titles) as [CallTimeName, string][]).map(([name, title]) =>
    timeRow(title, summary.times[name]),
  );
  const columns = ['ms', 'n', 'mean', 'p50', 'p90', 'p99', 'max'].map((name, i) => ({ name, right: i > 0 }));
  return [
    ...textTable(columns, rows, width),
    '',
    ...countLines(summary),
    ...sloLines(summary),
    ...energyLines(cell, summary),
    ...steadyLines(steady),
    ...turnLines(cell),
    ...tokenLines(cell),
    ...loopLines(cell),
    ...verdictLines(cell),
  ];
}

const timeRow = (title: string, time: TimeSummary | null): string[] =>
  time === null
    ? [title, '0', dash, dash, dash, dash, dash]
    : [title, String(time.n), ...[time.mean, time.p50, time.p90, time.p99, time.max].map(ms)];

function countLines(summary: LoadSummary): string[] {
  const failures = Object.entries(summary.statuses).filter(
    ([status]) => status !== 'ok' && status !== 'dropped',
  );
  const failed = failures.map(([status, n]) => `${n} ${status}`).join(', ') || 'none';
  const { offered_per_s, achieved_per_s, ok_per_s, output_tokens_per_s, late } = summary;
  return [
    `calls     ${summary.calls}, ${summary.ok} ended well; failed: ${failed}`,
    `rate      offered ${figure(offered_per_s, 2)}/s, sent ${figure(achieved_per_s, 2)}/s, ended well ${figure(ok_per_s, 2)}/s, ${figure(output_tokens_per_s, 1)} output tokens/s`,
    ...(late === null ? [] : [`late      ${late} calls went out more than 10 ms after they were due`]),
  ];
}

function sloLines(summary: LoadSummary): string[] {
  if (Object.keys(summary.slo).length === 0) return [];
  const share = (value: number | null) => (value === null ? dash : `${(value * 100).toFixed(2)} %`);
  const skipped = summary.slo_not_applied > 0 ? `; a limit did not apply to ${summary.slo_not_applied}` : '';
  return [
    `goodput   ${figure(summary.goodput_per_s, 2)}/s; ${share(summary.good_fraction)} of all calls are good, ${share(summary.good_fraction_of_ok)} of those that ended well${skipped}`,
  ];
}

function energyLines(cell: CellFile, summary: LoadSummary): string[] {
  const energy = replayEnergy(cell, summary);
  if (cell.ledgers.every(({ in_total }) => !in_total)) return ['energy    nothing was metered'];
  const net = energy.net_energy_j === null ? '' : `, ${energy.net_energy_j.toFixed(2)} J above idle`;
  return [
    `energy    ${figure(energy.energy_j, 2)} J${net}; ${figure(energy.energy_per_call_j, 4)} J/call, ${figure(energy.energy_per_output_token_j, 5)} J/output token; ${figure(energy.window_power_w, 2)} W on average`,
  ];
}

function turnLines({ sittings }: CellFile): string[] {
  const turns = sittings.at(-1)?.loop?.turns;
  if (turns === undefined) return [];
  const what =
    { wait: 'waited for their parents', send: 'were sent all the same' }[turns.policy ?? ''] ?? 'were late';
  const dropped = turns.dropped > 0 ? `; ${turns.dropped} were left out` : '';
  return [`turns     ${turns.late} ${what}${dropped}; histories of the ${turns.history}`];
}

function tokenLines({ replay }: CellFile): string[] {
  const tokens = replay?.tokens;
  if (tokens === undefined) return [];
  const parts = (['prompts', 'answers'] as const).flatMap((what) => {
    const own = tokens[what];
    if (own === null) return [];
    const apart = own.difference_ratio === null ? dash : `${(own.difference_ratio * 100).toFixed(1)} %`;
    return [
      `${own.compared} ${what}: ${own.server_tokens} by the server, ${own.local_tokens} here (${apart})`,
    ];
  });
  return [`tokens    counted by ${tokens.counter}; ${parts.join('; ') || 'nothing to compare'}`];
}

function loopLines({ sittings, replay }: CellFile): string[] {
  const loop = sittings.at(-1)?.loop;
  const waited = loop?.waited ?? 0;
  const limits = replay?.client.at(-1)?.limits ?? [];
  return [
    ...(waited > 0 ? [`cap       ${waited} calls had to wait for a free place`] : []),
    ...(loop?.schedule_sha256 ? [`schedule  sha256 ${loop.schedule_sha256}`] : []),
    ...limits.map(({ text }) => `client    client_limited: ${text}`),
  ];
}

const verdictLines = ({ verdict }: CellFile): string[] =>
  verdict === null
    ? []
    : [
        `verdict   ${verdict.state}`,
        ...verdict.reasons.map(({ code, text }) => `          ${code}: ${text}`),
      ];
