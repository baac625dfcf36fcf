// A long trace replayed against the mock on one machine, server and client together: every row accounted for, the rate, and
// the most memory that the client took. 50,000 rows, a million in the long form, or as many as
// `node tests/bench/src/replay.bench.mjs --rows N` says.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMockServer } from '@perwatt/clients';
import { writeBurstTrace } from './load/burst-trace.mjs';

const limits = { rss_mb: 300 };
const bin = fileURLToPath(new URL('../../../packages/cli/bin/perwatt.js', import.meta.url));

export async function run({ long = false, rows = long ? 1_000_000 : 50_000 } = {}) {
  const root = mkdtempSync(join(process.env.PERWATT_BENCH_DIR ?? tmpdir(), 'perwatt-replay-'));
  const mock = await startMockServer();
  try {
    const trace = join(root, 'trace.csv');
    await writeBurstTrace(trace, rows);
    const began = performance.now();
    const { result, rss_mb } = await replay(['replay', trace, '--endpoint', mock.url, '--out', root]);
    const seconds = (performance.now() - began) / 1000;
    const rate = (rows / result.span_ns) * 1e9;
    const server = await mock.stats();
    const lines = [
      `${rows} rows, ${result.calls} calls on disk, ${result.ok} ended well`,
      `${rate.toFixed(0)} calls/s over ${(result.span_ns / 1e9).toFixed(1)} s, ${seconds.toFixed(1)} s with reading, settling and adding up`,
      `${rss_mb.toFixed(0)} MB resident at most (limit ${limits.rss_mb}); the server took ${((server?.cpu_ns ?? 0) / 1e9).toFixed(1)} s of CPU`,
    ];
    const passed = result.calls === rows && result.ok === rows && rss_mb <= limits.rss_mb;
    return { passed, lines, data: { rows, rate, seconds, rss_mb, result } };
  } finally {
    await mock.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const flags = [
  '--speed',
  '1000',
  '--concurrency',
  '64',
  '--no-check',
  '--baseline',
  '1s',
  '--json',
  '--quiet',
];

/** Runs the command and looks at its memory all the while. */
async function replay(args) {
  const child = spawn(process.execPath, [bin, ...args, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  let rss_kb = 0;
  child.stdout.on('data', (bytes) => {
    out += bytes;
  });
  const looking = setInterval(() => {
    rss_kb = Math.max(rss_kb, peakOf(child.pid));
  }, 200);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(looking);
  if (code !== 0) throw new Error(`the replay ended with exit code ${code}`);
  return { result: JSON.parse(out), rss_mb: rss_kb / 1024 };
}

/** The most memory a process ever had, KB; 0 where the system does not tell. */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--rows');
  const { lines, passed } = await run(at < 0 ? {} : { rows: Number(process.argv[at + 1]) });
  for (const line of lines) console.log(line);
  process.exitCode = passed ? 0 : 1;
}
