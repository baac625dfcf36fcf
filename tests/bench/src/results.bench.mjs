// The results table at scale: every figure, exact quantile and interval of 24 models × 6 accelerators × 10 data sets, beside
// pandas and pyarrow on the same segments, and beside a tenth of the rows. 2 million rows, 20 million in the long form, or
// as many as `node tests/bench/src/results.bench.mjs --rows N` says. The clock tells how busy the machine is: the lead and
// the growth are judged by CPU time.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pandasPython } from './results/pandas-python.mjs';

const limits = { seconds: 10, rss_mb: 2000, lead: 3, growth: 1.2 };
const THREADS = 2;
const script = fileURLToPath(new URL('./results/pandas_table.py', import.meta.url));

export async function run({ long = false, rows = long ? 20_000_000 : 2_000_000 } = {}) {
  const root = mkdtempSync(join(process.env.PERWATT_BENCH_DIR ?? tmpdir(), 'perwatt-results-'));
  try {
    const { path, cells, rows: written } = inProcess('write', root, rows);
    const ours = inProcess('table', path, THREADS);
    const alone = inProcess('table', path, 1);
    const tenth = inProcess('write', join(root, 'tenth'), rows / 10);
    const small = inProcess('table', tenth.path, 1);
    const growth = alone.cpu_s / small.cpu_s / (written / tenth.rows);
    const { python, missing } = pandasPython();
    const theirs =
      python === null ? null : JSON.parse(execFileSync(python, [script, path], { encoding: 'utf8' }));
    const lead =
      theirs === null ? null : { wall: theirs.seconds / ours.seconds, cpu: theirs.cpu_s / ours.cpu_s };
    const lines = [
      `${written} rows, ${cells} cells`,
      `load average ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`,
      `ours, ${THREADS} threads: ${said(ours)} (limits ${limits.seconds} s, ${limits.rss_mb} MB); results.json ${ours.sha256.slice(0, 12)}`,
      `ours, 1 thread: ${said(alone)}; ${alone.sha256 === ours.sha256 ? 'the same bytes' : 'OTHER BYTES'}`,
      `ours, 1 thread, ${tenth.rows} rows: ${said(small)}: CPU time grows ${growth.toFixed(2)} times as fast as rows (at most ${limits.growth})`,
      theirs === null ? `not compared: ${missing}` : `pandas and pyarrow: ${said(theirs)}`,
      lead === null
        ? ''
        : `lead ${lead.cpu.toFixed(1)}× by CPU time (least ${limits.lead}×), ${lead.wall.toFixed(1)}× by the clock`,
    ].filter((line) => line !== '');
    const fits = ours.seconds <= limits.seconds && ours.rss_mb <= limits.rss_mb && growth <= limits.growth;
    const exact = alone.sha256 === ours.sha256;
    const passed = fits && exact && (lead === null || lead.cpu >= limits.lead);
    return { passed, lines, data: { rows: written, cells, ours, alone, small, growth, theirs, lead } };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const said = ({ seconds, cpu_s, rss_mb }) =>
  `${seconds.toFixed(1)} s, ${cpu_s.toFixed(1)} s of CPU, ${rss_mb.toFixed(0)} MB`;

/** Each step in a process of its own: what it needs of memory is its own. */
function inProcess(step, ...args) {
  const own = [fileURLToPath(import.meta.url), step, ...args.map(String)];
  return JSON.parse(
    execFileSync(process.execPath, own, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

const domain = {
  id: 'made-up',
  source: 'made-up',
  scope: 'system',
  kind: 'counter',
  provenance: 'simulated',
  in_total: true,
  quantum: null,
  update_period_ns: 1e6,
  scale_error_ratio: null,
  sensing_share_ratio: null,
  note: null,
};

const steps = {
  /** The run says whose the joules of its queries are; there are no samples of it. */
  async write(root, rows) {
    const { openRun } = await import('@perwatt/records');
    const { writeBigRun } = await import('./big-run.mjs');
    const written = await writeBigRun({ root, rows: Number(rows) });
    const file = { file: 'made-up-0.arrows', source: 'made-up', provenance: 'simulated', period_ns: 1e8 };
    const power = [{ ...file, boot_id: null, domains: [domain], segment: null, channels: null }];
    openRun(written.path).updateManifest({ power });
    return written;
  },
  async table(path, threads) {
    const { createHash } = await import('node:crypto');
    const { openRun } = await import('@perwatt/records');
    const { buildResultsOn, resultsCsv, resultsJson } = await import('@perwatt/reports');
    const [began, before] = [performance.now(), process.cpuUsage()];
    const results = await buildResultsOn(openRun(path), { threads: Number(threads) });
    const [json, csv] = [resultsJson(results), resultsCsv(results)];
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(before);
    const sha256 = createHash('sha256').update(json).update(csv).digest('hex');
    return { seconds, cpu_s: (user + system) / 1e6, sha256 };
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [step, ...args] = process.argv.slice(2);
  if (step === '--rows') {
    const { passed, lines } = await run({ rows: Number(args[0]) });
    console.log([...lines, passed ? 'passed' : 'FAILED'].join('\n'));
    process.exitCode = passed ? 0 : 1;
  } else {
    const result = await steps[step](...args);
    console.log(JSON.stringify({ ...result, rss_mb: process.resourceUsage().maxRSS / 1024 }));
  }
}
