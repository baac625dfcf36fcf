import { PerwattError } from '@perwatt/core';
import { openKernelSession, openRun } from '@perwatt/records';
import { describe, expect, test } from 'vitest';
import type { HarnessDeps, KernelRunner, KernelWork } from './deps.js';
import { parseMatrix } from './parse-matrix.js';
import { resumeRun, runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const yaml = (when: string) => `
name: t
protocol: quick
axes: { model: [m1], dataset: [d1] }
kernels: { when: ${when} }
`;

/** Runs nothing, keeps an empty session, and remembers when it was asked and what had been measured by then. */
function fakeKernels(run: (work: KernelWork) => void = () => {}) {
  const asked: string[] = [];
  const kernels: KernelRunner = {
    async ready() {
      asked.push('ready');
    },
    async run(work) {
      const done = work.run.cells().filter(({ status }) => status === 'done').length;
      asked.push(`${work.phase} with ${done} cells done`);
      run(work);
      openKernelSession(work.run.path, {
        phase: work.phase,
        perwatt_version: '0',
        wall_time: '2026-11-30T00:00:00Z',
        host: null,
        devices: [],
        absent: [],
        steps: [],
      }).close('done');
    },
  };
  return { asked, kernels };
}

const never = new AbortController().signal;

async function ran(when: string, kernels: KernelRunner, signal = never) {
  const deps: HarnessDeps = { ...fakeWorld(), kernels };
  const plan = await quickPlan(yaml(when), deps);
  return { deps, plan, outcome: await runPlan(plan, deps, { root: temporaryFolder(), signal }) };
}

// biome-ignore format: a table is read in columns
test.each([
  ['before', ['ready', 'before with 0 cells done'],                            'nothing was measured yet'],
  ['after',  ['ready', 'after with 1 cells done'],                             'everything was'],
  ['both',   ['ready', 'before with 0 cells done', 'after with 1 cells done'], 'twice'],
])('kernels are run %s the cells', async (when, expected, _why) => {
  const { asked, kernels } = fakeKernels();
  const { outcome } = await ran(when, kernels);
  expect([asked, outcome.status]).toEqual([expected, 'done']);
});

describe('what goes wrong', () => {
  test('with the kernels is kept among what was left out, and the cells stay', async () => {
    const { kernels } = fakeKernels(() => {
      throw new PerwattError('INPUT_INVALID', 'there is no device "cuda:0"');
    });
    const { outcome } = await ran('both', kernels);
    expect(outcome.status).toBe('done');
    expect(outcome.results).toMatchObject([{ status: 'done' }]);
    expect(outcome.run.manifest.left_out).toEqual([
      { what: 'kernels before the cells', reason: 'there is no device "cuda:0"' },
      { what: 'kernels after the cells', reason: 'there is no device "cuda:0"' },
    ]);
  });

  test('where they cannot be run at all, nothing is begun', async () => {
    const missing: KernelRunner = {
      async ready() {
        throw new PerwattError('KERNELS_MISSING', 'no cargo found');
      },
      run: async () => {},
    };
    await expect(ran('after', missing)).rejects.toThrow('no cargo found');
    const deps = fakeWorld();
    const plan = await quickPlan(yaml('after'), deps);
    const running = runPlan(plan, deps, { root: temporaryFolder(), signal: never });
    await expect(running).rejects.toThrow('nothing here can run `kernels`');
  });
});

test('a resume runs the kernels that an interrupted run did not come to, and no others', async () => {
  const stopping = new AbortController();
  const first = fakeKernels(() => stopping.abort());
  const { deps, outcome } = await ran('both', first.kernels, stopping.signal);
  expect([outcome.status, first.asked]).toEqual(['interrupted', ['ready', 'before with 0 cells done']]);
  const second = fakeKernels();
  const run = openRun(outcome.run.path);
  const options = { root: temporaryFolder(), signal: never };
  const resumed = await resumeRun(run, null, { deps: { ...deps, kernels: second.kernels }, options });
  expect([resumed.status, second.asked]).toEqual(['done', ['ready', 'after with 1 cells done']]);
});

// biome-ignore format: a table is read in columns
test.each([
  ['{ wen: both }',            'unknown key kernels.wen; did you mean "when"?', 'a slip'],
  ['{ weights: int5 }',        'kernels.weights',                               'a type that is none'],
  ['{ batch: [0] }',           'kernels.batch[0]',                              'no sequence'],
])('kernels: %s is refused: %s', (text, message, _why) => {
  const file = `name: t\naxes: { model: [m1], dataset: [d1] }\nkernels: ${text}\n`;
  expect(() => parseMatrix(file, 'm.yaml')).toThrow(message);
});
