import { type CallRow, type Domain, instant } from '@perwatt/core';
import {
  attribute,
  attributeByTokens,
  type BaselinePoint,
  boundaryOf,
  busySpans,
  type CallSpan,
  type EnergyReading,
  energyInWindow,
  idleSpans,
  netEnergy,
  type PowerSeries,
  type Window,
} from '@perwatt/metrics';
import type { Baseline, DomainLedger } from '@perwatt/records';
import { tokenCalls } from './token-calls.js';

/** How energy is shared out to queries that overlap. */
export type EnergyAttribution = 'time_share' | 'token_share';

/** Energy of one query over the declared boundary. Null members with a reason in `method` and the cell's ledgers. */
export interface QueryEnergy {
  readonly gross_j: number | null;
  readonly net_j: number | null;
  readonly lo_j: number | null;
  readonly hi_j: number | null;
  readonly method: 'isolated' | EnergyAttribution | 'none';
}

export interface EnergyInput {
  readonly series: readonly PowerSeries[];
  readonly calls: readonly CallRow[];
  readonly window: Window;
  readonly baselines: readonly Baseline[];
  /** Ids of the domains that the total of earlier sittings had; null when this is the first. */
  readonly earlier?: readonly string[] | null;
  /** Default `time_share`. `token_share` needs the output tokens of every call; where one lacks them, time is shared. */
  readonly attribution?: EnergyAttribution;
}

/** A call's span, as energy is shared out by. */
export const spanOf = (call: CallRow): CallSpan => ({
  query_id: call.query_id,
  start: instant(call.dispatch_ns),
  end: instant(call.end_ns),
});

/**
 * Energy of every query: the sum over the domains of the total. One domain without energy makes every query's energy
 * null, and so does a total of other domains than earlier sittings had; a domain without a baseline makes the net energy
 * null.
 */
export function energiesOf(input: EnergyInput): Map<string, QueryEnergy> {
  const { series, calls, window, baselines, earlier = null } = input;
  const share = sharing(calls, input.attribution ?? 'time_share');
  const seconds = shareOfTime(share, window);
  const summed = summedDomains(series);
  const parts = series
    .filter((s) => summed.includes(s.domain.id))
    .map((s) => ({ queries: share(s, window), points: baselinePoints(baselines, s.domain.id) }));
  const ids = new Set(calls.map((c) => c.query_id));
  if (earlier !== null && !sameNames(earlier, summed)) return new Map([...ids].map((id) => [id, unknown]));
  return new Map([...ids].map((id) => [id, sumOver(parts, { id, share_s: seconds.get(id) ?? 0, window })]));
}

interface Share {
  readonly energy_j: number;
  readonly lo_j: number;
  readonly hi_j: number;
  readonly method: QueryEnergy['method'];
}

type Shares = ReadonlyMap<string, Share>;

/** Shares a meter's energy over a window out to queries; what is isolated was measured, whatever was asked for. */
function sharing(calls: readonly CallRow[], attribution: EnergyAttribution) {
  const spans = calls.map(spanOf);
  const tokens = attribution === 'token_share' ? tokenCalls(calls) : null;
  return (series: PowerSeries, window: Window): Shares => {
    const byTime = attribute(series, spans, window);
    if (tokens === null || byTime.method !== 'time_share') return byTime.queries;
    const { queries } = attributeByTokens(series, tokens, window);
    return new Map([...queries].map(([id, energy]) => [id, { ...energy, method: 'token_share' as const }]));
  };
}

/** The boundary: domains of one provenance tier that neither hold nor overlap one another. */
export const summedDomains = (series: readonly PowerSeries[]): string[] =>
  boundaryOf(series.map(({ domain }) => domain))?.domains.map(({ id }) => id) ?? [];

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

interface Part {
  readonly queries: Shares;
  readonly points: Record<'before' | 'after', BaselinePoint | null>;
}

const unknown: QueryEnergy = { gross_j: null, net_j: null, lo_j: null, hi_j: null, method: 'none' };

interface QueryShare {
  readonly id: string;
  readonly share_s: number;
  readonly window: Window;
}

function sumOver(parts: readonly Part[], share: QueryShare): QueryEnergy {
  const energies = parts.map((part) => energyOfPart(part, share));
  return energies.length === 0 ? unknown : energies.reduce(addEnergies);
}

function energyOfPart({ queries, points }: Part, { id, share_s, window }: QueryShare): QueryEnergy {
  const gross = queries.get(id);
  if (gross === undefined) return unknown;
  const { energy_j: net_j } = netEnergy({ gross, window, length_ns: share_s * 1e9, ...points });
  return { gross_j: gross.energy_j, net_j, lo_j: gross.lo_j, hi_j: gross.hi_j, method: gross.method };
}

const addEnergies = (a: QueryEnergy, b: QueryEnergy): QueryEnergy => ({
  gross_j: plus(a.gross_j, b.gross_j),
  net_j: plus(a.net_j, b.net_j),
  lo_j: plus(a.lo_j, b.lo_j),
  hi_j: plus(a.hi_j, b.hi_j),
  method: weakest(a.method, b.method),
});

const plus = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

const strength = { none: 0, time_share: 1, token_share: 1, isolated: 2 } as const;
const weakest = (a: QueryEnergy['method'], b: QueryEnergy['method']) => (strength[a] < strength[b] ? a : b);

/** Each query's share of the time, s: what the attribution makes of a meter that always reads one watt. */
function shareOfTime(share: ReturnType<typeof sharing>, window: Window): Map<string, number> {
  const length_s = Number(window.end - window.start) / 1e9;
  const clock: Domain = {
    id: 'time',
    source: 'time',
    scope: 'system',
    kind: 'counter',
    provenance: 'counter',
    in_total: true,
    update_period_ns: 1,
    quantum: null,
    scale_error_ratio: null,
    note: null,
  };
  const ramp = Float64Array.of(0, length_s / 2, length_s);
  const middle = window.start + (window.end - window.start) / 2n;
  const at_ns = BigInt64Array.of(window.start, middle, window.end);
  const queries = share({ domain: clock, at_ns, booked_j: ramp, lo_j: ramp, hi_j: ramp }, window);
  return new Map([...queries].map(([id, { energy_j }]) => [id, energy_j]));
}

/** Idle power of one domain before and after, as a sitting's baselines hold it. */
export function baselinePoints(
  baselines: readonly Baseline[],
  domain: string,
  kind: Baseline['kind'] = 'loaded_idle',
): Part['points'] {
  const point = (when: Baseline['when']): BaselinePoint | null => {
    const baseline = baselines.findLast((b) => b.kind === kind && b.when === when);
    const power = baseline?.powers.find((p) => p.domain === domain);
    if (baseline === undefined || power === undefined) return null;
    const { power_w, lo_w, hi_w } = power;
    if (power_w === null || lo_w === null || hi_w === null) return null;
    const at = (BigInt(baseline.start_ns) + BigInt(baseline.end_ns)) / 2n;
    return { at: instant(at), power_w, lo_w, hi_w };
  };
  return { before: point('before'), after: point('after') };
}

export interface LedgerInput {
  readonly series: readonly PowerSeries[];
  /** Every call of the sitting, and those of them whose query has an answer. */
  readonly calls: readonly CallRow[];
  readonly surviving: readonly CallRow[];
  readonly window: Window;
  /** Idle power before and after, for net energy. Default none. */
  readonly baselines?: readonly Baseline[];
  /** Whether a crash ended the sitting: then what ran after its last call on record left nothing. Default false. */
  readonly cut_off?: boolean;
}

/** Meter, queries and the rest of every domain over one sitting. */
export function ledgersOf({ series, ...input }: LedgerInput): DomainLedger[] {
  const { surviving, window, baselines = [] } = input;
  const lost = lostSpans(input);
  const summed = summedDomains(series);
  return series.map((s) => {
    const { meter, queries_j, unattributed_j, reason } = attribute(s, surviving.map(spanOf), window);
    return {
      domain: s.domain.id,
      in_total: summed.includes(s.domain.id),
      meter_j: meter.energy_j,
      queries_j,
      unattributed_j,
      net_j: netOf(meter, window, baselinePoints(baselines, s.domain.id)),
      net_host_j: netOf(meter, window, baselinePoints(baselines, s.domain.id, 'host_idle')),
      lost_work_j:
        meter.energy_j === null
          ? null
          : lost.map((span) => energyInWindow(s, span).energy_j).reduce<number | null>(plus, 0),
      coverage_ratio: meter.coverage_ratio,
      reason,
    };
  });
}

/** The meter's energy less idle power over the whole window; null where either isn't known. */
export function netOf(meter: EnergyReading, window: Window, points: Part['points']): number | null {
  const { energy_j, lo_j, hi_j } = meter;
  if (energy_j === null || lo_j === null || hi_j === null) return null;
  const length_ns = Number(window.end - window.start);
  return netEnergy({ gross: { energy_j, lo_j, hi_j }, window, length_ns, ...points }).energy_j;
}

/** Spans in which only calls without an answer were in flight, on record or cut off before they were. */
function lostSpans({ calls, surviving, window, cut_off = false }: Omit<LedgerInput, 'series'>): Window[] {
  const kept = busySpans(surviving.map(spanOf), window);
  const others = calls.filter((c) => !surviving.includes(c)).map(spanOf);
  const tail = { query_id: '', start: lastEnd(calls, window), end: window.end };
  return busySpans(cut_off ? [...others, tail] : others, window).flatMap((lost) =>
    idleSpans(lost, overlaps(kept, lost)),
  );
}

const lastEnd = (calls: readonly CallRow[], { start }: Window) =>
  instant(calls.reduce<bigint>((last, { end_ns }) => (end_ns > last ? end_ns : last), start));

/** The parts of `spans` inside `clip`. */
const overlaps = (spans: readonly Window[], clip: Window): Window[] =>
  busySpans(
    spans.map((span) => ({ query_id: '', ...span })),
    clip,
  );

/** Which of two sums of sittings answered a query. */
export interface Answered {
  readonly before: boolean;
  readonly more: boolean;
}

/**
 * Ledgers of two sittings summed. A domain that one of them lacks, or whose energy one does not know, is null. Net energy
 * that is not known for want of a baseline makes the sum null where a query was answered; a sitting without any adds none.
 *
 * @param before null when nothing was measured before
 * @param answered default both
 */
export function addLedgers(
  before: readonly DomainLedger[] | null,
  more: readonly DomainLedger[],
  answered: Answered = { before: true, more: true },
): DomainLedger[] {
  if (before === null) return [...more];
  const domains = new Set([...before, ...more].map((l) => l.domain));
  return [...domains].map((domain) => {
    const [a, b] = [before, more].map((ledgers) => ledgers.find((l) => l.domain === domain));
    const known = a ?? b;
    if (a === undefined || b === undefined) return { ...nothing, domain, in_total: known?.in_total ?? false };
    return {
      domain,
      in_total: a.in_total,
      meter_j: plus(a.meter_j, b.meter_j),
      queries_j: plus(a.queries_j, b.queries_j),
      unattributed_j: plus(a.unattributed_j, b.unattributed_j),
      net_j: plusNet([a, b], 'net_j', answered),
      net_host_j: plusNet([a, b], 'net_host_j', answered),
      lost_work_j: plus(a.lost_work_j, b.lost_work_j),
      coverage_ratio: Math.min(a.coverage_ratio, b.coverage_ratio),
      reason: a.reason ?? b.reason,
    };
  });
}

function plusNet(
  [a, b]: readonly [DomainLedger, DomainLedger],
  key: 'net_j' | 'net_host_j',
  answered: Answered,
): number | null {
  const [was = null, more = null] = [a[key], b[key]];
  if (was === null && a.meter_j !== null && !answered.before) return more;
  if (more === null && b.meter_j !== null && !answered.more) return was;
  return plus(was, more);
}

const nothing: Omit<DomainLedger, 'domain' | 'in_total'> = {
  meter_j: null,
  queries_j: null,
  unattributed_j: null,
  net_j: null,
  net_host_j: null,
  lost_work_j: null,
  coverage_ratio: 0,
  reason: 'the domain was read in some sittings only',
};
