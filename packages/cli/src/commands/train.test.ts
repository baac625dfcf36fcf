import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { streamHere } from '@perwatt/harness';
import { clock } from '@perwatt/native-power';
import {
  createRandom,
  drawQuery,
  parseCheckpoint,
  recipeById,
  restoreTrainer,
  routerLogit,
  routerPrompt,
} from '@perwatt/recipes';
import { openTrainingRun } from '@perwatt/records';
import { steadyPowerSource, testDomain } from '@perwatt/test-kit';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { routeScorer } from '../route-scorer.js';
import { trainingsOf } from '../train-plan.js';
import { makeDeps } from '../world.js';
import { type MakeDeps, readMatrix } from './run.js';
import { trainCommand } from './train.js';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perwatt-train-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
});

async function train(
  args: readonly string[],
  world: Partial<Io> = {},
  more: Partial<ReturnType<MakeDeps>> = {},
) {
  const { io, result } = recordedIo({ cwd, ...world });
  const real = makeDeps(io, '0.0.0');
  const command = trainCommand(io, {
    makeDeps: (options) => ({ ...real(options), ...more }),
    version: '0.0.0',
  })
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  await command.parseAsync([...args], { from: 'user' });
  return result;
}

const small = [
  'router_fit',
  '--set',
  'steps=6',
  '--set',
  'eval_every=2',
  '--set',
  'queries=60',
  '--set',
  'eval_items=40',
  '--power',
  'none',
];

const textOfBigInt = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Rows without what time did to them. */
const rowsOf = (name: string) => {
  const run = openTrainingRun(join(cwd, 'runs', name));
  const bare = (rows: readonly object[]) =>
    rows
      .map(
        (row) =>
          ({ ...row, run_id: '', sitting: 0, start_ns: 0, end_ns: 0, cpu_ns: 0 }) as unknown as {
            seed: number;
            step: number;
          },
      )
      .sort((a, b) => a.seed - b.seed || a.step - b.step);
  return { steps: bare(run.readSteps().rows), evals: bare(run.readEvals().rows) };
};

describe('perwatt train', () => {
  test('trains every seed, keeps its rows and two checkpoints a seed, and tells the account', async () => {
    const { out, err, code } = await train([...small, '--seeds', '2', '--name', 'a']);
    expect(code).toBe(0);
    expect(out.join('\n')).toMatch(/router_fit: Learned router, 2 seeds × 6 steps/);
    expect(out.join('\n')).toContain('nothing was metered');
    expect(err).toContainEqual(expect.stringMatching(/router_fit seed 1: step 6 of 6, accuracy \d/));
    const { steps, evals } = rowsOf('a');
    expect(steps).toHaveLength(12);
    expect(evals).toHaveLength(8);
    expect(readdirSync(join(cwd, 'runs/a/checkpoints')).sort()).toEqual(
      [0, 1].flatMap((seed) => [0, 6].map((step) => `router_fit-seed-${seed}-step-${step}.json`)),
    );
    expect(openTrainingRun(join(cwd, 'runs/a')).manifest.status).toBe('done');
  });

  test('gives the same rows whatever the number of threads', async () => {
    const args = [...small, '--seeds', '3', '--quiet'];
    await train([...args, '--name', 'one', '--threads', '1']);
    await train([...args, '--name', 'three', '--threads', '3']);
    expect(rowsOf('three')).toEqual(rowsOf('one'));
    const starts = (name: string) =>
      openTrainingRun(join(cwd, 'runs', name)).manifest.sittings[0]?.asides?.filter(
        ({ kind }) => kind === 'start',
      );
    expect([starts('one'), starts('three')].map((own) => own?.length)).toEqual([1, 3]);
  });

  test('gives the same rows of several recipes whichever seeds a thread trained before', async () => {
    writeFileSync(
      join(cwd, 'several.yaml'),
      `name: several
train:
  - { recipe: ovcsd, seeds: 2, set: { iterations: 3, eval_items: 12 } }
  - { recipe: sat, seeds: 2, set: { stages: 2, eval_items: 12 } }
  - { recipe: star, seeds: 2, set: { rounds: 2, items: 20, eval_items: 12 } }
  - { recipe: router_fit, seeds: 2, set: { steps: 2, queries: 60, eval_items: 40 } }
axes: { model: [x], dataset: [y] }
`,
    );
    const rows = async (threads: string) => {
      const args = ['several.yaml', '--power', 'none', '--quiet', '--threads', threads];
      await train([...args, '--name', `of-${threads}`]);
      const { steps, evals } = rowsOf(`of-${threads}`);
      return [...steps, ...evals].map((row) => JSON.stringify(row, textOfBigInt)).sort();
    };
    const one = await rows('1');
    expect(one.length).toBe(2 * (3 + 2 + 2 + 2) + 2 * (2 + 2 + 3 + 2));
    expect(await rows('3')).toEqual(one);
  });

  test('goes on from checkpoints to the same end, and has nothing to do when it is there', async () => {
    await train([...small, '--seeds', '1', '--quiet', '--name', 'whole']);
    await train([...small, '--seeds', '1', '--quiet', '--name', 'cut']);
    const folder = join(cwd, 'runs/cut');
    const last = (name: string) =>
      readFileSync(join(cwd, 'runs', name, 'checkpoints/router_fit-seed-0-step-6.json'), 'utf8');
    const end = last('cut');
    rmSync(join(folder, 'checkpoints/router_fit-seed-0-step-6.json'));
    await train(['--resume', 'runs/cut', '--quiet', '--power', 'none']);
    expect(last('cut')).toBe(end);
    expect(end).toBe(last('whole'));
    expect(openTrainingRun(folder).manifest.sittings).toHaveLength(2);
    await train(['--resume', 'runs/cut', '--quiet', '--power', 'none']);
    expect(openTrainingRun(folder).manifest.sittings).toHaveLength(2);
  });

  test('shares a meter of 100 W out to steps, evaluations and the rest, and loses nothing', async () => {
    const source = steadyPowerSource({
      clock,
      domains: [testDomain({ id: 'package-0', provenance: 'counter' })],
      watts: () => 100,
    });
    const metered = { powerSources: async () => [source], openPowerStream: streamHere };
    const args = [
      'grpo',
      '--seeds',
      '2',
      '--threads',
      '2',
      '--set',
      'iterations=15',
      '--set',
      'eval_items=60',
      '--quiet',
    ];
    const { out } = await train([...args, '--json', '--name', 'p', '--idle', '0.5'], {}, metered);
    const { ledgers, trainings, energy_reason } = JSON.parse(out.join(''));
    expect(energy_reason).toBeNull();
    const [{ meter_j, steps_j, evals_j, start_j, votes_j, other_j }] = ledgers;
    expect(steps_j + evals_j + start_j + votes_j + other_j).toBeCloseTo(meter_j, 6);
    expect(start_j).toBeGreaterThan(0);
    expect(votes_j).toBeGreaterThan(0);
    const { sittings } = openTrainingRun(join(cwd, 'runs/p')).manifest;
    const seconds = Number(BigInt(sittings[0]?.end_ns ?? 0) - BigInt(sittings[0]?.start_ns ?? 0)) / 1e9;
    expect(meter_j / seconds).toBeCloseTo(100, 0);
    expect(sittings[0]?.asides?.map(({ kind }) => kind).sort()).toEqual([
      'start',
      'start',
      ...Array(4).fill('votes'),
    ]);
    expect(sittings[0]?.idle?.map(({ when }) => when)).toEqual(['before', 'after']);
    // The source shows 100 W at work and idle, so that nothing is left.
    expect(Math.abs(trainings[0].training_net_j.value)).toBeLessThan(0.05 * steps_j);
    expect(trainings[0].training_energy_j.value).toBeCloseTo(steps_j, 6);
    expect(trainings[0].evaluation_energy_j.value).toBeCloseTo(evals_j, 6);
    expect(trainings[0].curve.at(-1).energy_j).toBeCloseTo(steps_j / 2, 6);
  });

  test('keeps the policy at the end of each phase, and tells what each gained', async () => {
    const sizes = { width: 16, hidden: 16, worked: 10, batch: 2, sft_updates: 1, chains: 1, group: 2 };
    const set = { ...sizes, sft_steps: 1, grpo_steps: 2, grpo_batches: 1, eval_items: 4, eval_every: 1 };
    const flags = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const { out } = await train([
      ...['tiny_transformer', ...flags, '--seeds', '1', '--power', 'none'],
      ...['--quiet', '--json', '--name', 't'],
    ]);
    expect(readdirSync(join(cwd, 'runs/t/checkpoints')).sort()).toEqual(
      [0, 1, 3].map((step) => `tiny_transformer-seed-0-step-${step}.json`),
    );
    const [{ phases }] = JSON.parse(out.join('')).trainings;
    expect(phases).toMatchObject([
      { name: 'sft', from: 0, to: 1 },
      { name: 'grpo', from: 1, to: 3, energy_per_point_j: { value: null } },
    ]);
    const shown = await train(['show', 'runs/t']);
    expect(shown.out.join('\n')).toMatch(/phase sft .* → .* points; a seed .* tokens/);
  });

  test('stops at a signal with what it has, and says how to go on', async () => {
    const { code, err } = await train(['ovcsd', '--seeds', '1', '--power', 'none', '--name', 'cut'], {
      signal: AbortSignal.timeout(500),
    });
    expect(code).toBe(130);
    expect(err.at(-1)).toBe(`interrupted; go on with: perwatt train --resume ${join(cwd, 'runs/cut')}`);
    expect(openTrainingRun(join(cwd, 'runs/cut')).manifest.status).toBe('interrupted');
  });

  test('trains what a matrix file lists', async () => {
    const matrix = `name: m
train:
  - { recipe: router_fit, seeds: 1, set: { steps: 2, queries: 60, eval_items: 40 } }
  - { id: dim, recipe: router_fit, seeds: 1, set: { steps: 2, queries: 60, eval_items: 40, noise: 0.4 } }
power: { sources: [] }
axes: { model: [x], dataset: [y] }
`;
    writeFileSync(join(cwd, 'm.yaml'), matrix);
    const { out } = await train(['m.yaml', '--json']);
    expect(JSON.parse(out.join(''))).toMatchObject({
      run_id: 'm',
      trainings: [{ name: 'router_fit' }, { name: 'dim', params: { noise: 0.4 } }],
    });
    writeFileSync(join(cwd, 'm.yaml'), matrix.replace('id: dim, ', ''));
    await expect(train(['m.yaml', '--name', 'again'])).rejects.toThrow('trains "router_fit" twice');
    writeFileSync(join(cwd, 'm.yaml'), 'name: m\naxes: { model: [x], dataset: [y] }\n');
    await expect(train(['m.yaml', '--name', 'none'])).rejects.toThrow('has no `train` section');
  });

  test('knows every recipe and parameter of the example', () => {
    const file = fileURLToPath(new URL('../../../../examples/training.yaml', import.meta.url));
    const matrix = readMatrix(file, {}, recordedIo({ cwd }).io);
    expect(trainingsOf(matrix).map(({ name }) => name)).toEqual([
      'selfcest',
      'selfcest-alone',
      'grpo',
      'ovcsd',
      'idle',
    ]);
    expect(matrix.endpoints?.['after']?.url).toMatch(
      /^recipe:selfcest@\/.*\/runs\/training\/checkpoints\/selfcest-seed-0-step-300\.json$/,
    );
  });

  test('keeps items of a policy as a data set beside its tables', async () => {
    await train([
      'star',
      '--seeds',
      '1',
      '--set',
      'rounds=1',
      '--set',
      'items=10',
      '--set',
      'eval_items=10',
      '--power',
      'none',
      '--name',
      's',
      '--quiet',
    ]);
    const [first] = readFileSync(join(cwd, 'runs/s/items-star.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(first ?? '')).toEqual({
      id: 'type-1',
      prompt: expect.stringContaining('Solve item 1'),
      gold: '0',
    });
  });

  test('keeps a router that `route_learned` reads, and that scores prompts as it was trained', async () => {
    await train([
      'router_fit',
      '--seeds',
      '1',
      '--set',
      'steps=100',
      '--quiet',
      '--power',
      'none',
      '--name',
      'r',
    ]);
    const router = await routeScorer(join(cwd, 'runs/r/router-router_fit.json'));
    const run = openTrainingRun(join(cwd, 'runs/r'));
    const checkpoint = parseCheckpoint(readFileSync(run.checkpointPath('router_fit', 0, 100), 'utf8'), 'x');
    const weights = restoreTrainer(recipeById('router_fit'), checkpoint).state['weights'] as Float64Array;
    const random = createRandom(5, 'queries');
    for (let i = 0; i < 40; i++) {
      const query = drawQuery(random, 0.1);
      const wanted = 1 / (1 + Math.exp(-routerLogit(weights, query)));
      expect(Math.abs(router.score(routerPrompt(query.features)) - wanted)).toBeLessThan(0.02);
    }
  });

  // biome-ignore format: a table is read in columns
  test.each([
    { args: ['ovscd'],                                want: /no recipe "ovscd"; did you mean "ovcsd"\?/,  why: 'an unknown recipe' },
    { args: ['ovcsd', '--set', 'iteration=3'],        want: /no parameter "iteration"/,                    why: 'an unknown parameter' },
    { args: ['ovcsd', '--set', 'lr=NaN'],             want: /recipe ovcsd: lr must be a number, not NaN/,  why: 'a value that is no number' },
    { args: ['ovcsd', '--set', 'lr'],                 want: /--set lr is not key=value/,                   why: 'no value' },
    { args: [],                                       want: /no recipe was given/,                         why: 'nothing to train' },
    { args: ['--resume', 'x', '--set', 'lr=1'],       want: /--set cannot be combined with --resume/,     why: 'parameters told anew' },
    { args: ['--resume', 'x', '--seeds', '9'],        want: /--seeds cannot be combined with --resume/,   why: 'seeds told anew' },
    { args: ['ovcsd', '--resume', 'x'],               want: /cannot be combined with --resume/,            why: 'two things at once' },
    { args: ['--resume', 'nowhere'],                  want: /no run at /,                                  why: 'no such run' },
    { args: ['show', '.'],                            want: /no run at /,                                  why: 'no training there' },
  ])('refuses $args: $why', async ({ args, want }) => {
    await expect(train([...args, ...(args.includes('show') ? [] : ['--power', 'none'])])).rejects.toThrow(want);
    expect(existsSync(join(cwd, 'runs'))).toBe(false);
  });

  test('refuses to go on with a training of another version, or from a checkpoint that does not fit', async () => {
    await train([...small, '--seeds', '1', '--quiet', '--name', 'a']);
    const folder = join(cwd, 'runs/a');
    const edit = (file: string, change: (text: string) => string) =>
      writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
    rmSync(join(folder, 'checkpoints/router_fit-seed-0-step-6.json'));
    edit('checkpoints/router_fit-seed-0-step-0.json', (text) =>
      text.replace('"recipe":"router_fit"', '"recipe":"sat"'),
    );
    await expect(train(['--resume', folder, '--power', 'none', '--quiet'])).rejects.toThrow(
      'of recipe sat, not router_fit',
    );
    const whole = (text: string) => text.replace('"recipe":"sat"', '"recipe":"router_fit"');
    // biome-ignore format: a table is read in columns
    const cases: readonly (readonly [change: (text: string) => string, want: RegExp])[] = [
      [(text) => whole(text).replace('"lr":2', '"lr":3'),    /router_fit-seed-0-step-0\.json: the checkpoint is of lr 3, the training of lr 2/],
      [(text) => whole(text).replace('"seed":0', '"seed":5'), /is of seed 5, the training of seed 0/],
      [(text) => whole(text).replace('"step":0', '"step":2'), /is of step 2, the training of step 0/],
      [(text) => whole(text).replace('"length":4', '"length":5'), /step-0\.json: the checkpoint does not fit: "weights" should hold 4/],
      [(text) => whole(text).slice(0, 150),                   /step-0\.json is no JSON/],
    ];
    const checkpoint = 'checkpoints/router_fit-seed-0-step-0.json';
    const before = readFileSync(join(folder, checkpoint), 'utf8');
    for (const [change, want] of cases) {
      writeFileSync(join(folder, checkpoint), change(before));
      await expect(train(['--resume', folder, '--power', 'none', '--quiet'])).rejects.toThrow(want);
    }
    writeFileSync(join(folder, checkpoint), whole(before));
    edit('run.json', (text) => text.replace('"version": 1', '"version": 7'));
    await expect(train(['--resume', folder, '--power', 'none', '--quiet'])).rejects.toThrow(
      'version 7 of recipe router_fit',
    );
  });
});

describe('perwatt train compare', () => {
  test('tells how much less one took than the other, and which training is meant of several', async () => {
    const args = [
      '--seeds',
      '2',
      '--quiet',
      '--power',
      'none',
      '--set',
      'iterations=8',
      '--set',
      'eval_every=1',
      '--set',
      'eval_items=60',
    ];
    await train(['grpo', ...args, '--name', 'g']);
    await train(['ovcsd', ...args, '--name', 'o']);
    const { out } = await train(['compare', 'runs/g', 'runs/o', '--target', '0', '--window', '1']);
    expect(out[0]).toBe('to 0 % accuracy, grpo over ovcsd:');
    expect(out).toHaveLength(5);
    await expect(train(['compare', 'runs/g', 'runs/o:x'])).rejects.toThrow('there is no training "x"');
  });
});

describe('perwatt train list', () => {
  test('names every recipe with its parameters and defaults', async () => {
    const { out } = await train(['list']);
    expect(out).toContainEqual(expect.stringMatching(/^ovcsd: /));
    expect(out).toContainEqual(expect.stringMatching(/^tiny_transformer: .* \(slow: minutes a seed\)$/));
    expect(out).toContainEqual(expect.stringMatching(/^ {2}backtracking=deepest /));
    expect(JSON.parse((await train(['list', '--json'])).out.join(''))).toHaveLength(12);
  });
});
