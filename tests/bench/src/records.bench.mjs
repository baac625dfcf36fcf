// Records at scale: 24 models × 6 accelerators × 10 data sets written with a sync per batch, read back whole, and compacted.
// 2 million rows, 20 million in the long form, or as many as `node tests/bench/src/records.bench.mjs --rows N` says.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const limits = { rows_per_s: 2e6, rss_mb: 300, bytes_before: 200, bytes_after: 60 };

export async function run({ long = false, rows = long ? 20_000_000 : 2_000_000 } = {}) {
  const root = mkdtempSync(join(process.env.PERWATT_BENCH_DIR ?? tmpdir(), 'perwatt-records-'));
  try {
    const written = inProcess('write', root, rows);
    const compacted = inProcess('compact', root, rows);
    const rate = written.rows / written.write_s;
    const before = written.bytes / written.rows;
    const after = compacted.bytes / written.rows;
    const disk = syncedBytesPerSecond(root);
    const lines = [
      `${written.rows} rows, ${written.cells} cells, ${written.batches} batches, each synced`,
      `written at ${mega(rate)} M rows/s, all folders and manifests included (limit ${mega(limits.rows_per_s)}); making the rows up took ${written.make_s.toFixed(1)} s more`,
      `the disk takes ${mega(disk)} MB/s of the same bytes in synced writes of 4 MB, which alone is ${mega(disk / before)} M rows/s`,
      `${written.rss_mb.toFixed(0)} MB resident at most (limit ${limits.rss_mb})`,
      `${before.toFixed(1)} bytes a row in segments (limit ${limits.bytes_before})`,
      `${after.toFixed(1)} bytes a row in Parquet (limit ${limits.bytes_after}); ${compacted.seconds.toFixed(1)} s, ${compacted.rss_mb.toFixed(0)} MB`,
    ];
    const small = rows < 1e7;
    const sizes = before <= limits.bytes_before && (small || after <= limits.bytes_after);
    const passed = sizes && written.rss_mb <= limits.rss_mb && (small || rate >= limits.rows_per_s);
    if (small)
      lines.push(
        'below 10 million rows the fixed costs of 1,440 cells weigh: rate and Parquet size are not judged',
      );
    const data = { ...written, compacted, rate, bytes_before: before, bytes_after: after, disk };
    return { passed, lines, data };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Each step in a process of its own: what it needs of memory is its own. */
function inProcess(step, root, rows) {
  const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), step, root, String(rows)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(out);
}

const steps = {
  async write(root, rows) {
    const { writeBigRun } = await import('./big-run.mjs');
    const written = await writeBigRun({ root, rows });
    return { ...written, write_s: written.total_s - written.make_s };
  },
  async compact(root) {
    const { compactRun } = await import('@perwatt/records');
    const began = performance.now();
    const done = await compactRun(join(root, 'big'));
    const bytes = done.flatMap((each) => each.tables).reduce((sum, { path }) => sum + statSync(path).size, 0);
    return { bytes, seconds: (performance.now() - began) / 1000 };
  },
};

/** What the disk does with bytes like ours: as much as fits in a second, a sync after every 4 MB. */
function syncedBytesPerSecond(root) {
  const [cell] = readdirSync(join(root, 'big', 'cells'));
  const script = `
    const fs = require('node:fs');
    const [from, to] = process.argv.slice(1);
    const piece = Buffer.alloc(4_000_000, fs.readFileSync(from));
    const fd = fs.openSync(to, 'w');
    const began = performance.now();
    let bytes = 0;
    while (performance.now() - began < 1000) { fs.writeSync(fd, piece); fs.fdatasyncSync(fd); bytes += piece.length; }
    console.log((bytes / (performance.now() - began)) * 1000);`;
  const from = join(root, 'big', 'cells', cell, 'queries-0.arrows');
  return Number(
    execFileSync(process.execPath, ['-e', script, from, join(root, 'disk')], { encoding: 'utf8' }),
  );
}

const mega = (value) => (value / 1e6).toFixed(2);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [step, root, rows] = process.argv.slice(2);
  if (step === '--rows') {
    const { passed, lines } = await run({ rows: Number(root) });
    console.log([...lines, passed ? 'passed' : 'FAILED'].join('\n'));
    process.exitCode = passed ? 0 : 1;
  } else {
    const result = await steps[step](root, Number(rows));
    console.log(JSON.stringify({ ...result, rss_mb: process.resourceUsage().maxRSS / 1024 }));
  }
}
