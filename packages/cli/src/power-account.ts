import { type Domain, elapsed, type Instant, instant } from '@perwatt/core';
import {
  type BaselinePoint,
  energyInWindow,
  holdsPackages,
  meanPower,
  netEnergy,
  type PowerSeries,
  seriesWithoutStale,
  type Window,
} from '@perwatt/metrics';
import { sumKnown, summedOf } from './summed.js';

/** An energy with its bounds, J; all null when it can't be told. */
export interface Bounded {
  readonly energy_j: number | null;
  readonly lo_j: number | null;
  readonly hi_j: number | null;
}

/** What one domain drew while a command ran. */
export interface DomainAccount {
  readonly domain: Domain;
  readonly gross: Bounded;
  /** Gross less the idle power of before; all null without a baseline. */
  readonly net: Bounded;
  readonly mean_power_w: number | null;
  /** Highest mean over spans of at least one reading interval and ten periods of the sensor, W. */
  readonly peak_power_w: number | null;
  readonly baseline_power_w: number | null;
  readonly coverage_ratio: number;
  readonly samples: number;
  /** Why there is no energy; null where there is. */
  readonly reason: string | null;
}

export interface AccountSpans {
  readonly window: Window;
  /** Idle span before; null when none was measured. */
  readonly idle: Window | null;
  readonly period_ns: number;
}

const nothing: Bounded = { energy_j: null, lo_j: null, hi_j: null };

/**
 * Accounts for every domain of one source. A platform that shows less than the packages it holds is not believed; a
 * counter that stood still gives way to the power beside it, or is unknown.
 */
export function accountFor(recorded: readonly PowerSeries[], spans: AccountSpans): DomainAccount[] {
  const { series, gauged, unknown: stale } = seriesWithoutStale(recorded, spans.window);
  const stoodStill = new Set([...gauged, ...stale]);
  const accounts = series.map((own) => {
    const account = accountOf(own, spans);
    return stoodStill.has(own.domain.id) ? unknown(account, reasons.stale_counter) : account;
  });
  const packages_j = sumOf(accounts, ({ domain, gross }) =>
    domain.in_total && domain.scope === 'package' ? (gross.energy_j ?? 0) : 0,
  );
  return accounts.map((account) =>
    account.domain.scope === 'system' &&
    account.gross.energy_j !== null &&
    !holdsPackages(account.gross.energy_j, packages_j)
      ? unknown(account, 'less than the packages inside it')
      : account,
  );
}

function accountOf(series: PowerSeries, { window, idle, period_ns }: AccountSpans): DomainAccount {
  const { energy_j, lo_j, hi_j, coverage_ratio, samples, reason } = energyInWindow(series, window);
  const length_ns = elapsed(window.start, window.end);
  const account = { domain: series.domain, coverage_ratio, samples, baseline_power_w: null };
  if (energy_j === null || lo_j === null || hi_j === null)
    return unknown(account, reasons[reason ?? 'not_covered']);
  const before = idle === null ? null : baselineOf(series, idle);
  const net = netEnergy({ gross: { energy_j, lo_j, hi_j }, window, length_ns, before, after: null });
  const mean_power_w = (energy_j / length_ns) * 1e9;
  return {
    ...account,
    gross: { energy_j, lo_j, hi_j },
    net: { energy_j: net.energy_j, lo_j: net.lo_j, hi_j: net.hi_j },
    mean_power_w,
    peak_power_w: Math.max(mean_power_w, peakOf(series, window, period_ns)),
    baseline_power_w: net.baseline_w,
    reason: null,
  };
}

const reasons = {
  not_covered: 'not read at both ends',
  low_coverage: 'read in less than 95 % of the time',
  empty_window: 'it took no time',
  stale_counter: 'its counter stood still',
} as const;

const unknown = (
  account: Pick<DomainAccount, 'domain' | 'coverage_ratio' | 'samples'>,
  reason: string,
): DomainAccount => ({
  ...account,
  gross: nothing,
  net: nothing,
  mean_power_w: null,
  peak_power_w: null,
  baseline_power_w: null,
  reason,
});

function baselineOf(series: PowerSeries, idle: Window): BaselinePoint | null {
  const { power_w, lo_w, hi_w } = meanPower(series, idle);
  if (power_w === null || lo_w === null || hi_w === null) return null;
  const at: Instant = instant(idle.start + (idle.end - idle.start) / 2n);
  return { at, power_w, lo_w, hi_w };
}

/** Readings can lie closer together than the sensor's own steps, so a peak is told over spans that even them out. */
function peakOf({ at_ns, booked_j, domain }: PowerSeries, window: Window, period_ns: number): number {
  const least = BigInt(Math.round(Math.max(0.9 * period_ns, 10 * domain.update_period_ns)));
  const inside = [...at_ns.keys()].filter((i) => {
    const at = at_ns[i] ?? 0n;
    return at >= window.start && at <= window.end;
  });
  let peak = 0;
  let first = 0;
  for (const to of inside) {
    const end = at_ns[to] ?? 0n;
    const length = (k: number) => end - (at_ns[inside[k] ?? to] ?? end);
    while (length(first + 1) >= least) first += 1;
    if (length(first) < least) continue;
    const drawn = (booked_j[to] ?? 0) - (booked_j[inside[first] ?? to] ?? 0);
    peak = Math.max(peak, (drawn / Number(length(first))) * 1e9);
  }
  return peak;
}

/** What the total came to, beside its domains. */
export type TotalAccount = Pick<DomainAccount, 'gross' | 'net' | 'mean_power_w'>;

/** Sum over the domains of the total; a part that is unknown makes the sum unknown, not smaller. */
export function totalAccount(accounts: readonly DomainAccount[]): TotalAccount {
  const summed = summedOf(accounts.map(({ domain }) => domain));
  const counted = accounts.filter(({ domain }) => summed.includes(domain));
  return {
    gross: sumBounded(counted.map(({ gross }) => gross)),
    net: sumBounded(counted.map(({ net }) => net)),
    mean_power_w: sumKnown(counted.map(({ mean_power_w }) => mean_power_w)),
  };
}

const sumBounded = (parts: readonly Bounded[]): Bounded => ({
  energy_j: sumKnown(parts.map(({ energy_j }) => energy_j)),
  lo_j: sumKnown(parts.map(({ lo_j }) => lo_j)),
  hi_j: sumKnown(parts.map(({ hi_j }) => hi_j)),
});

const sumOf = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);
