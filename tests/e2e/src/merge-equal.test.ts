import { join } from 'node:path';
import { openRun, verifyRun } from '@perwatt/records';
import { buildResults } from '@perwatt/reports';
import { expect, test } from 'vitest';
import { folderWith, onlyRun, runCli } from './cli.js';

const matrix = (name: string, more = '') => `
name: ${name}
protocol: standard
seed: 7
repeats: 3
axes:
  model: [small, large]
  accelerator: [{ id: desk, kind: gpu }]
  dataset: [{ id: sums, limit: 40 }]
power: { period_ms: 1000 }
${more}
simulate:
  models:
    small: { active_b: 1, weight_gb: 1, skill: -1 }
    large: { active_b: 8, weight_gb: 8, skill: 3 }
  accelerators:
    desk: { tflops: 100, gb_per_s: 500, idle_w: 30, prefill_w: 300, decode_w: 200 }
  datasets:
    sums: { difficulty: -1, prompt_tokens: 60, output_tokens: 60 }
`;

test('an equal cell of two matrices is measured by both and has one figure over the repeats of both', async () => {
  const folder = folderWith({
    'one.yaml': matrix('one', 'exclude: [{ model: large }]'),
    'two.yaml': matrix('two'),
  });
  const run = async (name: string) => {
    const { code, stderr } = await runCli(
      ['run', `${name}.yaml`, '--out', name, '--quiet', '--no-report', '--no-compact'],
      {
        cwd: folder,
      },
    );
    expect([code, stderr]).toEqual([0, '']);
    return onlyRun(join(folder, name));
  };
  const runs = [await run('one'), await run('two')];
  const merged = await runCli(['merge', ...runs, '--out', 'both'], { cwd: folder });
  expect([merged.code, merged.stderr, merged.stdout]).toEqual([
    0,
    '',
    expect.stringMatching(
      /-one \(simulated\): 1 cells\n.*-two \(simulated\): 2 cells\nboth: 2 of 2 cells measured\n$/,
    ),
  ]);
  expect(verifyRun(join(folder, 'both')).findings).toEqual([]);

  const perQuery = (path: string, model: string) =>
    buildResults(openRun(path)).cells.find(({ point }) => point.model === model)?.metrics.energy_per_query_j
      .value ?? Number.NaN;
  const [one, two] = runs.map((path) => perQuery(path, 'small'));
  expect(perQuery(join(folder, 'both'), 'small')).toBeCloseTo((one! + two!) / 2, 9);
  expect(perQuery(join(folder, 'both'), 'large')).toBe(perQuery(runs[1]!, 'large'));

  const cells = openRun(join(folder, 'both')).cells();
  expect(
    cells
      .map(({ point, repeats, merged_from }) => [point.model, repeats, merged_from?.length ?? 1])
      .toSorted(),
  ).toEqual([
    ['large', 3, 1],
    ['small', 6, 2],
  ]);
});
