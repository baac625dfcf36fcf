/** How the client itself fared while it drove a load. Null where it can't be told. */
export interface ClientHealth {
  /** Busiest worker's CPU time over wall time, 0…1 of a core. */
  readonly busiest_core_ratio: number | null;
  /** Longest share of time that one event loop had no turn to wait in, 0…1. */
  readonly loop_utilization_ratio: number | null;
  /** p99 of how late the event loop came round, ns. */
  readonly loop_delay_p99_ns: number | null;
  /** p99 of how late calls went out for other reasons than a cap, ns; null in a closed loop or under a cap that was reached. */
  readonly lag_p99_ns: number | null;
  /** Share of time spent collecting garbage, 0…1. */
  readonly gc_ratio: number | null;
  /** Rate that the client reached against a server on this machine that takes no time, 1/s; null when it was not tried. */
  readonly calibrated_per_s: number | null;
}

/** What the load itself measured, to hold the client's own delays against. */
export interface LoadedTimes {
  readonly ttft_p50_ns: number | null;
  readonly gap_p50_ns: number | null;
  readonly achieved_per_s: number | null;
}

/** One sign that the client, not the server, set a result. */
export interface ClientLimit {
  readonly code: 'busy' | 'lag' | 'loop_delay' | 'gc' | 'rate';
  readonly text: string;
}

const BUSY = 0.7;
const SHARE_OF_TIME = 0.1;
const GC = 0.2;
const NEAR_TOP = 0.8;

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
const ms = (ns: number) => `${(ns / 1e6).toFixed(2)} ms`;

/**
 * Why a result may be the client's doing: busy more than 70 % of a core, lag or loop delay p99 above a tenth of the median
 * time to first token or gap between tokens, more than a fifth of the time collecting garbage, or more than 80 % of the
 * rate it could reach at all. Empty when nothing points to it.
 */
export function clientLimits(health: ClientHealth, load: LoadedTimes): ClientLimit[] {
  return [...busyLimits(health), ...delayLimits(health, load), ...rateLimits(health, load)];
}

function* busyLimits({ busiest_core_ratio, loop_utilization_ratio, gc_ratio }: ClientHealth) {
  const busy = Math.max(busiest_core_ratio ?? 0, loop_utilization_ratio ?? 0);
  if (busy > BUSY) yield limit('busy', `the client was busy ${percent(busy)} of a core`);
  if (gc_ratio !== null && gc_ratio > GC)
    yield limit('gc', `the client collected garbage ${percent(gc_ratio)} of the time`);
}

function* delayLimits({ lag_p99_ns, loop_delay_p99_ns }: ClientHealth, load: LoadedTimes) {
  const times = [load.ttft_p50_ns, load.gap_p50_ns].filter(
    (time): time is number => time !== null && time > 0,
  );
  if (times.length === 0) return;
  const least = Math.min(...times);
  for (const [code, value, what] of [
    ['lag', lag_p99_ns, 'calls went out'],
    ['loop_delay', loop_delay_p99_ns, 'the event loop came round'],
  ] as const) {
    if (value !== null && value > SHARE_OF_TIME * least)
      yield limit(code, `${what} ${ms(value)} late (p99), where ${ms(least)} was measured`);
  }
}

function* rateLimits({ calibrated_per_s }: ClientHealth, { achieved_per_s }: LoadedTimes) {
  if (calibrated_per_s === null || achieved_per_s === null) return;
  if (achieved_per_s > NEAR_TOP * calibrated_per_s)
    yield limit(
      'rate',
      `${achieved_per_s.toFixed(0)} calls/s are near the ${calibrated_per_s.toFixed(0)} that this client can send`,
    );
}

const limit = (code: ClientLimit['code'], text: string): ClientLimit => ({ code, text });
