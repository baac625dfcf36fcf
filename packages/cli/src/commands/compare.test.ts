import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Comparison } from '@perwatt/reports';
import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { compareCommand } from './compare.js';
import { importCommand } from './import.js';
import { resultsCommand } from './results.js';
import { routeCommand } from './route.js';

const repository = resolve(import.meta.dirname, '../../../..');
const published = join(resolve(repository, process.env['PERWATT_SHARED'] ?? '../shared'), 'data/results');
const noResults = existsSync(published) ? null : `no published results in ${published}; set PERWATT_SHARED`;

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perwatt-compare-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function perwatt(command: (io: Io) => Command, ...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd, columns: 140 });
  await command(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(args, { from: 'user' });
  return result.out;
}

const importOf = (io: Io) => importCommand(io, '0.1.0');
const compare = (...args: readonly string[]) => perwatt(compareCommand, ...args);
const results = (...args: readonly string[]) => perwatt(resultsCommand, ...args);
const comparison = async (...args: readonly string[]) =>
  JSON.parse((await compare(...args, '--json')).join('\n')) as Comparison;

const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('over all published results', () => {
  beforeAll(async () => {
    if (noResults !== null) return;
    await perwatt(importOf, 'ml-energy', join(published, 'ml-energy-v3'), '--out', 'ml');
    await perwatt(
      importOf,
      'ai-benchmarks',
      join(published, 'geerlingguy-ai-benchmarks/results.csv'),
      '--out',
      'ai',
    );
    await perwatt(importOf, 'ecocompute', join(published, 'ecocompute'), '--out', 'eco');
    await perwatt(importOf, 'power-cap', join(published, 'qwen38-mtp-power-cap'), '--out', 'cap');
  });
  beforeEach(({ skip }) => skip(noResults !== null, noResults ?? ''));

  test('the three pairs of one recorded configuration lie within noise, with the ratios of their notes', async () => {
    const { rows, left_out } = await comparison(
      'ml',
      '--by',
      'record',
      '--metric',
      'energy_per_output_token_j',
    );
    expect(rows.map(({ verdict }) => verdict)).toEqual(['within noise', 'within noise', 'within noise']);
    const ratios = rows.map(({ estimate }) => ((estimate?.value ?? 0) - 1) * 100);
    for (const [i, stated] of [5.2, 10.2, 19.0].entries()) expect(ratios[i]).toBeCloseTo(stated, 1);
    expect(rows.every(({ estimate }) => estimate?.pairing === 'declared')).toBe(true);
    expect(left_out).toHaveLength(838 - 6);
  });

  test('uncorrected, the pairs still lie within noise: none is wider than the declared spread', async () => {
    const { rows } = await comparison(
      'ml',
      '--by',
      'record',
      '--metric',
      'energy_per_output_token_j',
      '--correction',
      'none',
    );
    expect(
      rows.every(({ verdict, p_adjusted }) => verdict === 'within noise' && (p_adjusted ?? 0) > 0.05),
    ).toBe(true);
  });

  test('what lies far apart at equal configuration is different, and Holm counts all comparisons', async () => {
    const { rows, comparisons, correction } = await comparison(
      'ml',
      '--by',
      'accelerator',
      '--where',
      'model=Qwen/Qwen3-8B',
      'dataset=gpqa',
      '--metric',
      'energy_per_output_token_j',
    );
    expect(rows.map(({ where, verdict }) => [where['load'], verdict])).toEqual([
      ['c8', 'different'],
      ['c16', 'different'],
      ['c32', 'different'],
      ['c64', 'within noise'],
    ]);
    expect([comparisons, correction]).toEqual([4, 'holm']);
    expect(
      rows.every(
        ({ baseline, estimate, p_adjusted }) =>
          baseline.provenance === 'published' && (p_adjusted ?? 0) >= (estimate?.p ?? 1),
      ),
    ).toBe(true);
  });

  test('joules of GPUs and of the wall are refused with both named, and marked when asked for', async () => {
    const args = ['ml', 'ai', '--by', 'run', '--match', 'phase', '--metric', 'energy_per_output_token_j'];
    const where = ['--where', 'accelerator=x'];
    await expect(compare(...args, ...where)).rejects.toEqual(
      refused('INPUT_INVALID', /no cell with accelerator=x/),
    );
    const two = [
      'cap',
      'eco',
      '--by',
      'accelerator',
      '--match',
      'devices',
      '--metric',
      'energy_per_output_token_j',
    ];
    await expect(compare(...two)).rejects.toEqual(refused('INPUT_INVALID', /differ in /));
    const walls = [
      'one-gpu',
      'one-wall',
      '--by',
      'accelerator',
      '--match',
      'model',
      '--metric',
      'energy_per_output_token_j',
    ];
    writeFileSync(
      join(cwd, 'gpu.csv'),
      'power_cap_w,draft_depth,output_tokens_per_s,gpu_power_mean_w,draft_acceptance\n400,0,71.2,407,\n',
    );
    writeFileSync(
      join(cwd, 'wall.csv'),
      'model,system,compute,output_tokens_per_s,wall_power_peak_w,llama_cpp_vulkan,source_url\nm,Box,GPU,92.49,464.2,0,u\n',
    );
    await perwatt(importOf, 'power-cap', 'gpu.csv', '--model', 'm', '--out', 'one-gpu');
    await perwatt(importOf, 'ai-benchmarks', 'wall.csv', '--out', 'one-wall');
    await expect(compare(...walls)).rejects.toEqual(
      refused('INPUT_INVALID', /m \/ RTX 5090.* and m \/ Box.*differ in dataset/),
    );
    const { rows } = await comparison(...walls, '--allow-mixed');
    expect(rows[0]?.mixed.join('\n')).toMatch(/boundary "gpu \(.*\)" and "wall \(.*\)"/);
    const lines = await compare(...walls, '--allow-mixed');
    expect(lines.join('\n')).toMatch(/! mixed:/);
    const csv = await compare(...walls, '--allow-mixed', '--format', 'csv');
    expect(csv).toHaveLength(2);
    expect(csv[1]).toMatch(/boundary ""gpu/);
  });

  test('workloads that differ leave nothing to compare, and the nearest two are named', async () => {
    await expect(compare('ml', 'cap', '--by', 'accelerator', '--where', 'load=c1')).rejects.toEqual(
      refused('INPUT_INVALID', /no two cells differ in accelerator alone/),
    );
    await expect(compare('ml', 'eco', '--by', 'run')).rejects.toEqual(
      refused('INPUT_INVALID', /the nearest two, run "ml" and "eco", differ in .*model/),
    );
  });

  test('a figure without a spread is not judged, and says why', async () => {
    const { rows } = await comparison(
      'cap',
      '--by',
      'power_cap_w',
      '--baseline',
      '600',
      '--metric',
      'tokens_per_s',
    );
    expect(rows).toHaveLength(28);
    expect(rows.every(({ verdict, reason }) => verdict === null && reason === 'no spread is published')).toBe(
      true,
    );
  });

  test('fronts of all sources stand apart by workload, boundary and statistic', async () => {
    const fronts = JSON.parse(
      (
        await compare(
          'ml',
          'ai',
          'eco',
          'cap',
          '--pareto',
          'energy_per_output_token_j,tokens_per_s',
          '--json',
        )
      ).join('\n'),
    ) as {
      context: string;
      points: { on_front: boolean | null; reason: string }[];
      hypervolume: number;
    }[];
    const contexts = fronts.map(({ context }) => context);
    expect(contexts.filter((context) => context.includes('gpqa'))).toHaveLength(1);
    expect(contexts.some((context) => context.includes('wall'))).toBe(true);
    expect(contexts.some((context) => context.includes('wall') && context.includes('gpu ('))).toBe(false);
    const walls = fronts.filter(({ context }) => context.includes('wall')).flatMap(({ points }) => points);
    expect(
      walls.every(({ on_front, reason }) => on_front === null && /not to be ranked|no energy/.test(reason)),
    ).toBe(true);
    expect(fronts.every(({ points }) => points.some(({ on_front }) => on_front !== false))).toBe(true);
  });

  test('results print published figures as such', async () => {
    const lines = await results(
      'ml',
      '--metric',
      'energy_per_output_token_j',
      '--where',
      'model=Qwen/Qwen3-8B',
      'dataset=gpqa',
      '--sort',
      'energy_per_output_token_j',
    );
    expect(lines[2]).toMatch(/^B200 +c128 +energy_per_output_token_j +0\.17 J/);
    expect(lines.join('\n')).toMatch(/published by others, not measured here/);
    const bounds = await results(
      'cap',
      '--metric',
      'energy_per_output_token_j',
      '--where',
      'draft_depth=0',
      'power_cap_w=600',
    );
    expect(bounds.join('\n')).toMatch(/≤ 7\.18 J.*p95/);
    expect(bounds.join('\n')).toMatch(/≤ an upper bound/);
    await expect(results('ml', '--by', 'phase')).rejects.toEqual(refused('INPUT_INVALID', /no phase/));
  });

  test('years that the catalogue lacks are left out by name, and the paper stands apart', async () => {
    const entry = { id: 'nvidia-b200-sxm', override: true, aliases: ['B200'], kind: 'gpu' };
    writeFileSync(join(cwd, 'own.json'), JSON.stringify({ accelerators: [entry] }));
    const args = [
      'ml',
      '--by',
      'year',
      '--metric',
      'energy_per_output_token_j',
      '--where',
      'dataset=lm-arena-chat',
      'load=c8',
    ];
    const text = (await compare(...args)).join('\n');
    expect(text).toMatch(/^1 \/ energy_per_output_token_j by year of release/);
    expect(text).toMatch(/accelerators 2022 → 2024/);
    expect(text).toMatch(/published by others, not measured here: .*2511\.07885/);
    const without = (await compare(...args, '--catalogue', 'own.json')).join('\n');
    expect(without).toMatch(/left out: B200: release year of the accelerator unknown/);
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, command: (io: Io) => Command, args: string[], code: string, message: RegExp]>([
  ['compare, nothing asked', compareCommand, ['r'],                                     'USAGE',         /either --by or --pareto/],
  ['compare, both asked',    compareCommand, ['r', '--by', 'model', '--pareto', 'a,b'], 'USAGE',         /either --by or --pareto/],
  ['compare, no run',        compareCommand, ['none', '--by', 'model'],                 'RUN_NOT_FOUND', /^no run at /],
  ['results, no run',        resultsCommand, ['none'],                                  'RUN_NOT_FOUND', /^no run at /],
  ['route, no run',          routeCommand,   ['none'],                                  'RUN_NOT_FOUND', /^no run at /],
])('%s', async (_, command, args, code, message) => {
  await expect(perwatt(command, ...args)).rejects.toEqual(refused(code, message));
});
