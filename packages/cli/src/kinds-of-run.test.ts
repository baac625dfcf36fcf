import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PerwattError, SCHEMA_VERSION } from '@perwatt/core';
import { createTrainingRun, openKernelSession, openRun } from '@perwatt/records';
import { unpackBundle } from '@perwatt/reports';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordedIo } from './io.fixture.js';
import type { Io } from './io.js';
import { loadCommands } from './load-commands.js';

/**
 * Every command that takes a run, with every kind of folder that is no finished run of a matrix: it works, or says in one error
 * what the folder holds and what to do with it.
 */
const kinds = ['unfinished', 'imported', 'training', 'kernels'] as const;

let root = '';

async function perwatt(...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: root });
  const [name = '', ...rest] = args;
  const command = await commandOf(io, name);
  await command.parseAsync(rest, { from: 'user' });
  return { ...result, text: [...result.out, ...result.err].join('\n') };
}

async function commandOf(io: Io, name: string): Promise<Command> {
  const [command] = await loadCommands([name], { io, version: '0.0.0' });
  if (command === undefined) throw new Error(`no command ${name}`);
  for (const one of [command, ...command.commands])
    one.exitOverride().configureOutput({ writeErr: () => {} });
  return command;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-kinds-'));
  const golden = fileURLToPath(new URL('../../../reports/golden/run.tgz', import.meta.url));
  await unpackBundle(golden, { into: join(root, 'golden'), most_bytes: 1e9 });
  cpSync(join(root, 'golden/run'), join(root, 'matrix'), { recursive: true });
  cpSync(join(root, 'matrix'), join(root, 'unfinished'), { recursive: true });
  const open = openRun(join(root, 'unfinished'));
  open.updateManifest({ status: 'interrupted' });
  const [, last] = open.cells();
  for (const { file } of last!.segments) rmSync(join(open.cellFolder(last!.cell_id), file));
  open.writeCell({ ...last!, status: 'planned', segments: [], sittings: [], ledgers: [] });

  const caps =
    'power_cap_w,draft_depth,output_tokens_per_s,gpu_power_mean_w,draft_acceptance\n400,0,71.2,407,\n600,4,162.1,602,0.6';
  writeFileSync(join(root, 'caps.csv'), caps);
  await perwatt('import', 'power-cap', 'caps.csv', '--out', 'imported');
  const { host, clocks } = openRun(join(root, 'matrix')).manifest;
  createTrainingRun(join(root, 'training'), {
    schema_version: SCHEMA_VERSION,
    kind: 'training',
    run_id: 'training',
    perwatt_version: '0',
    status: 'interrupted',
    trainings: [
      {
        name: 'fit',
        recipe: 'router_fit',
        version: 1,
        title: 'A router',
        effort: 'tokens',
        params: {},
        seeds: [0],
        steps: 4,
        eval_every: 2,
        claims: [],
      },
    ],
    host,
    clocks,
    power: [],
    boundary: null,
    sittings: [],
    segments: [],
  });
  openKernelSession(join(root, 'kernels'), {
    phase: 'alone',
    perwatt_version: '0',
    wall_time: '2026-01-01T00:00:00Z',
    host: null,
    devices: [],
    absent: [],
    steps: [],
  }).close('done');
}, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const P = 'RUN_PUBLISHED';
const T = 'RUN_TRAINING';
const K = 'RUN_NOT_FOUND';
const I = 'RUN_INVALID';
type Outcome = 'works' | PerwattError['code'];

// biome-ignore format: a table is read in columns
const table: readonly (readonly [command: string, ...outcomes: readonly Outcome[]])[] = [
  // command                              unfinished  imported  training  kernels
  ['report RUN --out o/report-RUN',         'works',    'works',  'works',  K],
  ['results RUN',                           'works',    'works',  T,        K],
  ['compare RUN --pareto power_w,tokens_per_s', 'works', 'works',  T,        K],
  ['diff RUN RUN',                          'works',    P,        T,        'INPUT_INVALID'],
  ['publish RUN --no-figures --out o/p-RUN', 'works',   P,        'works',  K],
  ['bundle RUN --out o/RUN.tgz',            'works',    P,        'works',  K],
  ['view RUN --json',                       'works',    P,        T,        K],
  ['verify RUN',                            'works',    'works',  'works',  'works'],
  ['query RUN FROM-samples',                'works',    'SQL_INVALID', 'works', 'SQL_INVALID'],
  ['footprint RUN',                         'works',    P,        T,        K],
  ['route RUN',                             'INPUT_INVALID', P,   T,        K],
  ['merge RUN RUN --out o/merged',          'INPUT_INVALID', P,   T,        K],
  ['run --resume RUN --quiet',              'works',    P,        T,        K],
  ['train show RUN',                        I,          P,        'works',  K],
  ['train report RUN --to o/t-RUN',         I,          P,        'works',  K],
  ['import show RUN',                       I,          'works',  T,        K],
  ['kernels roofline RUN',                  K,          K,        K,        'works'],
];
const cases = table.flatMap(([command, ...outcomes]) =>
  kinds.flatMap((kind, i) => {
    const outcome = outcomes[i];
    return outcome === undefined || (command.startsWith('run ') && outcome === 'works')
      ? []
      : [[command, kind, outcome] as const];
  }),
);

test.each(cases)(
  '%s with a folder of the kind %s: %s',
  { timeout: 60_000 },
  async (command, kind, outcome) => {
    const args = command
      .replaceAll('RUN', kind)
      .split(' ')
      .map((word) => word.replace('-', word.startsWith('FROM') ? ' ' : '-'));
    if (outcome === 'works') {
      const { text, code } = await perwatt(...args);
      expect(text).not.toBe('');
      expect(code).toBe(0);
      return;
    }
    const error: unknown = await perwatt(...args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PerwattError);
    const { code, message, hint } = error as PerwattError;
    expect([code, message]).toEqual([outcome, expect.not.stringContaining('Invalid input')]);
    expect(hint).toMatch(/`perwatt [a-z]+|^Give |^Route |^Mend |^Share /);
  },
);
