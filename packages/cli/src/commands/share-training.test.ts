import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamHere } from '@perwatt/harness';
import { clock } from '@perwatt/native-power';
import { openTrainingRun } from '@perwatt/records';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { makeDeps } from '../world.js';
import { bundleCommand } from './bundle.js';
import { publishCommand } from './publish.js';
import { reportCommand } from './report.js';
import { trainCommand } from './train.js';

const SECRET = 'sk-canary-5f0d3a77c1e94b2d';
const HOST = 'lab-host-9471.example.org';

let root = '';
let run = '';

async function perwatt(command: (io: Io) => Command, ...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: root, env: { TEST_API_KEY: SECRET } });
  await command(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync([...args], { from: 'user' });
  return { ...result, text: result.out.join('\n') };
}

/** The command with a meter that shows 100 W all the time. */
const train = (io: Io): Command => {
  const real = makeDeps(io, '0.0.0');
  const source = steadyPowerSource({
    clock,
    domains: [testDomain({ id: 'package-0', provenance: 'counter' })],
    watts: () => 100,
  });
  const metered = { powerSources: async () => [source], openPowerStream: streamHere };
  return trainCommand(io, { makeDeps: (options) => ({ ...real(options), ...metered }), version: '0.0.0' });
};

const bundle = (...args: readonly string[]) => perwatt((io) => bundleCommand(io, '0.0.0'), ...args);

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-share-training-'));
  const set = ['steps=6', 'eval_every=2', 'queries=60', 'eval_items=40'].flatMap((pair) => ['--set', pair]);
  await perwatt(train, 'router_fit', ...set, '--seeds', '2', '--name', 'fit', '--quiet');
  run = join(root, 'runs/fit');
  const opened = openTrainingRun(run);
  const manifest = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8'));
  manifest.host.hostname = HOST;
  manifest.trainings[0].title = `fitted on ${HOST} with ${SECRET} by /home/jane`;
  writeFileSync(join(run, 'run.json'), JSON.stringify(manifest));
  expect(opened.readSteps().rows.length).toBe(12);
}, 60_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile());

const clean = (folder: string) => {
  for (const file of files(folder))
    for (const word of [SECRET, HOST, '/home/jane'])
      expect(readFileSync(file, 'latin1').includes(word), `${word} in ${file}`).toBe(false);
};

describe('a training', () => {
  test('is bundled without private names and checkpoints, the same bytes twice, and checks', async () => {
    await bundle(run, '--out', 'a.tgz');
    await bundle(run, '--out', 'b.tgz');
    expect(readFileSync(join(root, 'a.tgz')).equals(readFileSync(join(root, 'b.tgz')))).toBe(true);
    const { code, text } = await bundle('check', 'a.tgz', '--into', 'unpacked');
    expect(text).toMatch(/worked out again: 1 trainings in 1 sittings[\s\S]*everything holds$/);
    expect(code).toBe(0);
    clean(join(root, 'unpacked'));
    expect(files(join(root, 'unpacked')).filter((file) => /checkpoints|items-/.test(file))).toEqual([]);
    expect(openTrainingRun(join(root, 'unpacked/run')).readEvals().rows).toHaveLength(
      openTrainingRun(run).readEvals().rows.length,
    );
  });

  // biome-ignore format: a table is read in columns
  test.each<[string, (folder: string) => void, RegExp]>([
    ['an accuracy that is claimed', (folder) => edit(folder, (claim) => { claim.trainings[0]!.accuracy_after = 1; }),  /results: trainings\.0\.accuracy_after: 1 is claimed/],
    ['a training left out',         (folder) => edit(folder, (claim) => { claim.trainings.pop(); }),                  /results: trainings\.0: nothing is claimed/],
    ['a table of other bytes',      (folder) => writeFileSync(join(folder, 'run/train_evals-0.arrows'), 'x'),         /train_evals-0\.arrows/],
  ])('is found out by %s', async (name, change, wanted) => {
    const folder = join(root, name.replaceAll(' ', '-'));
    await bundle(run, '--out', `${folder}-whole.tgz`);
    await bundle('check', `${folder}-whole.tgz`, '--into', folder);
    execFileSync('tar', ['xzf', `${folder}-whole.tgz`, '-C', folder, 'bundle.json']);
    change(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'bundle.json'), 'utf8'));
    for (const file of manifest.files) {
      const content = readFileSync(join(folder, file.path));
      file.bytes = content.length;
      file.sha256 = execFileSync('sha256sum', [join(folder, file.path)], { encoding: 'utf8' }).slice(0, 64);
    }
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
    const paths = ['bundle.json', ...manifest.files.map(({ path }: { path: string }) => path)];
    execFileSync('tar', ['czf', `${folder}.tgz`, '--format=ustar', '-C', folder, ...paths]);
    const { code, text } = await bundle('check', `${folder}.tgz`);
    expect(text).toMatch(wanted);
    expect(code).toBe(1);
  });

  test('is published with its account, tables, card and checksums, the same bytes twice, and nothing private', async () => {
    for (const name of ['once', 'twice'])
      await perwatt(publishCommand, run, '--out', name, '--no-figures', '--author', 'Doe, Jane');
    const names = files(join(root, 'once')).map((file) => file.slice(join(root, 'once/').length));
    expect(names.sort()).toEqual(
      expect.arrayContaining([
        'CITATION.cff',
        'DATA_CARD.md',
        'SHA256SUMS',
        'data/train_evals.parquet',
        'data/train_steps.parquet',
        'report/index.html',
        'results.csv',
        'results.json',
        'results.parquet',
        'tables/results.md',
        'tables/results.tex',
      ]),
    );
    for (const name of names)
      expect(
        readFileSync(join(root, 'once', name)).equals(readFileSync(join(root, 'twice', name))),
        name,
      ).toBe(true);
    clean(join(root, 'once'));
    execFileSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: join(root, 'once') });
    expect(readFileSync(join(root, 'once/results.csv'), 'utf8')).toContain('accuracy_gain_pp');
    expect(readFileSync(join(root, 'once/DATA_CARD.md'), 'utf8')).toMatch(/seeds 0, 1, 6 steps/);
  });

  test('has a report by `perwatt report` too, without keys', async () => {
    const { text } = await perwatt(reportCommand, run, '--out', 'page');
    expect(text).toMatch(/report: .*page\/index\.html$/);
    expect(readFileSync(join(root, 'page/index.html'), 'utf8')).not.toContain(SECRET);
  });
});

interface Claim {
  readonly trainings: { accuracy_after: number }[];
}

function edit(folder: string, change: (claim: Claim) => void): void {
  const file = join(folder, 'results.json');
  const claim = JSON.parse(readFileSync(file, 'utf8')) as Claim;
  change(claim);
  writeFileSync(file, JSON.stringify(claim));
}
