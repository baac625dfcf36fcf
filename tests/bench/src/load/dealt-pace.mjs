import { drawSchedule, startPacer } from '@perwatt/harness';
import { clock } from '@perwatt/native-power';

/** Paces calls that do nothing, and says how late they were; times in ns. */
export async function dealPace({ rate, seconds }) {
  const { due_ns } = drawSchedule({ kind: 'poisson', rate_per_s: rate }, { count: rate * seconds, seed: 7 });
  const lags = new Float64Array(due_ns.length);
  let sent = 0;
  let last = 0;
  const before = process.cpuUsage();
  const zero = clock.now() + 20_000_000n;
  const pacer = startPacer({
    due_ns,
    zero,
    clock,
    cap: null,
    send(index, sched_ns) {
      const now = clock.now();
      lags[index] = Number(now - sched_ns);
      last = Number(now - zero);
      sent += 1;
      pacer.ended();
    },
  });
  await pacer.sent;
  const { user, system } = process.cpuUsage(before);
  const sorted = lags.toSorted();
  const at = (p) => sorted[Math.max(Math.ceil(p * sorted.length) - 1, 0)];
  return {
    due: due_ns.length,
    sent,
    delivered: due_ns.at(-1) / last,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
    cpu: (user + system) / (last / 1000),
  };
}
