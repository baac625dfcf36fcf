// A trace of 1.43 million rows, the size of BurstGPT_1, made, read and made again in another likeness, each step in a process
// of its own: how long it takes, and that memory stays small.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROWS = 1_430_000;
const RSS_MB = 300;

export async function run({ rows = ROWS } = {}) {
  const root = mkdtempSync(join(process.env.PERWATT_BENCH_DIR ?? tmpdir(), 'perwatt-traces-'));
  try {
    const steps = ['make', 'read', 'like'].map((step) => ({ step, ...inProcess(step, root, rows) }));
    const lines = steps.map(
      ({ step, rows: done, bytes, cpu_s, rss_mb }) =>
        `${step}: ${done} rows, ${(bytes / 1e6).toFixed(1)} MB, ${cpu_s.toFixed(1)} CPU s (${(done / cpu_s / 1e6).toFixed(2)} M rows per CPU s), ${rss_mb.toFixed(0)} MB resident at most (limit ${RSS_MB})`,
    );
    const passed = steps.every((step) => step.rows === rows && step.rss_mb <= RSS_MB);
    return { passed, lines, data: { steps } };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function inProcess(step, root, rows) {
  const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), step, root, String(rows)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(out);
}

const read = async (root) => {
  const { loadTrace } = await import('@perwatt/datasets');
  return loadTrace('made.csv', { root, zeroOutput: 'keep' });
};

const steps = {
  async make(root, rows) {
    const { synthShape } = await import('@perwatt/datasets');
    return write(
      join(root, 'made.csv'),
      synthShape({
        rows,
        seed: 1,
        arrivals: { shape: 'gamma', rate_per_s: 0.15, cv: 2 },
        input: { mean: 620, cv: 1.1 },
        output: { mean: 250, cv: 0.9 },
      }),
      rows,
    );
  },
  async read(root) {
    const table = await read(root);
    return { rows: table.length, bytes: table.meta.bytes };
  },
  async like(root, rows) {
    const { synthLike } = await import('@perwatt/datasets');
    return write(join(root, 'like.csv'), synthLike(await read(root), { rows, seed: 2 }), rows);
  },
};

async function write(path, trace, rows) {
  const { traceBytes } = await import('@perwatt/datasets');
  const fd = openSync(path, 'w');
  for (const part of traceBytes(trace, 'burstgpt')) writeSync(fd, part);
  closeSync(fd);
  return { rows, bytes: statSync(path).size };
}

const [step, root, rows] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url) && step in steps) {
  const done = await steps[step](root, Number(rows));
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  console.log(JSON.stringify({ ...done, cpu_s: (userCPUTime + systemCPUTime) / 1e6, rss_mb: maxRSS / 1024 }));
}
