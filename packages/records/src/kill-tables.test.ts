import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as process from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRng, type Rng } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compactRun } from './compact-run.js';
import { openRun, type RunFolder } from './run-folder.js';
import { smallRun } from './small-run.fixture.js';
import { verifyRun } from './verify-run.js';

const KILLS = process.env['PERWATT_FULL'] === '1' ? 100 : 10;
const MOST_REPORTS = 12;
const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'records', 'dist', 'index.js');
const coreDist = join(root, 'core', 'dist', 'index.js');

/**
 * Opens a sitting of cell c-a and writes batches of all tables, reporting the number of items done after each round of
 * flushes, until `most` items have rows; then it closes everything. What an earlier process left is gone on with.
 */
const child = `
import { tables } from ${JSON.stringify(pathToFileURL(coreDist).href)};
import { completedQueries, openRun, queryId, SegmentWriter } from ${JSON.stringify(pathToFileURL(dist).href)};
const run = openRun(process.argv[2]);
const most = Number(process.argv[3]);
const domain = JSON.parse(process.argv[4]);
const release = run.lock();
const cell_id = 'c-a';
const folder = run.cellFolder(cell_id);
const behind = completedQueries(run, cell_id);
const before = run.readCell(cell_id);
const sitting = before.sittings.length;
const open = { sitting, state: 'open', boot_id: 'b', start_ns: '0', end_ns: null, warmup_calls: 0, baselines: [], foreign_load_ratio: null, suspended: null };
const crashed = before.sittings.map((s) => (s.state === 'open' ? { ...s, state: 'crashed', end_ns: '9' } : s));
run.writeCell({ ...before, status: 'running', sittings: [...crashed, open] });
const file = 'rapl-' + run.nextSegment(run.powerFolder, 'rapl') + '.arrows';
const power = { file, source: 'rapl', provenance: 'counter', period_ns: 1, domains: [domain], boot_id: 'b', segment: null };
run.updateManifest({ power: [...run.manifest.power, power] });
const create = (table, into = folder, name = table + '-' + run.nextSegment(folder, table) + '.arrows') =>
  SegmentWriter.create({ folder: into, file: name, table, sitting, metadata: { run_id: run.manifest.run_id, cell_id } });
const writers = { calls: create('calls'), texts: create('texts'), queries: create('queries') };
const samples = create('samples', run.powerFolder, file);
const fill = { name: 'n', text: 't', bool: true, uint64: 1n, int64: 1n, list_float64: [1, 2] };
const row = (table, given) => ({ ...Object.fromEntries(Object.entries(tables[table]).map(([name, c]) => [name, fill[c.type] ?? 1])), ...given });
const own = { run_id: run.manifest.run_id, cell_id, sitting };
const point = { model: before.point.model, accelerator: 'x', dataset: 'd', strategy: 's' };
const idOf = (i) => queryId(cell_id, 'item ' + i, 0);
let done = behind.settled.size;
let at = 0;
const step = () => {
  const some = [];
  while (some.length < 1 + (at % 40) && at < most) { if (!behind.settled.has(idOf(at))) some.push(at); at++; }
  const fresh = some.filter((i) => !behind.answered.has(idOf(i)));
  writers.calls.append(fresh.map((i) => row('calls', { ...own, query_id: idOf(i) })));
  writers.calls.flush();
  writers.texts.append(fresh.map((i) => row('texts', { ...own, query_id: idOf(i), kind: 'answer', text: 'x'.repeat((i * 37) % 5000) })));
  writers.texts.flush();
  writers.queries.append(some.map((i) => row('queries', { ...own, ...point, query_id: idOf(i), item_id: 'item ' + i, repeat: 0 })));
  writers.queries.flush();
  samples.append(some.map((i) => row('samples', { at_ns: BigInt(i), domain: domain.id })));
  samples.flush();
  done += some.length;
  process.stdout.write(done + '\\n');
  if (at < most) return setImmediate(step);
  const segments = Object.values(writers).map((w) => w.close());
  run.updateManifest({ status: 'done', power: run.manifest.power.map((p) => (p.file === file ? { ...p, segment: samples.close() } : p)) });
  const now = run.readCell(cell_id);
  const sittings = now.sittings.map((s) => (s.sitting === sitting ? { ...s, state: 'closed', end_ns: '9' } : s));
  run.writeCell({ ...now, status: 'done', sittings, segments: [...now.segments, ...segments] });
  release();
};
step();
`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kill-tables-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Child {
  readonly script: string;
  readonly run: RunFolder;
  /** Reports after which it is killed, and how much later; null to let it end. */
  readonly kill: { readonly reports: number; readonly pause_ms: number } | null;
  readonly items: number;
}

const domain = testDomain({ id: 'rapl:0:package-0', source: 'rapl', provenance: 'counter' });

/** Runs the child to its end, or kills it; returns what it reported last and how it ended. */
async function runChild({ script, run, kill, items }: Child) {
  const running = spawn(process.execPath, [script, run.path, String(items), JSON.stringify(domain)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(running, 'exit');
  let reported = 0;
  let seen = 0;
  for await (const line of createInterface({ input: running.stdout })) {
    reported = Number(line);
    seen += 1;
    if (seen === kill?.reports) setTimeout(() => running.kill('SIGKILL'), kill.pause_ms);
  }
  const [code, signal] = await ended;
  return { reported, code, signal };
}

const killAt = (rng: Rng) => ({ reports: 1 + Math.floor(rng() * MOST_REPORTS), pause_ms: rng() * 6 });

test(`every batch of every table outlives kill -9 at ${KILLS} random moments, and the run completes and is whole`, {
  timeout: 600_000,
}, async ({ skip }) => {
  if (!existsSync(dist)) return skip(`the child runs on built files: ${dist} is missing`);
  const script = join(folder, 'child.mjs');
  writeFileSync(script, child);
  const run = smallRun(folder, { run_id: 'killed', cells: ['a'], worked: [] });
  run.updateManifest({ power: [] });
  rmSync(join(run.powerFolder, 'rapl-0.arrows'));
  const rng = createRng(2027);
  for (let n = 0; n < KILLS; n++) {
    const { reported, signal } = await runChild({ script, run, kill: killAt(rng), items: 1e9 });
    expect(signal).toBe('SIGKILL');
    const { rows, torn } = run.readQueries('c-a');
    expect(rows.length).toBeGreaterThanOrEqual(reported);
    expect(rows.map((r) => r.item_id)).toEqual(rows.map((_, i) => `item ${i}`));
    expect(torn.every(({ reason }) => /^cut inside|no batch$/.test(reason))).toBe(true);
    expect(run.readTexts('c-a').rows.length).toBeGreaterThanOrEqual(reported);
    expect(run.readCalls('c-a').rows.length).toBeGreaterThanOrEqual(reported);
  }
  const items = run.readQueries('c-a').rows.length + 50;
  expect(await runChild({ script, run, kill: null, items })).toEqual({
    reported: items,
    code: 0,
    signal: null,
  });
  const { findings, rows } = verifyRun(run.path);
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(rows).toBeGreaterThanOrEqual(3 * items);
  const ids = run.readQueries('c-a').rows.map((r) => r.query_id);
  expect(new Set(ids).size).toBe(items);
  const compacted = await compactRun(run.path);
  expect(compacted[0]?.tables[0]).toMatchObject({ table: 'queries', rows: items });
  expect(JSON.parse(readFileSync(join(run.path, 'run.json'), 'utf8'))).toMatchObject({ status: 'done' });
  expect(openRun(run.path).readCell('c-a').sittings).toHaveLength(KILLS + 1);
});
