import type { PowerSource, RecorderStatus } from '@perwatt/core';
import type { PowerFile } from '@perwatt/records';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import type { HarnessDeps } from './deps.js';
import { flagReasons, flagsOfSitting, flagsOfTotal, recordedFlags } from './power-flags.js';
import { runPlan } from './run-matrix.js';
import { fakeWorld, quickPlan, temporaryFolder } from './world.fixture.js';

const status: RecorderStatus = { state: 'running', reason: null, reads: 1, missed_deadlines: 0, read_ns: 0 };

const file = (source: string, domains: readonly string[], more: Partial<PowerFile> = {}): PowerFile => ({
  file: `${source}-0.arrows`,
  source,
  provenance: 'counter',
  period_ns: 1e8,
  domains: domains.map((id) => testDomain({ id, source })),
  boot_id: 'boot',
  segment: null,
  ...more,
});

const power = [file('rapl', ['package-0', 'core']), file('nvml', ['gpu-0'])];
const ledgers = [
  { domain: 'package-0', in_total: true },
  { domain: 'core', in_total: false },
  { domain: 'gpu-0', in_total: false },
];

// biome-ignore format: a table is read in columns
test.each([
  [{ source: 'rapl', flag: 'stale:package-0' }, 1, 'a domain of the total'],
  [{ source: 'rapl', flag: 'stale:core' },      0, 'a domain beside the total'],
  [{ source: 'nvml', flag: 'stale:gpu-0' },     0, 'a domain of another total'],
  [{ source: 'rapl', flag: 'psys<package' },    1, 'the whole of a source that counts'],
  [{ source: 'nvml', flag: 'dropped:3' },       0, 'the whole of a source that does not'],
  [{ source: 'rapl', flag: 'melting' },         1, 'a flag nobody knows'],
])('%o counts %i times: %s', (flag, times) => {
  expect(flagsOfTotal([flag, flag], { ledgers, power })).toEqual(times === 1 ? [flag] : []);
});

test('flags on record are those of the boot', () => {
  const flagged = { status: { ...status, flags: ['stale:package-0'], dropped: 2 } };
  const files = [
    file('rapl', ['package-0'], flagged),
    file('old', ['package-0'], { ...flagged, boot_id: 'before' }),
    file('unseen', ['package-0']),
  ];
  expect(recordedFlags(files, 'boot')).toEqual([
    { source: 'rapl', flag: 'stale:package-0' },
    { source: 'rapl', flag: 'dropped:2' },
  ]);
});

test('one reason names everything of its kind, and the source where no domain is named', () => {
  const reasons = flagReasons([
    { source: 'rapl', flag: 'stale:package-0' },
    { source: 'rapl', flag: 'stale:package-1' },
    { source: 'rapl', flag: 'psys<package' },
  ]);
  expect(reasons.map(({ code }) => code)).toEqual(['power_stale', 'power_psys_low']);
  expect(reasons[0]?.text).toMatch(/package-0 .*; .*package-1/);
  expect(reasons[1]?.text).toMatch(/^rapl: the platform counter/);
});

// biome-ignore format: a table is read in columns
test.each<[flag: string, before: string | null, stood_still: string[], kept: boolean, why: string]>([
  ['suspended',        null,         [],    true,  'the machine slept in this sitting'],
  ['suspended',        'suspended',  [],    false, 'it slept before'],
  ['clock_step',       'clock_step', [],    false, 'the clock was set before'],
  ['dropped:7',        'dropped:7',  [],    false, 'nothing more was lost'],
  ['dropped:9',        'dropped:7',  [],    true,  'more was lost'],
  ['psys<package',     'psys<package', [],  true,  'a platform that is not believed stays so'],
  ['stale->gauge:a',   null,         [],    false, 'a counter that went on again'],
  ['stale->gauge:a',   'stale->gauge:a', ['a'], true, 'one that stood still once more'],
  ['stale->gauge:far', null,         [],    true,  'one that nobody judged here'],
])('%s after %s, standing still: %j, is kept: %s (%s)', (flag, before, stood_still, kept) => {
  const earlier = before === null ? [] : [{ source: 's', flag: before }];
  const scope = { earlier, domains: new Set(['a']), stood_still: new Set(stood_still) };
  expect(flagsOfSitting([{ source: 's', flag }], scope)).toHaveLength(kept ? 1 : 0);
});

/** The fake meter of a world, whose recorder says more than it should like to. */
const outspoken = (deps: HarnessDeps, more: Partial<RecorderStatus>): HarnessDeps => ({
  ...deps,
  async powerSources(wanted) {
    const sources = await deps.powerSources(wanted);
    return sources.map(
      (source): PowerSource => ({
        ...source,
        start(options) {
          const recorder = source.start(options);
          return { ...recorder, status: () => ({ ...recorder.status(), ...more }) };
        },
      }),
    );
  },
});

test('what a recorder says reaches the manifest, the sitting and the verdict of the cell', async () => {
  let dropped = 0;
  const deps = outspoken(fakeWorld(), {
    flags: ['cross-check:fake:0', 'averaged_1s:elsewhere'],
    get dropped() {
      return ++dropped;
    },
  });
  const plan = await quickPlan('name: t\nprotocol: quick\naxes: {model: [m1], dataset: [d1]}', deps);
  const signal = new AbortController().signal;
  const { run } = await runPlan(plan, deps, { root: temporaryFolder(), signal });
  expect(run.manifest.power[0]?.status).toMatchObject({
    state: 'stopped',
    flags: ['cross-check:fake:0', 'averaged_1s:elsewhere'],
    dropped: expect.any(Number),
  });
  const [cell] = run.cells();
  expect(cell?.sittings[0]?.power_flags).toEqual([
    { source: 'fake', flag: 'cross-check:fake:0' },
    { source: 'fake', flag: expect.stringMatching(/^dropped:\d+$/) },
  ]);
  const reasons = cell?.verdict?.reasons ?? [];
  expect(reasons.map(({ code }) => code)).toEqual(['quick', 'power_cross_check', 'power_dropped']);
  expect(reasons[1]?.text).toBe('the counter of fake:0 is more than 10 % off the power shown beside it');
});
