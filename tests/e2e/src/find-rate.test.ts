import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MockServerOptions, startMockServer } from '@perwatt/clients';
import { openRun, verifyRun } from '@perwatt/records';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCli, startCli, temporaryFolder } from './cli.js';

/** Serves three calls at a time, a tenth of a second each: 30 calls a second. */
const CAPACITY_PER_S = 30;
const limited: MockServerOptions = { slots: 3, ttft: { kind: 'constant', ms: 100 } };

interface Started {
  readonly folder: string;
  readonly args: readonly string[];
}

/** A search over a trace of calls that give one token each. */
async function started(options: MockServerOptions, bracket: string, slo: string): Promise<Started> {
  const server = await startMockServer(options);
  onTestFinished(() => server.close());
  const folder = temporaryFolder();
  const lines = Array.from({ length: 300 }, (_, i) => `${i},ChatGPT,20,1,21,Conversation log`);
  const header = 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type';
  writeFileSync(join(folder, 'trace.csv'), [header, ...lines].join('\n'));
  const where = ['replay', 'trace.csv', '--endpoint', server.url, '--out', 'runs', '--shape', 'constant'];
  const quick = ['--no-check', '--baseline', '0s', '--power', 'none', '--quiet'];
  return { folder, args: [...where, ...quick, '--find-rate', bracket, '--slo', slo] };
}

const searchIn = (folder: string): string => {
  const runs = join(folder, 'runs');
  const [name] = existsSync(runs) ? readdirSync(runs) : [];
  return name === undefined ? '' : join(runs, name);
};

const trialsOf = (folder: string): { readonly run: string; readonly trial: number }[] => {
  const file = join(searchIn(folder), 'search.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).trials : [];
};

test('killed while it searches and resumed, it finds the rate that a server can bear', async () => {
  const { folder, args } = await started(limited, '15..60', 'e2e=400ms');
  const search = ['--trial-time', '3s', '--trials', '1', '--rate-tolerance', '0.15'];
  const running = startCli([...args, ...search], { cwd: folder });
  await vi.waitFor(() => expect(trialsOf(folder).length).toBeGreaterThan(1), { timeout: 60_000 });
  running.process.kill('SIGKILL');
  await running.finished;
  const before = trialsOf(folder);
  const { code, stdout, stderr } = await runCli(
    ['replay', '--resume', searchIn(folder), '--json', '--quiet'],
    { cwd: folder },
  );
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const found = JSON.parse(stdout);
  expect(found.verdict).toBe('found');
  expect(found.fails_per_s / found.rate_per_s).toBeLessThanOrEqual(1.15);
  expect(found.rate_per_s).toBeGreaterThan(0.8 * CAPACITY_PER_S);
  expect(found.rate_per_s).toBeLessThan(1.15 * CAPACITY_PER_S);
  expect(found.trials.slice(0, before.length)).toEqual(before);
  for (const { run, calls } of found.trials) {
    const path = join(searchIn(folder), run);
    expect(verifyRun(path).findings).toEqual([]);
    const [cell] = openRun(path).cells();
    expect(openRun(path).readCalls(cell!.cell_id).rows).toHaveLength(calls);
    expect(cell).toMatchObject({ status: 'done', slo: { e2e_from_schedule_s: 0.4 } });
  }
  const again = await runCli(['replay', '--resume', searchIn(folder), '--json'], { cwd: folder });
  expect(JSON.parse(again.stdout)).toEqual(found);
}, 240_000);

// biome-ignore format: a table is read in columns
test.each<[verdict: string, code: number, slo: string, says: RegExp, why: string]>([
  ['lowest_fails',   1, 'ttft=1ms', /even 12\/s, the lowest, does not/, 'a limit that nothing can meet'],
  ['highest_passes', 0, 'ttft=60s', /even 16\/s, the highest, does/,    'a limit that everything meets'],
])('a search that ends as %s says so and has exit code %d', async (verdict, exit, slo, says, _why) => {
  const { folder, args } = await started({ ttft: { kind: 'constant', ms: 20 } }, '12..16', slo);
  const { code, stdout } = await runCli([...args, '--trial-time', '1s', '--trials', '1'], { cwd: folder });
  expect(code).toBe(exit);
  expect(stdout).toContain(`verdict   ${verdict}: `);
  expect(stdout).toMatch(says);
}, 60_000);

// biome-ignore format: a table is read in columns
test.each<[flags: readonly string[], says: string, why: string]>([
  [['--find-rate', '5..50'],                                           '--find-rate needs --slo',                    'nobody said what is good'],
  [['--find-rate', '50..5', '--slo', 'ttft=1s'],                       '--find-rate 50..5 is not lowest..highest',   'the wrong way round'],
  [['--find-rate', '5', '--slo', 'ttft=1s'],                           '--find-rate 5 is not lowest..highest',       'one rate is no bracket'],
  [['--find-rate', '0.1..5', '--slo', 'ttft=1s'],                      'a trial of 30s at 0.1/s has fewer than 10 calls', 'a trial that says nothing'],
  [['--find-rate', '5..50', '--slo', 'ttft=1s', '--rate', '3'],        '--rate means nothing with --find-rate',      'the search sets the rate'],
  [['--find-rate', '5..50', '--slo', 'ttft=1s', '--shape', 'closed'],  '--shape closed means nothing with --find-rate', 'a closed loop has no rate'],
])('a search that can not be made is refused: %j', async (flags, says, _why) => {
  const folder = temporaryFolder();
  const { code, stderr } = await runCli(['replay', 'x.csv', '--endpoint', 'http://127.0.0.1:1', ...flags], { cwd: folder });
  expect(stderr).toContain(says);
  expect(code).toBe(2);
});
