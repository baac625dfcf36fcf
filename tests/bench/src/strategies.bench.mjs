// What strategies cost the harness: CPU time of a call where the model answers at once, rows written and synced, and how busy a
// debate keeps a server that takes its time. The first is the harness alone, without a network; the second the whole command.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startMockServer } from '@perwatt/clients';
import { loadDataset } from '@perwatt/datasets';
import { numeric } from '@perwatt/graders';
import { runQuery } from '@perwatt/harness';
import { clock } from '@perwatt/native-power';
import { openRun, SegmentWriter } from '@perwatt/records';
import { strategyById } from '@perwatt/strategies';
import { medianOf } from './stats.mjs';

const perwatt = new URL('../../../packages/cli/bin/perwatt.js', import.meta.url).pathname;
const MOST_CPU_MS = 0.2;
const LEAST_BUSY = 0.95;
const IN_FLIGHT = 64;
const SERVICE_MS = 100;

/** A client that answers at once. */
const instantClient = {
  open: async () => null,
  close: async () => {},
  async call() {
    const now = clock.now();
    const [dispatch_ns, sent_ns, first, end_ns] = [now, now, now, now];
    return {
      status: 'ok',
      content: 'The answer is 42.',
      reasoning: '',
      tool_calls: [],
      finish_reason: 'stop',
      usage: { prompt_tokens: 20, completion_tokens: 6 },
      done: true,
      events: 6,
      content_events: 6,
      n_tokens: 6,
      token_source: 'server_usage',
      http_status: 200,
      error_kind: null,
      error_message: null,
      reads: 1,
      bytes_in: 800,
      bytes_out: 300,
      conn_reused: true,
      stamps: {
        dispatch_ns,
        socket_ns: now,
        sent_ns,
        headers_ns: now,
        first_event_ns: first,
        first_any_ns: first,
        first_content_ns: first,
        last_content_ns: end_ns,
        done_ns: end_ns,
        end_ns,
      },
      icl_ns: [0, 0, 0, 0, 0],
      event_tokens: null,
    };
  },
};

const cases = [
  { id: 'single', params: {} },
  { id: 'self_consistency', params: { attempts: 5 } },
  { id: 'debate', params: { members: 3, rounds: 2 } },
];

/** CPU time (ms) of one call, over queries that together make about `calls` of them, `IN_FLIGHT` at a time. */
async function cpuOfCall({ id, params }, { calls, items, folder }) {
  const strategy = strategyById(id);
  const parsed = strategy.params.parse(params);
  const queries = Math.ceil(calls / strategy.calls(parsed));
  const writer = (table) =>
    SegmentWriter.create({
      folder,
      file: `${table}-0.arrows`,
      table,
      sitting: 0,
      metadata: { run_id: 'r', cell_id: 'c' },
    });
  const [ofCalls, ofTexts] = [writer('calls'), writer('texts')];
  const bound = { client: instantClient, facts: { pids: [] }, model: 'm', request_model: 'm' };
  let seq = 0;
  const base = {
    run_id: 'r',
    cell_id: 'c',
    sitting: 0,
    phase: 'measure',
    clients: new Map([['main', bound]]),
    signal: new AbortController().signal,
    nextSeq: () => seq++,
    onCall(row, texts) {
      ofCalls.append([row]);
      ofTexts.append(texts);
    },
  };
  const aids = { worldOf: null, language: null, router: null };
  const cell = {
    seed: 1,
    strategy,
    params: parsed,
    sampling: {},
    grader: numeric,
    mode: 'robust',
    max_tokens: 32,
    aids,
  };
  let next = 0;
  const worker = async () => {
    while (next < queries) {
      const index = next++;
      const item = items[index % items.length];
      await runQuery(
        cell,
        { item, repeat: Math.floor(index / items.length) },
        { ...base, query_id: `c/${item.id}/${index}` },
      );
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  ofCalls.close();
  ofTexts.close();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / seq;
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-bench-strategies-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The share of its slots' time that a server was busy from the first call of a debate to the end of the last. */
async function busyShare(items) {
  const mock = await startMockServer({
    slots: IN_FLIGHT,
    ttft: { kind: 'constant', ms: SERVICE_MS },
    tokens: 16,
  });
  try {
    return await inFolder(async (folder) => {
      const matrix = {
        name: 'debate',
        protocol: 'quick',
        axes: {
          model: [{ id: 'mock', endpoint: 'here' }],
          dataset: [{ id: 'sums', kind: 'arithmetic', level: 2, limit: items, max_tokens: 16 }],
          strategy: [{ id: 'debate', members: 3, rounds: 2 }],
          load: [{ concurrency: IN_FLIGHT }],
        },
        power: { sources: [] },
        endpoints: { here: { url: mock.url } },
      };
      writeFileSync(join(folder, 'matrix.json'), JSON.stringify(matrix));
      const args = [perwatt, 'run', 'matrix.json', '--quiet', '--no-report', '--no-compact'];
      await promisify(execFile)(process.execPath, args, { cwd: folder }).catch((error) => {
        if (error.code !== 0) throw new Error(`perwatt run ended with ${error.code}: ${error.stderr}`);
      });
      const [name] = readdirSync(join(folder, 'runs'));
      const run = openRun(join(folder, 'runs', name));
      const calls = run.readCalls(run.cells()[0].cell_id).rows.filter(({ phase }) => phase === 'measure');
      const stamps = (key) => calls.map((call) => Number(call[key] - calls[0].dispatch_ns));
      const least = (values) => values.reduce((a, b) => Math.min(a, b));
      const most = (values) => values.reduce((a, b) => Math.max(a, b));
      const seconds = (most(stamps('end_ns')) - least(stamps('dispatch_ns'))) / 1e9;
      return {
        calls: calls.length,
        seconds,
        share: (calls.length * SERVICE_MS) / 1000 / (IN_FLIGHT * seconds),
      };
    });
  } finally {
    await mock.close();
  }
}

const parts = (process.env.PERWATT_BENCH_PARTS ?? 'cost,busy').split(',');

async function costs({ rounds, calls }) {
  const { items } = await loadDataset(
    { kind: 'arithmetic', options: { level: 2 }, limit: 500 },
    { root: '/', seed: 1 },
  );
  const rows = [];
  for (const each of cases) {
    const measured = (size) => inFolder((folder) => cpuOfCall(each, { calls: size, items, folder }));
    await measured(2000);
    const times = [];
    for (let i = 0; i < rounds; i++) times.push(await measured(calls));
    rows.push({
      strategy: each.id,
      cpu_ms: medianOf(times),
      least_ms: Math.min(...times),
      most_ms: Math.max(...times),
    });
  }
  return rows;
}

const costLines = (rows, { rounds, calls }) => [
  `CPU time of a call with a model that answers at once, ${calls} calls, median of ${rounds}; at most ${MOST_CPU_MS} ms`,
  ...rows.map(
    ({ strategy, cpu_ms, least_ms, most_ms }) =>
      `${strategy.padEnd(18)} ${cpu_ms.toFixed(3)} ms  (${least_ms.toFixed(3)} to ${most_ms.toFixed(3)})`,
  ),
];

const busyLine = ({ calls, seconds, share }) =>
  `a debate of 3 members in 2 rounds, ${IN_FLIGHT} queries at a time at ${IN_FLIGHT} slots of ${SERVICE_MS} ms: ${calls} calls in ${seconds.toFixed(1)} s, slots busy ${(100 * share).toFixed(1)} %; at least ${100 * LEAST_BUSY} %`;

export async function run({ long = false } = {}) {
  const size = long ? { rounds: 9, calls: 60_000 } : { rounds: 3, calls: 12_000 };
  const rows = parts.includes('cost') ? await costs(size) : [];
  const busy = parts.includes('busy') ? await busyShare(1000) : null;
  return {
    passed: rows.every(({ cpu_ms }) => cpu_ms <= MOST_CPU_MS) && (busy === null || busy.share >= LEAST_BUSY),
    lines: [
      ...(rows.length === 0 ? [] : costLines(rows, size)),
      ...(busy === null ? [] : [busyLine(busy)]),
      `load average ${(loadavg()[0] ?? 0).toFixed(0)}`,
    ],
    data: { rows, busy },
  };
}
