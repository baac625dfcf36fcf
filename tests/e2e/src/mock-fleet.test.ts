import { join } from 'node:path';
import { openRun } from '@perwatt/records';
import { expect, onTestFinished, test, vi } from 'vitest';
import { folderWith, onlyRun, runCli, startCli, temporaryFolder } from './cli.js';

/** Servers of made-up models, by the milliseconds to their first token and from one token to the next. */
const servers = { quick: [4, 1], even: [10, 2], slow: [25, 4] } as const;
const ITEMS = 6;
const TOKENS = 5;

interface Served {
  readonly id: string;
  readonly url: string;
}

/** One `perwatt serve --mock` for each, as processes of their own. */
const served = (): Promise<Served[]> =>
  Promise.all(
    Object.entries(servers).map(async ([id, [ttft, tpot]]): Promise<Served> => {
      const options = ['--ttft-ms', String(ttft), '--tpot-ms', String(tpot), '--tokens', String(TOKENS)];
      const log = join(temporaryFolder(), `${id}.log`);
      const running = startCli(['serve', '--mock', '--port', '0', '--json', '--log', log, ...options]);
      let said = '';
      running.process.stdout?.on('data', (bytes) => {
        said += bytes;
      });
      onTestFinished(async () => {
        running.process.kill('SIGTERM');
        await running.finished;
      });
      const url = await vi.waitFor(() => JSON.parse(said).url as string, { timeout: 120_000 });
      return { id, url };
    }),
  );

test('24 cells run in real time against served mocks: every query is there, none quicker than its server', async () => {
  const hosts = await served();
  const folder = folderWith({
    'matrix.yaml': `
name: mocks
protocol: quick
cool_down: { seconds: 0 }
axes:
  model: [${hosts.map(({ id }) => `{ id: ${id}, endpoint: ${id} }`).join(', ')}]
  dataset:
    - { id: one, kind: arithmetic, level: 1, limit: ${ITEMS}, max_tokens: 8 }
    - { id: two, kind: arithmetic, level: 2, limit: ${ITEMS}, max_tokens: 8 }
  load: [{ concurrency: 1 }, { concurrency: 2 }, { concurrency: 4 }, { concurrency: 8 }]
power: { sources: [] }
endpoints:
${hosts.map(({ id, url }) => `  ${id}: { url: '${url}' }`).join('\n')}
`,
  });
  const ran = await runCli(['run', join(folder, 'matrix.yaml'), '--quiet', '--no-report', '--no-compact'], {
    cwd: folder,
  });
  expect(ran.stderr).toBe('');
  expect(ran.code).toBe(0);
  const run = openRun(onlyRun(join(folder, 'runs')));
  const cells = run.cells();
  expect(cells).toHaveLength(24);
  for (const { cell_id, point, status } of cells) {
    expect([point, status]).toEqual([point, 'done']);
    const [ttft, tpot] = servers[point.model as keyof typeof servers];
    expect(run.readQueries(cell_id).rows).toHaveLength(ITEMS);
    const calls = run.readCalls(cell_id).rows.filter(({ phase }) => phase === 'measure');
    expect(calls).toHaveLength(ITEMS);
    for (const { status: ended, dispatch_ns, first_any_ns, last_content_ns, end_ns } of calls) {
      expect(ended).toBe('ok');
      const since = (at: bigint | null) => Number((at ?? 0n) - dispatch_ns) / 1e6;
      expect(since(first_any_ns)).toBeGreaterThanOrEqual(ttft - 1);
      expect(since(last_content_ns)).toBeGreaterThanOrEqual(ttft + (TOKENS - 1) * tpot - 1);
      expect(end_ns).toBeGreaterThanOrEqual(last_content_ns ?? end_ns);
    }
  }
}, 600_000);
