import type { CellEnergy } from '@perwatt/metrics';
import { shippedCatalogue } from '@perwatt/metrics';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { mostInFlight, type PhysicsInput, physicsFlag, physicsOf, weightsOf } from './physics.js';

const catalogue = shippedCatalogue();

interface Given {
  readonly model?: string;
  readonly file?: string;
  readonly accelerator?: string;
  readonly quantisation?: string | null;
  readonly tokens_per_s?: number;
  readonly power_w?: number;
  readonly energy_hi_j?: number;
  readonly in_flight?: number;
  readonly gpus?: number;
  readonly idle_lo_w?: number | null;
  readonly cpu?: string;
}

function input(given: Given): PhysicsInput {
  const { model = 'llama-3.1-8b-instruct', accelerator = 'nvidia-rtx-4090', quantisation = 'F16' } = given;
  const domains = Array.from({ length: given.gpus ?? 1 }, (_, i) =>
    testDomain({ id: `nvml:${i}`, scope: 'gpu', provenance: 'counter' }),
  );
  const powers = domains.map(({ id }) => ({ domain: id, lo_w: given.idle_lo_w ?? null }));
  const metrics = {
    tokens_per_s: { value: given.tokens_per_s ?? null },
    power_w: { value: given.power_w ?? null },
  };
  const energy = {
    boundary: { provenance: 'counter', domains },
    gross_hi_j: given.energy_hi_j ?? null,
    busy_ns: 10e9,
  } satisfies Partial<CellEnergy>;
  return {
    cell: {
      point: { model, accelerator, dataset: 'd', strategy: 's', load: 'c1' },
      provenance: { endpoint: { kind: 'embedded', model: given.file ?? 'm', quantisation } },
      sittings: [{ baselines: [{ powers }] }],
    },
    metrics,
    energy,
    in_flight: given.in_flight ?? 1,
    manifest: {
      matrix: {
        axes: { model: [{ id: model }], accelerator: [{ id: accelerator, kind: 'cpu', gpu: false }] },
      },
      host: { cpu: given.cpu ?? null },
    },
  } as unknown as PhysicsInput;
}

const verdictsOf = (given: Given) =>
  Object.fromEntries(physicsOf(input(given), catalogue).map(({ check, verdict }) => [check, verdict]));

// biome-ignore format: a table is read in columns
test.each<[why: string, given: Given, check: string, verdict: string | RegExp]>([
  ['8 B weights of 16 bits, 70 times a second, need 1,051 GB/s of 1,008', { tokens_per_s: 70 },                            'bandwidth', 'invalid: exceeds-bandwidth'],
  ['just below the bound',                                    { tokens_per_s: 60 },                                       'bandwidth', 'possible'],
  ['eight sequences share a pass',                            { tokens_per_s: 70, in_flight: 8 },                         'bandwidth', 'possible'],
  ['two metered devices have twice the bandwidth',            { tokens_per_s: 70, gpus: 2 },                              'bandwidth', 'possible'],
  ['a quarter of the bytes',                                  { tokens_per_s: 70, quantisation: 'Q4_K_M' },               'bandwidth', 'possible'],
  ['the weight file tells the model',                         { tokens_per_s: 70, model: 'a', file: '/w/Meta/Llama-3.1-8B-Instruct-F16.gguf' }, 'bandwidth', 'invalid: exceeds-bandwidth'],
  ['an unknown model is named',                               { tokens_per_s: 70, model: 'mine' },                        'bandwidth', 'not checked: model unknown ("mine" has no entry)'],
  ['an unknown device is named',                              { tokens_per_s: 70, accelerator: 'box' },                   'bandwidth', 'not checked: accelerator unknown ("box" has no entry)'],
  ['the processor of the host is one',                        { tokens_per_s: 70, accelerator: 'box', cpu: 'AMD EPYC 9654 96-Core Processor' }, 'bandwidth', /bytes of weights may stay|exceeds/],
  ['an unknown file type',                                    { tokens_per_s: 70, quantisation: 'UD-Q4_K_XL' },           'bandwidth', 'not checked: weights unknown'],
  ['more watts than the card may draw',                       { power_w: 900 },                                           'power',     'invalid: exceeds-power-limit'],
  ['what two cards may draw',                                 { power_w: 900, gpus: 2 },                                  'power',     'possible'],
  ['less energy than idling takes',                           { energy_hi_j: 50, idle_lo_w: 10 },                         'idle',      'invalid: below-idle-energy'],
  ['more than idling takes',                                  { energy_hi_j: 150, idle_lo_w: 10 },                        'idle',      'possible'],
  ['no baseline',                                             { energy_hi_j: 50, idle_lo_w: null },                       'idle',      'not checked: idle_lo_w unknown'],
])('%s', (_, given, check, verdict) => {
  const found = verdictsOf(given)[check];
  if (typeof verdict === 'string') expect(found).toBe(verdict);
  else expect(found).toMatch(verdict);
});

test('what cannot be makes one flag, with every calculation in it', () => {
  const findings = physicsOf(input({ tokens_per_s: 70, power_w: 900 }), catalogue);
  const [flag, ...more] = physicsFlag(findings);
  expect(more).toEqual([]);
  expect(flag).toMatchObject({ code: 'beyond_physics', severity: 'flagged' });
  expect(flag?.text).toMatch(/exceeds-bandwidth: .*1051 GB\/s.*; invalid: exceeds-power-limit: .*900 W/);
  expect(physicsFlag(physicsOf(input({ tokens_per_s: 10 }), catalogue))).toEqual([]);
});

// biome-ignore format: a table is read in columns
test.each<[quantisation: string | null, bits: number | null, why: string]>([
  ['F16',    16,   'as listed'],
  ['q8_0',   8.5,  'in either case'],
  ['Q4_K_M', 4.5,  'a mixture counts as its smallest block'],
  ['Q5_K_S', 5.5,  'a mixture counts as its smallest block'],
  ['MXFP4',  4.25, 'as listed'],
  ['IQ2_XS', null, 'not listed'],
  [null,     null, 'not declared'],
])('%s takes %s bits: %s', (quantisation, bits) => {
  expect(weightsOf(quantisation)?.bits ?? null).toBe(bits);
});

// biome-ignore format: a table is read in columns
test.each<[calls: [start: number, end: number][], most: number, why: string]>([
  [[],                                    0, 'no calls'],
  [[[0, 10]],                           1, 'one'],
  [[[0, 10], [10, 20]],               2, 'ends that touch may have met'],
  [[[0, 10], [11, 20]],               1, 'one after the other'],
  [[[0, 30], [5, 10], [20, 25]],    2, 'two short ones beside a long one'],
  [[[20, 25], [0, 30], [21, 22]],   3, 'in any order'],
])('%j: %i in flight, %s', (calls, most) => {
  const [starts, ends] = ([0, 1] as const).map((at) => Float64Array.from(calls, (call) => call[at]));
  expect(mostInFlight(starts!, ends!)).toBe(most);
});
