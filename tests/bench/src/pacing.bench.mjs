// How exactly calls go out: the pacer's lag at 100, 1,000 and 5,000 calls a second, without a network, and the share that is
// delivered. The schedules themselves are tested; what a machine makes of them is only reported.
import { loadavg } from 'node:os';
import { dealPace } from './load/dealt-pace.mjs';

const rates = [100, 1000, 5000];

export async function run({ long = false } = {}) {
  const seconds = long ? 60 : 5;
  const rows = [];
  for (const rate of rates) rows.push({ rate, ...(await dealPace({ rate, seconds })) });
  const ms = (ns) => (ns / 1e6).toFixed(2).padStart(8);
  const lines = [
    `Poisson arrivals for ${seconds} s each; lag in ms`,
    '    rate  delivered       p50      p90      p99      max   CPU',
    ...rows.map(
      ({ rate, delivered, p50, p90, p99, max, cpu }) =>
        `${String(rate).padStart(8)}  ${(100 * delivered).toFixed(2).padStart(8)} % ${[p50, p90, p99, max].map(ms).join(' ')} ${(100 * cpu).toFixed(0).padStart(4)} %`,
    ),
    `load average ${(loadavg()[0] ?? 0).toFixed(0)}`,
  ];
  return { passed: rows.every(({ sent, due }) => sent === due), lines, data: { seconds, rows } };
}
