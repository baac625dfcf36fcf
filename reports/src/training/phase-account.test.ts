import { describe, expect, test } from 'vitest';
import { phaseAccounts } from './phase-account.js';
import { reportOf } from './training-account.js';
import { trainingPage } from './training-page.js';
import { madeRun } from './training-run.fixture.js';

/** A training of two phases, 1 s a step at 10 W; its evaluations score so many of ten items. */
const run = (right: readonly (readonly [number, number, number])[], metered = true) =>
  madeRun({
    metered,
    trainings: [
      {
        name: 'a',
        seeds: right.map((_, seed) => seed),
        steps: 3,
        phases: [
          { name: 'sft', steps: 1 },
          { name: 'nothing', steps: 0 },
          { name: 'grpo', steps: 2 },
        ],
      },
    ],
    sittings: [{ from: 0, to: 50_000 }],
    seeds: right.map((own, seed) => {
      const at = seed * 5000;
      return {
        training: 'a',
        seed,
        steps: [1, 2, 3].map((step) => ({ step, from: at + 1000 * step, to: at + 1000 * (step + 1) })),
        evals: [0, 1, 3].map((step, i) => ({
          step,
          from: at + 10 * i,
          to: at + 10 * i + 5,
          scores: Array.from({ length: 10 }, (_, item) => (item < own[i]! ? 1 : 0)),
        })),
      };
    }),
  });

const phasesOf = (...args: Parameters<typeof run>) => phaseAccounts(reportOf(run(...args)).accounts[0]!);

describe('phases', () => {
  test('share out what the training cost and gained, each with its own interval and price', () => {
    const [sft, grpo, ...more] = phasesOf([
      [0, 6, 9],
      [0, 7, 9],
      [0, 8, 9],
    ]);
    expect(more).toEqual([]);
    expect(sft).toMatchObject({ name: 'sft', from: 0, to: 1, tokens: 100, cpu_s: 1 });
    expect(grpo).toMatchObject({ name: 'grpo', from: 1, to: 3, tokens: 200, cpu_s: 2 });
    expect(sft!.energy_j).toBeCloseTo(10, 6);
    expect(grpo!.energy_j).toBeCloseTo(20, 6);
    expect(sft!.accuracy_gain_pp.value).toBeCloseTo(70, 9);
    expect(sft!.energy_per_point_j.value).toBeCloseTo(10 / 70, 9);
    expect(grpo!.accuracy_before).toBeCloseTo(0.7, 9);
    expect(grpo!.accuracy_gain_pp.value).toBeCloseTo(20, 9);
    // Differences of 30, 20 and 10 points: their interval reaches below 0.
    expect(grpo!.accuracy_gain_pp.lo).toBeLessThan(0);
    expect(grpo!.energy_per_point_j).toMatchObject({ value: null, reason: 'no significant gain' });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    { right: [[0, 6, 9]] as const,                       metered: true,  want: 'the gain of one seed has no interval', why: 'one seed' },
    { right: [[0, 9, 6], [0, 8, 5]] as const,            metered: true,  want: 'accuracy fell',                        why: 'a phase that harms' },
    { right: [[0, 6, 9], [0, 6, 9]] as const,            metered: false, want: 'nothing was metered',                  why: 'no meter' },
  ])('have no price for $why', ({ right, metered, want }) => {
    const last = phasesOf(right, metered).at(-1)!;
    expect(last.energy_per_point_j).toMatchObject({ value: null, reason: want });
  });

  test('stand on the page of the training, and there only where it has any', () => {
    const report = reportOf(
      run([
        [0, 6, 9],
        [0, 7, 9],
        [0, 8, 9],
      ]),
    );
    expect(trainingPage([report])!.body.markup).toMatch(/Phases[\s\S]*grpo[\s\S]*steps 2 to 3/);
    const [account] = report.accounts;
    const { phases: _, ...facts } = account!.facts;
    const plain = { ...report, accounts: [{ ...account!, facts }] };
    expect(phaseAccounts(plain.accounts[0]!)).toEqual([]);
    expect(trainingPage([plain])!.body.markup).not.toContain('Phases');
  });
});
