import type { WarmUpRule } from '@perwatt/core';
import type { WarmUpFacts } from '@perwatt/records';

/** What one round of a warm-up showed; null where it can't be told. */
export interface WarmRound {
  readonly tokens_per_s: number | null;
  readonly power_w: number | null;
}

/** How a warm-up reaches the world. */
export interface WarmWorld {
  readonly round: (n: number) => Promise<WarmRound>;
  readonly nowS: () => number;
  readonly signal: AbortSignal;
}

/**
 * Rounds until throughput and power of the last `window` of them differ by no more than `tolerance` of their mean, or until a
 * cap. Of the two, one that can't be told is not waited for; with neither it gives up after the first window.
 */
export async function warmUntilStable(rule: WarmUpRule, world: WarmWorld): Promise<WarmUpFacts> {
  const begun = world.nowS();
  const seconds = () => world.nowS() - begun;
  const rounds: WarmRound[] = [];
  let seen = stability(rounds, rule);
  while (!world.signal.aborted && rounds.length < rule.max_rounds && seconds() < rule.max_s) {
    rounds.push(await world.round(rounds.length));
    seen = stability(rounds, rule);
    if (seen.stable || seen.blind) break;
  }
  const { stable, throughput_spread_ratio, power_spread_ratio } = seen;
  const reason = stable
    ? unwatched(seen)
    : unstable(seen, { rounds: rounds.length, seconds: seconds(), rule });
  return {
    stable,
    rounds: rounds.length,
    seconds: seconds(),
    throughput_spread_ratio,
    power_spread_ratio,
    reason,
  };
}

interface Stability extends Pick<WarmUpFacts, 'stable' | 'throughput_spread_ratio' | 'power_spread_ratio'> {
  /** A whole window shows neither. */
  readonly blind: boolean;
}

/** Whether the last rounds agree. */
export function stability(
  rounds: readonly WarmRound[],
  { window, tolerance }: Pick<WarmUpRule, 'window' | 'tolerance'>,
): Stability {
  const last = rounds.slice(-window);
  const full = last.length === window;
  const spreads = {
    throughput_spread_ratio: spread(last.map((round) => round.tokens_per_s)),
    power_spread_ratio: spread(last.map((round) => round.power_w)),
  };
  const known = Object.values(spreads).filter((value) => value !== null);
  const stable = full && known.length > 0 && known.every((value) => value <= tolerance);
  return { ...spreads, stable, blind: full && known.length === 0 };
}

function spread(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  const mean = known.reduce((a, b) => a + b, 0) / known.length;
  if (known.length < values.length || known.length < 2 || !(mean > 0)) return null;
  return (Math.max(...known) - Math.min(...known)) / mean;
}

function unwatched({ throughput_spread_ratio, power_spread_ratio }: Stability): string | null {
  if (throughput_spread_ratio === null) return 'throughput could not be told';
  return power_spread_ratio === null ? 'power could not be told' : null;
}

function unstable(
  { blind, throughput_spread_ratio, power_spread_ratio }: Stability,
  { rounds, seconds, rule }: { readonly rounds: number; readonly seconds: number; readonly rule: WarmUpRule },
): string {
  if (blind) return 'neither throughput nor power could be told';
  const percent = (value: number | null) => (value === null ? 'unknown' : `${(value * 100).toFixed(1)} %`);
  return `not within ${percent(rule.tolerance)} after ${rounds} rounds and ${seconds.toFixed(1)} s: throughput ${percent(throughput_spread_ratio)}, power ${percent(power_spread_ratio)}`;
}
