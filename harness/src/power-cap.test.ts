import { PerwattError, type PowerCap } from '@perwatt/core';
import { openRun, type PowerCapFacts } from '@perwatt/records';
import { expect, test } from 'vitest';
import type { CommandEnd, Commands } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import { createPowerCaps } from './power-cap.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { virtualWorld } from './virtual-world.fixture.js';
import { quickPlan, temporaryFolder } from './world.fixture.js';

const cap: PowerCap = {
  set: ['limit', '--set', '{watts}'],
  read: ['limit', '--read'],
  restore: ['limit', '--set', '{watts}'],
  tolerance_w: 1,
  settle_s: 1,
  timeout_s: 30,
};

/** A device whose limit is set and read by commands; `reject` names those that fail. */
function device(
  options: {
    readonly reject?: readonly string[];
    readonly most_w?: number;
    readonly says?: (watts: number) => string;
  } = {},
) {
  const { reject = [], most_w = 1000, says = (watts) => `power.limit\n${watts.toFixed(2)} W\n` } = options;
  const state = { watts: 350, exits: [] as string[] };
  const log: string[] = [];
  const fail: CommandEnd = { exit_code: 3, stdout: '', stderr: 'usage\nno permission\n' };
  const commands: Commands = {
    async run(argv) {
      log.push(argv.join(' '));
      if (reject.includes(argv.join(' '))) return fail;
      if (argv[1] === '--set') state.watts = Math.min(Number(argv[2]), most_w);
      return { exit_code: 0, stdout: argv[1] === '--read' ? says(state.watts) : '', stderr: '' };
    },
    atExit(argv) {
      state.exits.push(argv.join(' '));
      return () => {
        state.exits = state.exits.filter((other) => other !== argv.join(' '));
      };
    },
  };
  return { commands, state, log };
}

function capsOf(commands: Commands | undefined, earlier?: PowerCapFacts) {
  const noted: PowerCapFacts[] = [];
  const waits: number[] = [];
  const caps = createPowerCaps({
    cap,
    commands,
    wait: async (seconds) => void waits.push(seconds),
    earlier,
    note: (facts) => noted.push(facts),
  });
  return { caps, noted, waits };
}

test('a limit is noted before it is touched, set, given time, read back and put back in the end', async () => {
  const { commands, state, log } = device();
  const { caps, noted, waits } = capsOf(commands);
  expect(await caps.apply(200)).toEqual({ asked_w: 200, read_w: 200, after_w: null, tolerance_w: 1 });
  expect(log).toEqual(['limit --read', 'limit --set 200', 'limit --read']);
  expect(noted).toEqual([{ before_w: 350, state: 'set', after_w: null, problem: null }]);
  expect([waits, state.exits]).toEqual([[1], ['limit --set 350']]);
  await caps.restore();
  await caps.restore();
  expect(log.slice(3)).toEqual(['limit --set 350', 'limit --read']);
  expect(noted.at(-1)).toEqual({ before_w: 350, state: 'restored', after_w: 350, problem: null });
  expect([state.watts, state.exits]).toEqual([350, []]);
});

test('cells of one limit that follow one another set it once, but read it for each; one without a limit gets that of before', async () => {
  const { commands, state, log } = device();
  const { caps } = capsOf(commands);
  await caps.apply(200);
  await caps.apply(200);
  expect(log.filter((line) => line.includes('--set'))).toEqual(['limit --set 200']);
  expect(await caps.apply(null)).toBeNull();
  expect(state.watts).toBe(350);
  await caps.apply(250);
  expect(state.watts).toBe(250);
  await caps.restore();
  expect(state.watts).toBe(350);
});

// biome-ignore format: a table is read in columns
test.each<[options: Parameters<typeof device>[0], message: string, why: string]>([
  [{ most_w: 180 },                   'a power limit of 200 W was set, but 180 W was read back',  'the device clamps it'],
  [{ reject: ['limit --set 200'] },   'limit --set 200 ended with 3: no permission',              'it may not be set'],
  [{ reject: ['limit --read'] },      'limit --read ended with 3: no permission',                 'it cannot be read: nothing is touched'],
  [{ says: () => '[N/A]' },           'limit --read printed no number: "[N/A]"',                  'a reading that is none'],
])('%j: %s', async (options, message) => {
  const { commands, state } = device(options);
  const { caps } = capsOf(commands);
  await expect(caps.apply(200)).rejects.toThrowError(
    expect.objectContaining({ code: 'POWER_CAP_FAILED', message }),
  );
  await caps.restore();
  expect(Math.min(350, options?.most_w ?? 350)).toBe(state.watts);
});

test('a limit that cannot be put back is said, and no cell without a limit runs under it', async () => {
  const { commands } = device({ reject: ['limit --set 350'] });
  const { caps, noted } = capsOf(commands);
  await caps.apply(200);
  await expect(caps.apply(null)).rejects.toThrowError('the power limit was not put back');
  expect(noted.at(-1)).toMatchObject({
    state: 'not_restored',
    problem: 'limit --set 350 ended with 3: no permission',
  });
});

test('what a killed start left is put back to the limit of before it, not to the one it had set', async () => {
  const { commands, state } = device();
  state.watts = 200;
  const { caps, noted } = capsOf(commands, { before_w: 350, state: 'set', after_w: null, problem: null });
  await caps.apply(250);
  await caps.restore();
  expect([state.watts, noted.at(-1)?.before_w]).toEqual([350, 350]);
});

test('without commands or a section a limit is refused', async () => {
  await expect(capsOf(undefined).caps.apply(200)).rejects.toThrowError('nothing here can run');
  const caps = createPowerCaps({
    cap: undefined,
    commands: undefined,
    wait: async () => {},
    earlier: undefined,
    note: () => {},
  });
  await expect(caps.apply(200)).rejects.toThrowError(PerwattError);
  expect(await caps.apply(null)).toBeNull();
});

const never = new AbortController().signal;

const matrix = `
name: t
protocol: quick
order: as-written
power_cap: { set: [limit, --set, "{watts}"], read: [limit, --read], restore: [limit, --set, "{watts}"], settle_s: 0.1 }
axes:
  model: [m1]
  dataset: [d1]
  variant: [{ id: full }, { id: w200, power_cap_w: 200 }, { id: w900, power_cap_w: 900 }]
`;

test('a run measures each cell under its limit, fails one whose limit does not hold, and puts it back', async () => {
  const { commands, state } = device({ most_w: 400 });
  const deps = { ...virtualWorld().deps, commands };
  const { run, results } = await runPlan(await quickPlan(matrix, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  expect(results.map(({ status }) => status)).toEqual(['done', 'done', 'failed']);
  const [full, capped, refused] = run.cells();
  expect([full?.sittings[0]?.power_cap, full?.settings?.power_cap_w]).toEqual([undefined, null]);
  expect(capped?.sittings[0]?.power_cap).toEqual({ asked_w: 200, read_w: 200, after_w: 200, tolerance_w: 1 });
  expect(capped?.settings?.power_cap_w).toBe(200);
  expect(refused?.failure).toBe('POWER_CAP_FAILED: a power limit of 900 W was set, but 400 W was read back');
  expect(state.watts).toBe(350);
  expect(run.manifest.power_cap).toEqual({ before_w: 350, state: 'restored', after_w: 350, problem: null });
  expect(new Set(run.cells().map(({ cell_id }) => cell_id)).size).toBe(3);
});

test('a limit that something else moved meanwhile flags the cell', async () => {
  const { commands, state } = device();
  const world = virtualWorld({
    call_ns: () => {
      state.watts = 300;
      return 1e6;
    },
  });
  const deps = { ...world.deps, commands };
  const { run } = await runPlan(await quickPlan(matrix, deps), deps, {
    root: temporaryFolder(),
    signal: never,
  });
  expect(run.cells()[1]?.verdict?.reasons.find(({ code }) => code === 'power_cap_moved')?.text).toBe(
    'its power limit of 200 W was 300 W after it',
  );
});

test('a run that is stopped puts the limit back', async () => {
  const { commands, state } = device();
  const stop = new AbortController();
  const world = virtualWorld({
    call_ns: () => {
      if (state.watts === 200) stop.abort();
      return 1e6;
    },
  });
  const deps = { ...world.deps, commands };
  const { status } = await runPlan(await quickPlan(matrix, deps), deps, {
    root: temporaryFolder(),
    signal: stop.signal,
  });
  expect([status, state.watts, state.exits]).toEqual(['interrupted', 350, []]);
});

test('a resume first puts back what a crash left, even where nothing is left to measure', async () => {
  const { commands, state } = device();
  const deps = { ...virtualWorld().deps, commands };
  const plan = await quickPlan(matrix, deps);
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal: never });
  run.updateManifest({ power_cap: { before_w: 350, state: 'set', after_w: null, problem: null } });
  state.watts = 200;
  const again = await resumeRun(openRun(run.path), null, { deps, options: { root: '', signal: never } });
  expect(again.results).toEqual([]);
  expect([state.watts, openRun(run.path).manifest.power_cap?.state]).toEqual([350, 'restored']);
});

// biome-ignore format: a table is read in columns
test.each<[section: string, problem: string, why: string]>([
  ['',                                                                    'axes.variant[0].power_cap_w needs `power_cap`',        'a limit without commands'],
  ['power_cap: { set: [x], read: [x], restore: [x] }',                    'power_cap.set: no argument holds {watts}',             'a command that sets nothing'],
  ['power_cap: { set: ["{watts}"], read: ["{watt}"], restore: [x] }',     'power_cap.read: {watt} stands for nothing',            'a placeholder that is none'],
  ['power_cap: { set: ["{watts}"], read: [x], restor: [x] }',             'unknown key power_cap.restor; did you mean "restore"?', 'a wrong key'],
])('%s is refused: %s', (section, problem) => {
  const text = `name: t\naxes:\n  model: [m]\n  dataset: [d]\n  variant: [{ id: v, power_cap_w: 200 }]\n${section}\n`;
  expect(() => parseMatrix(text, 'm.yaml')).toThrowError(expect.objectContaining({ message: expect.stringContaining(problem) }));
});
