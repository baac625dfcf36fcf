import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CellFile, openRun } from '@perwatt/records';
import { fakeVllm } from '@perwatt/test-kit';
import { expect, test, vi } from 'vitest';
import { onlyRun, repository, runCli, startCli, temporaryFolder } from './cli.js';

const perwatt = join(repository, 'packages/cli/bin/perwatt.js');

interface Matrix {
  readonly models: string;
  readonly engines: string;
  readonly limit?: number;
  readonly loads?: string;
  readonly power?: string;
}

function folderOf({
  models,
  engines,
  limit = 8,
  loads = '[{ concurrency: 1 }]',
  power = 'sources: []',
}: Matrix) {
  const folder = temporaryFolder();
  const program = fakeVllm(folder);
  writeFileSync(
    join(folder, 'matrix.yaml'),
    `
name: engines
protocol: quick
order: as-written
axes:
  model: ${models}
  dataset: [{ id: sums, kind: arithmetic, level: 3, limit: ${limit}, max_tokens: 6 }]
  load: ${loads}
power: { ${power} }
engines:
${engines.replaceAll('PROGRAM', program)}
`,
  );
  return folder;
}

const cellsOf = (folder: string): CellFile[] => openRun(onlyRun(join(folder, 'runs'))).cells();

const run = (folder: string, env: Record<string, string> = {}) =>
  runCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], { cwd: folder, env });

/** Ids of living processes whose command line holds `text`. */
function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

test('an engine serves all cells that share it, one after another, and is gone afterwards', async () => {
  const folder = folderOf({
    models: '[{ id: a, engine: mocked }, { id: b, engine: other, model: org/b }]',
    engines: `
  mocked:
    kind: command
    command: [node, ${perwatt}, serve, --mock, --port, '{port}', --name, '{name}', --ttft-ms, '5', --tpot-ms, '2']
  other: { kind: vllm, command: [PROGRAM, serve], context_tokens: 2048, env: { FAKE_LATE_MS: '300' } }`,
    loads: '[{ concurrency: 1 }, { concurrency: 4 }]',
  });
  const done = await run(folder);
  expect(done.stderr).toBe('');
  expect(done.code).toBe(0);
  const cells = cellsOf(folder);
  expect(cells.map(({ status, failure }) => [status, failure])).toEqual(Array(4).fill(['done', null]));
  const path = onlyRun(join(folder, 'runs'));
  expect(readdirSync(join(path, 'engines')).toSorted()).toEqual(['mocked-0.log', 'other-0.log']);
  const endpoints = cells.map(({ provenance }) => provenance!.endpoint);
  expect(new Set(endpoints.slice(0, 2).map(({ endpoint }) => endpoint)).size).toBe(1);
  expect(endpoints[0]).toMatchObject({
    engine: 'perwatt-mock',
    server: { id: 'mocked', kind: 'command', log: 'mocked-0.log' },
  });
  expect(endpoints[2]).toMatchObject({
    engine: 'vllm',
    engine_version: '9.8.7',
    context_tokens: 2048,
    server: { id: 'other', kind: 'vllm', version: '9.8.7', model: 'org/b', request_model: 'b' },
  });
  expect(endpoints[2]!.pids.length).toBeGreaterThan(0);
  const calls = openRun(path)
    .readCalls(cells[2]!.cell_id)
    .rows.filter(({ phase }) => phase === 'measure');
  expect(
    calls.map(({ status, token_source, completion_tokens }) => [status, token_source, completion_tokens]),
  ).toEqual(Array(8).fill(['ok', 'server_usage', 6]));
  for (const { sittings } of cells) {
    expect(sittings[0]!.server_load).toMatchObject({ names: 'vllm', failed: 0, generation_tokens: 48 });
  }
  expect(processesWith(folder)).toEqual([]);
});

test('an engine that dies mid-cell ends the cell with its last words; the run goes on, and a resume finishes it', async () => {
  const folder = folderOf({
    models: '[{ id: a, engine: dying }, { id: b, engine: living }]',
    engines: `
  dying: { kind: vllm, command: [PROGRAM, serve], env: { FAKE_DIE_AT: '8:3' } }
  living: { kind: vllm, command: [PROGRAM, serve] }`,
  });
  const done = await run(folder);
  expect(done.code).toBe(1);
  expect(done.stderr).toMatch(/cell failed: a × .*SERVER_DIED: engine "dying" ended with code 70/);
  expect(done.stderr).toContain('CUDA error: an illegal memory access');
  const [dead, alive] = cellsOf(folder);
  expect([dead!.status, alive!.status]).toEqual(['failed', 'done']);
  expect(dead!.failure).toMatch(/^SERVER_DIED: [\s\S]*dying-0\.log:\n[\s\S]*CUDA error/);
  const path = onlyRun(join(folder, 'runs'));
  const measured = openRun(path)
    .readCalls(dead!.cell_id)
    .rows.filter(({ phase }) => phase === 'measure');
  expect(measured.map(({ status }) => status).slice(0, 5)).toEqual(Array(5).fill('ok'));
  expect(['truncated', 'cancelled']).toContain(measured[5]!.status);
  expect(openRun(path).readQueries(dead!.cell_id).rows).toHaveLength(5);

  const again = await runCli(['run', '--resume', path, '--quiet', '--no-report', '--no-compact'], {
    cwd: folder,
  });
  expect(again.stderr).toBe('');
  expect(again.code).toBe(0);
  const rows = openRun(path).readQueries(dead!.cell_id).rows;
  expect([rows.length, new Set(rows.map(({ query_id }) => query_id)).size]).toEqual([8, 8]);
  expect(rows.every(({ status }) => status === 'answered')).toBe(true);
  expect(readdirSync(join(path, 'engines'))).toContain('dying-1.log');
});

// biome-ignore format: a table is read in columns
test.each([
  ["{ kind: vllm, command: [PROGRAM, serve], env: { FAKE_ENDS: '1' } }", 'SERVER_FAILED: engine "e" ended before it was ready, with code 3', 'it ends at once'],
  ['{ kind: vllm, command: [/no/such/vllm] }', 'SERVER_FAILED: cannot run /no/such/vllm', 'it is not there'],
])('an engine that can not be started fails its cells: %s', async (engine, failure, _why) => {
  const folder = folderOf({ models: '[{ id: a, engine: e }]', engines: `  e: ${engine}` });
  const done = await run(folder);
  expect(done.code).toBe(1);
  expect(done.stderr).toContain(failure);
  expect(cellsOf(folder).map(({ status }) => status)).toEqual(['failed']);
});

test.each(['SIGKILL', 'SIGINT'] as const)(
  'a run that is ended by %s leaves no engine behind',
  async (signal) => {
    const folder = folderOf({
      models: '[{ id: a, engine: e }]',
      engines: "  e: { kind: vllm, command: [PROGRAM, serve], env: { FAKE_HELPER: '1' }, stop_timeout_s: 1 }",
      limit: 2000,
    });
    const running = startCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], {
      cwd: folder,
    });
    await vi.waitFor(() => expect(cellsOf(folder)[0]?.status).toBe('running'), {
      timeout: 30_000,
      interval: 100,
    });
    const log = readFileSync(join(onlyRun(join(folder, 'runs')), 'engines', 'e-0.log'), 'utf8');
    const helper = /helper (\d+)/.exec(log)?.[1];
    expect(processesWith(folder).length).toBeGreaterThan(0);
    running.process.kill(signal);
    const { code } = await running.finished;
    expect(code).toBe(signal === 'SIGINT' ? 130 : null);
    await vi.waitFor(() => expect(processesWith(folder)).toEqual([]), { timeout: 20_000, interval: 100 });
    await vi.waitFor(() => expect(readdirSync('/proc')).not.toContain(helper), {
      timeout: 20_000,
      interval: 100,
    });
  },
);

async function agent(folder: string, more: readonly string[]) {
  const running = startCli(['agent', '--port', '0', '--token-env', 'AGENT', '--json', ...more], {
    cwd: folder,
    env: { AGENT: 'secret' },
  });
  const url = await new Promise<string>((resolve, reject) => {
    running.process.stdout?.on('data', (bytes) => resolve(JSON.parse(String(bytes)).url));
    void running.finished.then(({ stderr }) => reject(new Error(stderr)));
  });
  return { url, running };
}

function matrixByAgent(folder: string, url: string, model = 'org/m') {
  writeFileSync(
    join(folder, 'matrix.yaml'),
    `
name: engines
protocol: quick
axes:
  model: [{ id: a, engine: there, model: ${model} }]
  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: 4, max_tokens: 6 }]
power:
  sources: []
  agents: [{ id: far, url: '${url}', token_env: AGENT }]
engines:
  there: { kind: agent, agent: far, engine: v }
`,
  );
}

test('an agent starts what its own file lists, and nothing else', async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'allowed.yaml'),
    `engines: { v: { kind: vllm, command: [${fakeVllm(folder)}, serve], models: [org/m] } }`,
  );
  const { url, running } = await agent(folder, ['--allow-engines', 'allowed.yaml']);
  matrixByAgent(folder, url);
  const done = await run(folder, { AGENT: 'secret' });
  expect(done.code).toBe(0);
  const [cell] = cellsOf(folder);
  expect(cell).toMatchObject({
    status: 'done',
    provenance: { endpoint: { server: { id: 'v', agent: 'far', version: '9.8.7', request_model: 'a' } } },
  });
  await vi.waitFor(() =>
    expect(processesWith('fake-vllm.mjs').filter((pid) => processesWith(folder).includes(pid))).toEqual([]),
  );
  expect(running.stderr()).toMatch(
    /engine v is started for org\/m[\s\S]*serves org\/m at[\s\S]*engine v: stopped/,
  );

  const other = temporaryFolder();
  matrixByAgent(other, url, 'org/other');
  const refused = await run(other, { AGENT: 'secret' });
  expect(refused.code).toBe(1);
  expect(cellsOf(other)[0]?.failure).toBe(
    'SERVER_FAILED: agent far, engine "v": engine "v" is not allowed to load "org/other"',
  );
});

test('an agent that was not told to starts nothing', async () => {
  const folder = temporaryFolder();
  const { url } = await agent(folder, []);
  matrixByAgent(folder, url);
  const refused = await run(folder, { AGENT: 'secret' });
  expect(refused.code).toBe(1);
  expect(cellsOf(folder)[0]?.failure).toBe(
    'SERVER_FAILED: agent far, engine "v": this agent starts no engines: it was started without `--allow-engines`',
  );
});
