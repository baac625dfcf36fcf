import { describe, expect, test } from 'vitest';
import { commonTarget, curveToTarget, effortRatios } from './curve-to-target.js';
import { NO_GAIN, reportOf } from './training-account.js';
import { trainingPage } from './training-page.js';
import { type MadeRun, type MadeSeed, madeRun } from './training-run.fixture.js';
import { trainingsBehind } from './trainings-behind.js';

const right = (n: number, of = 20) => Array.from({ length: of }, (_, i) => (i < n ? 1 : 0));

/** A seed whose pieces follow one another: evaluation, two steps of 2 s each, evaluation of 1 s. */
const seedOf = (seed: number, more: Partial<MadeSeed> = {}, after = 15): MadeSeed => ({
  training: 'a',
  seed,
  steps: [
    { step: 1, from: 1000, to: 3000 },
    { step: 2, from: 3000, to: 5000 },
  ],
  evals: [
    { step: 0, from: 0, to: 1000, scores: right(5) },
    { step: 2, from: 5000, to: 6000, scores: right(after) },
  ],
  ...more,
});

const accountOf = (made: MadeRun) => reportOf(madeRun(made)).accounts[0]!;

describe('energy of a training', () => {
  test('is that of its steps; evaluations and what belongs to neither stand apart, and all adds up to the meter', () => {
    const { energy, accounts } = reportOf(madeRun({ trainings: [{ name: 'a' }], seeds: [seedOf(0)] }));
    expect(accounts[0]?.training_energy_j.value).toBeCloseTo(40, 9);
    expect(accounts[0]?.evaluation_energy_j.value).toBeCloseTo(20, 9);
    expect(energy.ledgers[0]).toMatchObject({
      meter_j: expect.closeTo(100, 9),
      other_j: expect.closeTo(40, 9),
    });
  });

  test('is shared equally by seeds that were at work at once, and none of it is lost', () => {
    const other = seedOf(1, {
      steps: [
        { step: 1, from: 1000, to: 5000 },
        { step: 2, from: 5000, to: 9000 },
      ],
      evals: [],
    });
    const report = reportOf(
      madeRun({ trainings: [{ name: 'a', seeds: [0, 1] }], seeds: [seedOf(0), other] }),
    );
    const [ledger] = report.energy.ledgers;
    expect(ledger!.steps_j! + ledger!.evals_j! + ledger!.other_j!).toBeCloseTo(ledger!.meter_j!, 9);
    expect(report.energy.parts.get('step a 0 0 1')?.energy_j).toBeCloseTo(10, 9);
    expect(report.energy.parts.get('step a 1 0 2')?.energy_j).toBeCloseTo(35, 9);
    const parts = [...report.energy.parts].filter(
      ([key]) => key.startsWith('step ') || key.startsWith('eval '),
    );
    const wholes = [...report.energy.parts].filter(([key]) => key.startsWith('all '));
    const sum = (own: typeof parts) => own.reduce((total, [, { energy_j }]) => total + energy_j!, 0);
    expect(sum(wholes)).toBeCloseTo(sum(parts), 9);
  });

  test('has the starts of threads and the counting of votes apart, and still adds up', () => {
    const report = reportOf(
      madeRun({
        trainings: [{ name: 'a' }],
        seeds: [seedOf(0)],
        asides: [
          { kind: 'start', from: 6000, to: 7500 },
          { kind: 'votes', from: 7500, to: 8000 },
          { kind: 'votes', from: 4000, to: 5000 },
        ],
      }),
    );
    const [ledger] = report.energy.ledgers;
    expect(ledger).toMatchObject({ start_j: expect.closeTo(15, 9), votes_j: expect.closeTo(10, 9) });
    expect(report.accounts[0]?.training_energy_j.value).toBeCloseTo(35, 9);
    const { steps_j, evals_j, start_j, votes_j, other_j, meter_j } = ledger!;
    expect(steps_j! + evals_j! + start_j! + votes_j! + other_j!).toBeCloseTo(meter_j!, 9);
  });

  test('is net of what the idle host draws for the time that it shared, where that was metered', () => {
    const made: MadeRun = { trainings: [{ name: 'a' }], seeds: [seedOf(0)] };
    const net = accountOf({ ...made, idle: [{ when: 'after', from: 20_000, to: 23_000 }] }).training_net_j;
    // The meter shows 10 W whether something is at work or not.
    expect(net.value).toBeCloseTo(0, 9);
    expect(net.lo! <= 0 && net.hi! >= 0).toBe(true);
    expect(accountOf(made).training_net_j).toEqual({
      value: null,
      lo: null,
      hi: null,
      reason: 'no idle baseline was metered',
    });
    expect(accountOf({ ...made, metered: false }).training_net_j.reason).toBe('nothing was metered');
  });

  test('holds what a crash undid too: the steps were made twice', () => {
    const first = seedOf(0, { evals: [{ step: 0, from: 0, to: 1000, scores: right(5) }] });
    const again = seedOf(0, {
      sitting: 1,
      steps: [
        { step: 1, from: 21_000, to: 23_000 },
        { step: 2, from: 23_000, to: 25_000 },
      ],
      evals: [{ step: 2, from: 25_000, to: 26_000, scores: right(15) }],
    });
    const account = accountOf({
      trainings: [{ name: 'a' }],
      seeds: [first, again],
      sittings: [
        { from: 0, to: null },
        { from: 20_000, to: 30_000 },
      ],
    });
    expect(account.training_energy_j.value).toBeCloseTo(80, 9);
    expect(account.totals.tokens).toBe(400);
    expect(account.curve.at(-1)).toMatchObject({ step: 2, tokens: 200, energy_j: expect.closeTo(40, 9) });
  });

  test('is unknown, and no zero, without a meter', () => {
    const account = accountOf({ trainings: [{ name: 'a' }], seeds: [seedOf(0)], metered: false });
    expect(account.training_energy_j).toEqual({
      value: null,
      lo: null,
      hi: null,
      reason: 'nothing was metered',
    });
    expect(account.energy_per_point_j.reason).toBe('nothing was metered');
    expect(account.accuracy_gain_pp.value).toBeCloseTo(50, 9);
  });
});

describe('a point of accuracy', () => {
  const three = (after: readonly number[], more: Partial<MadeSeed> = {}) =>
    accountOf({
      trainings: [{ name: 'a', seeds: [0, 1, 2] }],
      seeds: after.map((n, seed) => seedOf(seed, more, n)),
    });

  test('costs the energy of one seed over the mean gain of all', () => {
    const account = three([15, 15, 16]);
    expect(account.accuracy_gain_pp.value).toBeCloseTo((100 * (11 / 20 + 10 / 20 + 10 / 20)) / 3, 9);
    expect(account.energy_per_point_j.value).toBeCloseTo(
      account.training_energy_j.value! / 3 / account.accuracy_gain_pp.value!,
      9,
    );
    const { lo, hi, value } = account.energy_per_point_j;
    expect(lo! < value! && value! < hi!).toBe(true);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    { after: [5, 5, 5], reason: NO_GAIN,         why: 'nothing changed' },
    { after: [6, 4, 7], reason: NO_GAIN,         why: 'the interval of the gain holds 0' },
    { after: [1, 1, 2], reason: 'accuracy fell', why: 'it got worse' },
  ])('has no price where $why', ({ after, reason }) => {
    const account = three(after);
    expect(account.energy_per_point_j).toEqual({ value: null, lo: null, hi: null, reason });
    expect(account.break_even_queries.value).toBeNull();
  });

  test('has no price before training has ended', () => {
    const account = accountOf({ trainings: [{ name: 'a', steps: 9 }], seeds: [seedOf(0)] });
    expect(account.complete).toBe(false);
    expect(account.energy_per_point_j.reason).toBe('training has not ended');
  });

  test('of one seed has an interval over its items', () => {
    const { lo, hi, value } = accountOf({ trainings: [{ name: 'a' }], seeds: [seedOf(0)] }).accuracy_gain_pp;
    expect(lo! > 0 && lo! < value! && value! < hi!).toBe(true);
  });
});

describe('break-even', () => {
  const withVotes = (votes: Readonly<Record<string, number>>) => {
    const own = seedOf(0);
    const [first, last] = own.evals;
    return accountOf({
      trainings: [{ name: 'a' }],
      seeds: [{ ...own, evals: [{ ...first!, measures: votes }, last!] }],
    });
  };

  test('is told against the fewest votes of the untrained policy that are as accurate', () => {
    const account = withVotes({
      accuracy_of_3_votes: 0.5,
      accuracy_of_9_votes: 0.8,
      accuracy_of_33_votes: 0.9,
    });
    expect(account.break_even_against).toBe('9 votes before training');
    // 40 J of training over (9 − 1) × 0.5 J that a query saves.
    expect(account.break_even_queries.value).toBeCloseTo(10, 6);
  });

  test('is null where no untrained strategy is as accurate, with the reason', () => {
    expect(withVotes({ accuracy_of_3_votes: 0.5 }).break_even_queries).toMatchObject({
      value: null,
      reason: 'nothing untrained that was tried is as accurate: up to 3 votes reach 50 %',
    });
    expect(withVotes({}).break_even_queries.reason).toBe(
      'nothing untrained is as accurate: one attempt is not, and attempts have no answer to vote on',
    );
  });
});

describe('a curve to its target', () => {
  const curve = (...accuracies: number[]) => ({
    seed: 0,
    points: accuracies.map((accuracy, i) => ({
      step: i,
      accuracy,
      tokens: 10 * i,
      env_actions: 5 * i,
      cpu_s: i,
      energy_j: i === 0 ? 0 : 2 * i,
      measures: {},
    })),
  });

  // biome-ignore format: a table is read in columns
  test.each([
    { points: [0, 0.5, 1, 1, 1], window: 1, want: 20,   why: 'the first point at the target' },
    { points: [0, 1, 0, 1, 1],   window: 2, want: null, why: 'a peak that is not held' },
    { points: [0, 1, 1, 1],      window: 2, want: 20,   why: 'the first mean of two that stays' },
    { points: [0, 0.1],          window: 1, want: null, why: 'never reached' },
  ])('takes $want tokens: $why', ({ points, window, want }) => {
    expect(curveToTarget(curve(...points), 'tokens', { target: 0.9, window })).toBe(want);
  });

  test('gives ratios over the seeds that both share, with an interval from two on', () => {
    const run = (slow: number): MadeRun => ({
      trainings: [{ name: 'a', seeds: [0, 1] }],
      seeds: [0, 1].map((seed) =>
        seedOf(seed, {
          steps: [
            { step: 1, from: 1000, to: 1000 + slow },
            { step: 2, from: 1000 + slow, to: 5000 },
          ],
        }),
      ),
    });
    const [a, b] = [accountOf(run(2000)), accountOf(run(1000))];
    const target = commonTarget(a, b, 1)!;
    expect(target).toBeCloseTo(0.95 * 0.75, 9);
    const ratios = effortRatios(a, b, { target, window: 1 });
    expect(ratios.find(({ effort }) => effort === 'tokens')?.ratio).toEqual({
      value: 1,
      lo: 1,
      hi: 1,
      reason: null,
    });
    expect(ratios[0]?.reached).toEqual({ a: 2, b: 2, seeds: 2 });
    expect(effortRatios(a, b, { target: 1, window: 1 })[0]?.ratio.value).toBeNull();
  });
});

describe('the page', () => {
  test('shows what was gained at what cost, and a training without a gain as that', () => {
    const report = reportOf(
      madeRun({
        trainings: [
          {
            name: 'a',
            recipe: 'ovcsd',
            seeds: [0, 1, 2],
            claims: [
              { text: 'It is so.', status: 'supported', note: 'Set out: `more`.' },
              { text: 'It is not.', status: 'not_supported' },
            ],
          },
          { name: 'idle', recipe: 'ovcsd', params: { lr: 2 }, seeds: [0, 1, 2] },
        ],
        seeds: [0, 1, 2].flatMap((seed) => [seedOf(seed, {}, 15), seedOf(seed, { training: 'idle' }, 5)]),
      }),
    );
    const page = trainingPage([report])!;
    const { markup } = page.body;
    expect(page.figures.map(({ id }) => id)).toEqual(['curve-energy_j', 'curve-env_actions', 'before-after']);
    for (const { id } of page.figures) expect(markup).toContain(`id="${id}"`);
    expect(markup).toContain(NO_GAIN);
    expect(markup).toContain('lr=2');
    const places = ['Supported here', 'It is so.', 'Not supported here', 'It is not.', 'Published reference'];
    const found = places.map((text) => markup.indexOf(text));
    expect(found[0]).toBeGreaterThan(0);
    expect(found).toEqual([...found].sort((a, b) => a - b));
    expect(markup).toMatch(/It is so\.<small class="wrap">Set out: more\.<\/small>/);
    expect(markup.indexOf('Published reference')).toBeGreaterThan(markup.indexOf('What may be claimed'));
    expect(markup).toContain('arXiv 2607.27937');
    expect(trainingPage([])).toBeNull();
    // Trainings of one name bear their run's.
    expect(trainingPage([report, report])!.body.markup).toContain('run: idle');
    expect(markup).not.toContain('run: idle');
  });

  test('draws CPU time where nothing was metered, and says so', () => {
    const report = reportOf(madeRun({ trainings: [{ name: 'a' }], seeds: [seedOf(0)], metered: false }));
    const page = trainingPage([report])!;
    expect(page.figures.map(({ id }) => id)).toEqual(['curve-cpu_s', 'curve-env_actions']);
    expect(page.body.markup).toContain('Nothing was metered');
  });

  test('is of the training runs behind the policies that cells asked, each once', () => {
    const made = madeRun({ trainings: [{ name: 'a' }], seeds: [seedOf(0)] });
    const asked = (...urls: string[]) => {
      const endpoints = Object.fromEntries(urls.map((url, i) => [`e${i}`, { url }]));
      return [{ run: { manifest: { matrix: { endpoints } } } }] as unknown as Parameters<
        typeof trainingsBehind
      >[0];
    };
    const at = (step: number) => `recipe:grpo@${made.checkpointPath('a', 0, step)}`;
    const found = trainingsBehind(
      asked(at(0), at(2), 'http://localhost/v1', 'recipe:grpo@/nowhere/checkpoints/x.json'),
    );
    expect(found.map(({ manifest }) => manifest.run_id)).toEqual(['run']);
    expect(trainingsBehind([{ run: null }])).toEqual([]);
  });
});
