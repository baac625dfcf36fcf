import { quantileOf } from '../stats.mjs';

/**
 * How late readings came after their deadlines. `readings` are `[begun_ns, ended_ns]` in their order, the first of them taken
 * before there were deadlines. Deadlines are `period_ns` apart; those that have passed when a reading ends are skipped.
 * Their phase isn't told, so it is the latest at which no reading came early: the least late one counts as on time.
 */
export function lateness(readings, period_ns) {
  const scheduled = readings.slice(1);
  if (scheduled.length === 0) return null;
  let phase = scheduled[0][0];
  let found = { late_ns: [], skipped: 0 };
  for (let i = 0; i < 4; i += 1) {
    found = against(scheduled, { phase, period_ns });
    phase += found.late_ns.reduce((least, late) => Math.min(least, late));
  }
  const sorted = found.late_ns.toSorted((a, b) => a - b);
  const at = (share) => quantileOf(sorted, share) / 1e3;
  return { p50_us: at(0.5), p90_us: at(0.9), p99_us: at(0.99), max_us: at(1), skipped: found.skipped };
}

function against(scheduled, { phase, period_ns }) {
  const late_ns = [];
  let skipped = 0;
  let deadline = phase;
  for (const [from, to] of scheduled) {
    late_ns.push(from - deadline);
    const passed = Math.max(0, Math.ceil((to - deadline - period_ns) / period_ns));
    skipped += passed;
    deadline += period_ns * (1 + passed);
  }
  return { late_ns, skipped };
}
