import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MockServerOptions, startMockServer } from '@perwatt/clients';
import { createRng } from '@perwatt/core';
import { openRun, parseQueryId, verifyRun } from '@perwatt/records';
import { expect, onTestFinished, test } from 'vitest';
import { onlyRun, runCli, startCli, temporaryFolder } from './cli.js';

const KILLS = 3;

async function mock(options: MockServerOptions = {}) {
  const server = await startMockServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** A trace in the format of BurstGPT, `gap_s` between calls. */
function traceIn(folder: string, rows: number, gap_s: number): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const [input, output] = [10 + (i % 40), 1 + (i % 6)];
    return `${Math.floor(i * gap_s)},ChatGPT,${input},${output},${input + output},Conversation log`;
  });
  const file = join(folder, 'trace.csv');
  const header = 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type';
  writeFileSync(file, `${[header, ...lines].join('\r\n')}`);
  return file;
}

const rowsOf = (path: string): number[] => {
  const run = openRun(path);
  const ids = run.cells().flatMap((cell) => run.readCalls(cell.cell_id).rows.map((c) => c.query_id));
  return ids.map((id) => Number(parseQueryId(id)?.item_id)).sort((a, b) => a - b);
};

const quick = ['--baseline', '100ms', '--quiet'];

test('a trace is replayed row by row, and the result says how it went', async () => {
  const server = await mock({ ttft: { kind: 'constant', ms: 5 } });
  const folder = temporaryFolder();
  const trace = traceIn(folder, 300, 0.01);
  const { code, stdout, stderr } = await runCli(
    [
      'replay',
      trace,
      '--endpoint',
      server.url,
      '--out',
      folder,
      '--speed',
      '2',
      '--slo',
      'ttft=10s',
      '--workers',
      '2',
      '--json',
      ...quick,
    ],
    { cwd: folder },
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ status: 'done', calls: 300, ok: 300, good_fraction: 1 });
  expect(result.output_tokens).toBe(
    Array.from({ length: 300 }, (_, i) => 1 + (i % 6)).reduce((a, b) => a + b, 0),
  );
  expect(result.times.ttft_content.n).toBe(300);
  expect(result.loop).toMatchObject({ kind: 'open', due: 300 });
  expect(result.client[0].health.calibrated_per_s).toBeGreaterThan(0);
  expect(rowsOf(result.run)).toEqual([...Array(300).keys()]);
  expect(verifyRun(result.run).findings).toEqual([]);
});

test('a steady window by a named rule, and the limits, are in the result and in the report of the run', async () => {
  const server = await mock({ ttft: { kind: 'constant', ms: 20 }, tpot: { kind: 'constant', ms: 4 } });
  const folder = temporaryFolder();
  const trace = traceIn(folder, 60, 0);
  const args = ['replay', trace, '--endpoint', server.url, '--out', folder, '--no-check', '--json', ...quick];
  const load = ['--shape', 'closed', '--concurrency', '4', '--slo', 'ttft=10s'];
  const { code, stdout } = await runCli([...args, ...load, '--steady', 'plateau=0.5'], { cwd: folder });
  expect(code).toBe(0);
  const { run, steady } = JSON.parse(stdout);
  expect(steady.rule).toEqual({ rule: 'plateau', ratio: 0.5 });
  expect(steady.values.steady_tokens_per_s.value).toBeGreaterThan(0);
  expect(steady.values.steady_tokens_per_s.note).toContain('steady window by plateau');
  const ids = 'good_fraction,steady_tokens_per_s';
  const results = await runCli(['results', run, '--metric', ids, '--json'], { cwd: folder });
  const figures = JSON.parse(results.stdout).figures.map((own: { value: number }) => own.value);
  expect(figures).toEqual([1, steady.values.steady_tokens_per_s.value]);
  const again = await runCli(['replay', '--resume', run, '--steady', 'batch_full=999', '--quiet']);
  expect(again.stdout).toContain('steady    never, by batch_full (999 calls)');
}, 60_000);

test('killed at random rows and resumed, every row has one call: none is lost, none doubled', async () => {
  const server = await mock();
  const folder = temporaryFolder();
  const out = join(folder, 'runs');
  const trace = traceIn(folder, 4000, 0.001);
  const rng = createRng(20_261_130);
  const base = ['--no-check', '--baseline', '0s', '--quiet', '--power', 'none'];
  const args = ['replay', trace, '--endpoint', server.url, '--out', out, '--concurrency', '8', ...base];
  let running = startCli(args);
  for (let kill = 0; kill < KILLS; kill++) {
    const more = bytesOfCalls(out) + 20_000 + Math.floor(rng() * 100_000);
    await Promise.race([running.finished, untilBytes(out, more)]);
    running.process.kill('SIGKILL');
    await running.finished;
    running = startCli(['replay', '--resume', onlyRun(out), '--no-check', '--baseline', '0s', '--quiet']);
  }
  const { code, stderr } = await running.finished;
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const path = onlyRun(out);
  expect(rowsOf(path)).toEqual([...Array(4000).keys()]);
  const run = openRun(path);
  const [cell] = run.cells();
  expect(cell?.status).toBe('done');
  expect(run.readQueries(cell?.cell_id ?? '').rows).toHaveLength(4000);
}, 120_000);

test('killed while it adds up, and resumed, a replay sends nothing again and has each query once', async () => {
  const server = await mock();
  const folder = temporaryFolder();
  const out = join(folder, 'runs');
  const trace = traceIn(folder, 3000, 0.001);
  const base = ['--no-check', '--baseline', '0s', '--quiet'];
  const running = startCli(['replay', trace, '--endpoint', server.url, '--out', out, ...base]);
  await Promise.race([running.finished, untilThere(out, 'queries')]);
  running.process.kill('SIGKILL');
  await running.finished;
  const sent = (await server.stats())?.counts.requests;
  const { code } = await runCli(['replay', '--resume', onlyRun(out), ...base]);
  expect(code).toBe(0);
  expect((await server.stats())?.counts.requests).toBe(sent);
  const run = openRun(onlyRun(out));
  const [cell] = run.cells();
  const ids = run.readQueries(cell?.cell_id ?? '').rows.map(({ query_id }) => query_id);
  expect(new Set(ids).size).toBe(3000);
  expect(ids).toHaveLength(3000);
  expect(rowsOf(run.path)).toEqual([...Array(3000).keys()]);
  const ledger = cell!.ledgers[0]!;
  if (ledger.meter_j === null) expect(['low_coverage', 'not_covered']).toContain(ledger.reason);
  else expect(ledger.queries_j! + ledger.unattributed_j!).toBeCloseTo(ledger.meter_j, 6);
}, 60_000);

const filesOf = (root: string, table: string): string[] =>
  existsSync(root)
    ? readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((file) => new RegExp(`${table}-\\d+\\.arrows$`).test(file))
        .map((file) => join(root, file))
    : [];

const bytesOfCalls = (root: string) =>
  filesOf(root, 'calls').reduce((sum, file) => sum + statSync(file).size, 0);

async function untilThere(root: string, table: string): Promise<void> {
  while (filesOf(root, table).length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function untilBytes(root: string, bytes: number): Promise<void> {
  while (bytesOfCalls(root) < bytes) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('failures are counted by kind, and too many of them fail the command', async () => {
  const server = await mock({ failures: { error: 0.3, html: 0.1 }, seed: 4 });
  const folder = temporaryFolder();
  const trace = traceIn(folder, 100, 0.001);
  const args = ['replay', trace, '--endpoint', server.url, '--out', folder, '--json', '--no-check', ...quick];
  const { code, stdout } = await runCli(args);
  const result = JSON.parse(stdout);
  expect(code).toBe(1);
  expect(result.calls).toBe(100);
  expect(Object.keys(result.statuses)).toEqual(['http_error', 'ok', 'protocol_error']);
  expect(result.verdict.state).toBe('invalid');
});

// biome-ignore format: a table is read in columns
test.each([
  { why: 'nothing went well',            error: 1,   limit: '1',   code: 1 },
  { why: 'more failed than was allowed', error: 0.3, limit: '0.1', code: 1 },
  { why: 'as many as was allowed',       error: 0.3, limit: '0.5', code: 0 },
])('failures of the server decide the exit code: $why', async ({ error, limit, code }) => {
  const server = await mock({ failures: { error }, seed: 3 });
  const folder = temporaryFolder();
  const args = ['replay', traceIn(folder, 60, 0.001), '--endpoint', server.url, '--out', folder];
  const finished = await runCli([...args, '--json', '--no-check', '--max-failed', limit, ...quick]);
  expect(finished.code).toBe(code);
  const { ok, failed, times, output_tokens_per_s } = JSON.parse(finished.stdout);
  expect(ok + failed).toBe(60);
  expect(failed / 60).toBeCloseTo(error, 0.5);
  if (error === 1) expect([times.ttft_any, output_tokens_per_s]).toEqual([null, null]);
});

test('long prompts on many streams: every byte is sent, and the share of the client is told', async () => {
  const server = await mock({ ttft: { kind: 'constant', ms: 20 } });
  const folder = temporaryFolder();
  const trace = join(folder, 'long.csv');
  const rows = Array.from({ length: 48 }, (_, i) => `${i},ChatGPT,20000,32,20032,Conversation log`);
  writeFileSync(
    trace,
    ['Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type', ...rows].join('\n'),
  );
  const args = [
    'replay',
    trace,
    '--endpoint',
    server.url,
    '--out',
    folder,
    '--shape',
    'closed',
    '--no-check',
  ];
  const { code, stdout } = await runCli([...args, '--concurrency', '24', '--json', ...quick], {
    cwd: folder,
  });
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ calls: 48, ok: 48, output_tokens: 48 * 32 });
  const run = openRun(result.run);
  const calls = run.cells().flatMap((cell) => run.readCalls(cell.cell_id).rows);
  for (const { bytes_out } of calls) expect(Number(bytes_out)).toBeGreaterThan(80_000);
  const { busiest_core_ratio, loop_utilization_ratio } = result.client[0].health;
  for (const figure of [busiest_core_ratio, loop_utilization_ratio]) expect(figure).toBeGreaterThan(0);
}, 120_000);

// biome-ignore format: a table is read in columns
test.each([
  { why: 'no endpoint',          args: ['TRACE'],                                                  code: 2, says: 'no --endpoint was given' },
  { why: 'no trace',             args: ['--endpoint', 'http://127.0.0.1:1'],                       code: 2, says: 'no trace file was given' },
  { why: 'nobody listens',       args: ['TRACE', '--endpoint', 'http://127.0.0.1:1'],              code: 1, says: 'CLIENT_UNREACHABLE' },
  { why: 'not a run',            args: ['--resume', 'nowhere'],                                    code: 1, says: 'RUN_NOT_FOUND' },
  { why: 'flags that clash',     args: ['TRACE', '--endpoint', 'MOCK', '--rate', '5', '--speed', '2'], code: 2, says: '--speed means nothing with --shape poisson' },
  { why: 'a shape lacks a rate', args: ['TRACE', '--endpoint', 'MOCK', '--shape', 'constant'],     code: 2, says: '--shape constant needs --rate' },
  { why: 'a limit of nothing',   args: ['TRACE', '--endpoint', 'MOCK', '--slo', 'speed=1s'],       code: 2, says: '--slo speed=1s is not name=time' },
  { why: 'no such file',         args: ['missing.csv', '--endpoint', 'MOCK'],                      code: 1, says: 'FILE_UNREADABLE' },
])('a wrong call says what is wrong: $why', async ({ args, code, says }) => {
  const server = await mock();
  const folder = temporaryFolder();
  const trace = traceIn(folder, 2, 1);
  const real = args.map((arg) => (arg === 'TRACE' ? trace : arg === 'MOCK' ? server.url : arg));
  const finished = await runCli(['replay', ...real], { cwd: folder });
  expect(finished.stderr).toContain(says);
  expect(finished.code).toBe(code);
});
