import { elapsed, type Instant, instant } from '@perwatt/core';
import { attribute } from './attribute.js';
import { boundaryOf } from './boundary.js';
import { busyTime } from './busy-time.js';
import type { CellColumns } from './cell-columns.js';
import { type BusyTime, cellEnergy } from './cell-energy.js';
import { orderOf } from './cell-spans.js';
import type { CellBase, CellInput, HostBaselines, SittingInput } from './cell-types.js';
import { columnsOfRows } from './columns-of-rows.js';
import { isSplit, type PhaseShares, phaseShares } from './phase-shares.js';
import { shortestPhase } from './series-index.js';
import type { CallSpan, PowerSeries } from './types.js';

/** What a cell's calls were doing: until the first output, until the last, after it; or it isn't on record. */
export const callPhases = ['prefill', 'decode', 'rest', 'unsplit'] as const;
/** One of `callPhases`. */
export type CallPhase = (typeof callPhases)[number];

/** Energy of one phase over a cell, with the bounds of the sensors. */
export interface PhaseShare {
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  /** Calls that had it. */
  readonly calls: number;
  /** Whether its spans last long enough, on average, to be told apart by the sensor: `shortestPhase` of every domain. */
  readonly resolved: boolean;
}

/** Energy of a cell by phase of its calls; all null where a part of it isn't known. */
export interface CellPhases {
  /** `isolated` where no two calls overlapped; else time in which several ran is shared equally. */
  readonly method: 'isolated' | 'time_share' | 'none';
  readonly phases: Readonly<Record<CallPhase, PhaseShare>> | null;
  readonly reason: string | null;
}

/** What stands beside a cell's gross and net energy. */
export interface EnergyDetail {
  /** Gross energy over the busy time less the idle host, J; null without a baseline of it. */
  readonly net_host_j: number | null;
  readonly net_host_lo_j: number | null;
  readonly net_host_hi_j: number | null;
  /** Whether its interval excludes 0. */
  readonly net_host_resolved: boolean;
  readonly net_host_reason: string | null;
  readonly phases: CellPhases;
}

/** Net energy over the idle host, and energy by phase, over the same calls and domains as the cell's own energy. */
export const energyDetail = (input: CellInput, host: HostBaselines): EnergyDetail =>
  detailOf({ ...input, host }, columnsOfRows(input));

/** `energyDetail` of columns. */
export function detailOf(
  { sittings, host }: CellBase,
  columns: CellColumns,
  time: BusyTime = busyTime(columns, sittings),
): EnergyDetail {
  const overHost = sittings.map((own) => ({ ...own, baselines: host?.get(own.sitting) ?? [] }));
  const net = cellEnergy(overHost, time);
  return {
    net_host_j: net.net_j,
    net_host_lo_j: net.net_lo_j,
    net_host_hi_j: net.net_hi_j,
    net_host_resolved: net.net_resolved,
    net_host_reason: net.net_reason,
    phases: cellPhases(sittings, columns),
  };
}

interface PhaseSpan extends CallSpan {
  readonly query_id: CallPhase;
}

/** The spans of a call, each named by its phase. */
function phaseSpans(columns: CellColumns, call: number): PhaseSpan[] {
  const { calls, origin_ns } = columns;
  const at = (times: Float64Array) => times[call] ?? Number.NaN;
  const [start, first, last, end] = [
    at(calls.dispatch),
    at(calls.first_any),
    at(calls.last_content),
    at(calls.end),
  ];
  const time = (ns: number) => instant(origin_ns + BigInt(ns));
  if (!isSplit(columns, call)) return [spanOf('unsplit', time(start), time(end))];
  return [
    spanOf('prefill', time(start), time(first)),
    spanOf('decode', time(first), time(last)),
    spanOf('rest', time(last), time(end)),
  ].filter((span) => span.start < span.end);
}

const spanOf = (query_id: CallPhase, start: Instant, end: Instant): PhaseSpan => ({ query_id, start, end });

const none = (reason: string): CellPhases => ({ method: 'none', phases: null, reason });

/** Sittings that have calls. */
function usedSittings(sittings: readonly SittingInput[], { calls }: CellColumns): SittingInput[] {
  const present = new Set<number>();
  for (let call = 0, last = -1; call < calls.length; call++) {
    const own = calls.sitting[call] ?? -1;
    if (own !== last) present.add(own);
    last = own;
  }
  return sittings.filter(({ sitting }) => present.has(sitting));
}

const boundaryOfSittings = (used: readonly SittingInput[]) =>
  boundaryOf(used.flatMap(({ series }) => series.map(({ domain }) => domain)));

/** The energies of `phases` by query; null where the cell has none. */
export function phasesOfQueries(
  { sittings }: Pick<CellBase, 'sittings'>,
  columns: CellColumns,
  { phases }: CellPhases,
): PhaseShares | null {
  if (phases === null) return null;
  const used = usedSittings(sittings, columns);
  return phaseShares(columns, used, boundaryOfSittings(used)?.domains.map(({ id }) => id) ?? []);
}

function cellPhases(sittings: readonly SittingInput[], columns: CellColumns): CellPhases {
  const { calls, calls_from } = columns;
  const used = usedSittings(sittings, columns);
  if (calls_from === 'queries' || used.length === 0) return none('no_calls');
  const boundary = boundaryOfSittings(used);
  if (boundary === null) return none('no_power');
  const spans = Array.from(calls.dispatch, (_, call) => phaseSpans(columns, call));
  const parts = used.flatMap((sitting) => {
    const own = spans.filter((_, call) => calls.sitting[call] === sitting.sitting).flat();
    return boundary.domains.map(({ id }) => sharesOf(sitting, id, own));
  });
  const reason = parts.find((part) => typeof part === 'string');
  if (typeof reason === 'string') return none(reason);
  const known = parts.filter((part) => typeof part !== 'string');
  const count = (phase: CallPhase) =>
    spans.filter((own) => own.some(({ query_id }) => query_id === phase)).length;
  const least_ns = Math.max(
    ...used.flatMap(({ series }) =>
      series.filter(({ domain }) => boundary.domains.some(({ id }) => id === domain.id)).map(shortestPhase),
    ),
  );
  const sum = (phase: CallPhase): PhaseShare => {
    const add = (key: 'energy_j' | 'lo_j' | 'hi_j') =>
      known.reduce((total, { queries }) => total + (queries.get(phase)?.[key] ?? 0), 0);
    return {
      energy_j: add('energy_j'),
      lo_j: add('lo_j'),
      hi_j: add('hi_j'),
      calls: count(phase),
      resolved: meanLength(spans, phase) >= least_ns,
    };
  };
  return {
    method: overlapping(columns) ? 'time_share' : 'isolated',
    phases: { prefill: sum('prefill'), decode: sum('decode'), rest: sum('rest'), unsplit: sum('unsplit') },
    reason: null,
  };
}

/** Mean length of the spans of a phase, ns; 0 without any. */
function meanLength(spans: readonly (readonly PhaseSpan[])[], phase: CallPhase): number {
  let [sum, count] = [0, 0];
  for (const own of spans)
    for (const { query_id, start, end } of own)
      if (query_id === phase) [sum, count] = [sum + elapsed(start, end), count + 1];
  return count === 0 ? 0 : sum / count;
}

/** Shares of one domain in one sitting, or why there are none. */
function sharesOf({ series, window }: SittingInput, id: string, spans: readonly CallSpan[]) {
  const own: PowerSeries | undefined = series.find(({ domain }) => domain.id === id);
  if (own === undefined) return 'domain_missing';
  const { method, queries, reason } = attribute(own, spans, window);
  return method === 'none' ? (reason ?? 'not_covered') : { queries };
}

/** Whether any two calls were in flight at once. */
function overlapping({ calls: { dispatch, end } }: CellColumns): boolean {
  const order = orderOf(dispatch);
  return order.some((call, i) => (dispatch[call] ?? 0) < (end[order[i - 1] ?? call] ?? 0) && i > 0);
}
