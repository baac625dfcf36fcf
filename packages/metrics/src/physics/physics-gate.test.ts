import { fc, test as propTest } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { findAccelerator, findModel } from '../catalogue/find-entry.js';
import { shippedCatalogue } from '../catalogue/load-catalogue.js';
import { kvBytes } from '../flops/kv-bytes.js';
import { weightBits } from '../flops/weight-bytes.js';
import { fastestPeak } from './compute-check.js';
import { physicsFlags, physicsGate } from './physics-gate.js';
import type { PhysicsClaims, PhysicsSetup } from './physics-setup.js';

const catalogue = shippedCatalogue();
const model = (id: string) => findModel(catalogue, id).entry;
const device = (id: string) => findAccelerator(catalogue, id).entry;

const f16 = { bits: 16 };
const mxfp4 = { bits: 16, expert_bits: weightBits.mxfp4 };
const llama4090: PhysicsSetup = {
  model: model('llama-3.1-8b-instruct'),
  accelerator: device('nvidia-rtx-4090'),
  weights: f16,
};
const llamaH100: PhysicsSetup = { ...llama4090, accelerator: device('nvidia-h100-sxm') };
const ossM4: PhysicsSetup = {
  model: model('gpt-oss-20b'),
  accelerator: device('apple-m4-max-40'),
  weights: mxfp4,
};

const found = (claims: PhysicsClaims, setup: PhysicsSetup, check = 'bandwidth') =>
  physicsGate(claims, setup).find((finding) => finding.check === check);

// biome-ignore format: a table is read in columns
test.each<[why: string, setup: PhysicsSetup, claim: number, bound: number, outcome: string]>([
  ['more than the memory can deliver',         llama4090,                                        70,   67.16, 'impossible'],
  ['what counting the input table would deny', llama4090,                                        65,   67.16, 'possible'],
  ['a batch shares the reads',                 { ...llama4090, batch: 8 },                       70,   537.2, 'possible'],
  ['a long context is read too',               { ...llama4090, shortest_context: 4096, kv_type: 'fp16' }, 66, 64.84, 'impossible'],
  ['speculation accepts more for each pass',   { ...llama4090, accepted_per_pass: 2 },           100,  134.3, 'possible'],
  ['bandwidths of a tensor split add',         { ...llama4090, devices: 2 },                     100,  134.3, 'possible'],
  ['those of a pipeline of one sequence do not', { ...llama4090, devices: 2, parallel: 'pipeline' }, 100, 67.16, 'impossible'],
  ['a pipeline of several sequences works at once', { ...llama4090, devices: 2, parallel: 'pipeline', batch: 2 }, 200, 268.6, 'possible'],
  ['experts that are not selected stay unread', ossM4,                                           140,  147.2, 'possible'],
  ['nor may those be passed',                  ossM4,                                            150,  147.2, 'impossible'],
])('%s', (_why, setup, claim, bound, outcome) => {
  const finding = found({ decode_tokens_per_s: claim }, setup);
  expect(finding?.outcome).toBe(outcome);
  expect(Number(finding?.bound?.toPrecision(4))).toBeCloseTo(bound, 1);
});

test('shows the arithmetic of a claim that cannot be, and flags the cell', () => {
  const findings = physicsGate({ decode_tokens_per_s: 70 }, llama4090);
  const [bandwidth] = findings;
  expect(bandwidth?.verdict).toBe('invalid: exceeds-bandwidth');
  expect(bandwidth?.arithmetic).toBe(
    '1 sequences × 1 × 1008000000000 B/s / (15009849344 B weights + 0 B cache) = 67.16 tokens/s at most; ' +
      'the claim needs 1051 GB/s; claimed 70 tokens/s',
  );
  expect(physicsFlags(findings)).toEqual([
    {
      code: 'beyond_physics',
      severity: 'flagged',
      text: expect.stringContaining('exceeds-bandwidth: 1 seq'),
    },
  ]);
  expect(physicsFlags(physicsGate({ decode_tokens_per_s: 65 }, llama4090))).toEqual([]);
});

test('shared leading tokens are read once for a batch', () => {
  const batch: PhysicsSetup = { ...llama4090, batch: 4, shortest_context: 4096, kv_type: 'fp16' };
  const alone = found({ decode_tokens_per_s: 1 }, batch)?.inputs['kv_bytes'];
  const shared = found({ decode_tokens_per_s: 1 }, { ...batch, shared_context: 4096 })?.inputs['kv_bytes'];
  expect([alone, shared]).toEqual([4 * 536_870_912, 536_870_912]);
});

describe('compute', () => {
  const prefill = { tokens: 2048, cached: 0 };
  const bf16: PhysicsSetup = { ...llamaH100, compute_types: ['bf16'], prefill };

  // biome-ignore format: a table is read in columns
  test.each<[why: string, setup: PhysicsSetup, first_token_s: number, outcome: string]>([
    ['as fast as the peak allows',            bf16,                                                   0.0301, 'possible'],
    ['faster',                                bf16,                                                   0.0299, 'impossible'],
    ['FP8 may be what it multiplied in',      { ...bf16, compute_types: ['bf16', 'fp8'] },            0.0299, 'possible'],
    ['a cached prefix costs nothing',         { ...bf16, prefill: { tokens: 2048, cached: 2047 } },   0.001,  'possible'],
    ['two devices',                           { ...bf16, devices: 2 },                                0.0151, 'possible'],
    ['nobody said what was cached',           { ...bf16, prefill: { tokens: 2048 } },                 0.001,  'not_checked'],
    ['a peak that the catalogue lacks',       { ...bf16, peak_flop_per_s: 2e15 },                     0.0151, 'possible'],
    ['no peak is published',                  { ...bf16, accelerator: device('apple-m4-max-40') },    0.001,  'not_checked'],
  ])('%s', (_why, setup, first_token_s, outcome) => {
    expect(found({ first_token_s }, setup, 'prefill')?.outcome).toBe(outcome);
  });

  test('bounds a prefill at 30.0 ms', () => {
    expect(found({ first_token_s: 1 }, bf16, 'prefill')?.bound).toBeCloseTo(0.030006, 6);
  });

  test('binds large batches too', () => {
    const setup: PhysicsSetup = { ...llamaH100, compute_types: ['bf16'], batch: 4096 };
    const finding = found({ decode_tokens_per_s: 70_000 }, setup, 'compute');
    expect(finding?.verdict).toBe('invalid: exceeds-compute');
    expect(finding?.bound).toBeCloseTo(9.894e14 / (2 * (6_979_321_856 + 525_336_576) + 524_288), 3);
  });

  // biome-ignore format: a table is read in columns
  test.each<[id: string, types: readonly ('bf16' | 'fp16' | 'fp8')[] | undefined, peak: unknown, why: string]>([
    ['nvidia-rtx-4090',   undefined,          { flop_per_s: 660.6e12, type: 'fp8 with fp16 accumulate' }, 'the fastest of all'],
    ['nvidia-rtx-4090',   ['fp16'],           { flop_per_s: 330.3e12, type: 'fp16 with fp16 accumulate' }, 'GeForce adds in FP16'],
    ['intel-arc-b580',    undefined,          { flop_per_s: 233e12, type: 'int8' },                     'BF16 is wider, so no matter'],
    ['intel-arc-b580',    ['bf16', 'fp16'],   'peak_flop_per_s.bf16 unknown',                           'BF16 may be faster than FP16'],
    ['sambanova-sn40l',   undefined,          'peak_flop_per_s.fp4 unknown',                            'narrower types are unpublished'],
    ['sambanova-sn40l',   ['bf16'],           { flop_per_s: 638e12, type: 'bf16' },                     'unless they are ruled out'],
    ['apple-m4-max-40',   undefined,          'peak_flop_per_s.int8 unknown',                           'nothing is published'],
    ['nvidia-a100-sxm-80', ['fp8'],           'no type to compute in',                                  'it has no FP8'],
  ])('%s with %j', (id, types, peak, _why) => {
    const accelerator = device(id);
    if (accelerator === null) throw new Error(id);
    expect(fastestPeak(accelerator, types)).toEqual(peak);
  });
});

describe('power', () => {
  const h100: PhysicsSetup = { ...llamaH100, same_boundary: true };
  const orin: PhysicsSetup = { ...h100, accelerator: device('nvidia-jetson-agx-orin-64') };

  // biome-ignore format: a table is read in columns
  test.each<[why: string, watts: number, setup: PhysicsSetup, window_s: number | null, outcome: string]>([
    ['at the limit',                      700,  h100,                                                        60,   'possible'],
    ['within 5 %',                        734,  h100,                                                        60,   'possible'],
    ['beyond',                            736,  h100,                                                        60,   'impossible'],
    ['the limit in force is lower',       400,  { ...h100, power_limit_w: 350 },                             60,   'impossible'],
    ['two devices',                       1400, { ...h100, devices: 2 },                                     60,   'possible'],
    ['too short for the limit to settle', 900,  h100,                                                        0.2,  'not_checked'],
    ['window unknown',                    900,  h100,                                                        null, 'not_checked'],
    ['a wall meter sees more',            900,  { ...h100, same_boundary: false },                           60,   'not_checked'],
    ['a limit that its maker set',        100,  orin,                                                        60,   'not_checked'],
    ['and which is known',                100,  { ...orin, power_limit_w: 60 },                              60,   'impossible'],
    ['parts of that name reach 600 W',    590,  { ...h100, accelerator: device('nvidia-rtx-4090') },         60,   'possible'],
    ['no limit is published',             900,  { ...h100, accelerator: device('sambanova-sn40l') },         60,   'not_checked'],
  ])('%s', (_why, mean_power_w, setup, window_s, outcome) => {
    expect(found({ mean_power_w, window_s }, setup, 'power')?.outcome).toBe(outcome);
  });

  // biome-ignore format: a table is read in columns
  test.each<[why: string, energy_hi_j: number, idle_lo_w: number | null, outcome: string]>([
    ['more than idle',            1000, 50,   'possible'],
    ['within 5 % of idle',        480,  50,   'possible'],
    ['less than doing nothing',   400,  50,   'impossible'],
    ['idle power unknown',        400,  null, 'not_checked'],
  ])('%s over 10 s', (_why, energy_hi_j, idle_lo_w, outcome) => {
    expect(found({ energy_hi_j, window_s: 10 }, { ...h100, idle_lo_w }, 'idle')?.outcome).toBe(outcome);
  });
});

// biome-ignore format: a table is read in columns
test.each<[setup: PhysicsSetup, verdict: string]>([
  [{ ...llama4090, model: null },                                     'not checked: model unknown'],
  [{ ...llama4090, accelerator: null },                               'not checked: accelerator unknown'],
  [{ ...llama4090, weights: null },                                   'not checked: weights unknown'],
  [{ ...llama4090, model: model('smollm2-135m-instruct') },           'not checked: 269030016 bytes of weights may stay in on-chip memory'],
  [{ ...llamaH100, model: model('smollm2-135m-instruct') },           'not checked: 269030016 bytes of weights may stay in on-chip memory of unknown size'],
])('is silent about what it does not know, and says so: %#', (setup, verdict) => {
  const finding = found({ decode_tokens_per_s: 1e9 }, setup);
  expect(finding).toMatchObject({ outcome: 'not_checked', verdict, bound: null });
});

test('judges only what is claimed, and no claim that is no number', () => {
  expect(physicsGate({}, llama4090)).toEqual([]);
  expect(physicsGate({ mean_power_w: null }, llama4090)).toEqual([]);
  expect(found({ decode_tokens_per_s: Number.NaN }, llama4090)?.outcome).toBe('not_checked');
  expect(found({ decode_tokens_per_s: 1 }, { ...llama4090, batch: 0 })?.outcome).toBe('not_checked');
});

propTest.prop([
  fc.constantFrom(...catalogue.models),
  fc.constantFrom(...catalogue.accelerators),
  fc.constantFrom(4.25, 4.5, 8, 16),
  fc.record({
    batch: fc.integer({ min: 1, max: 64 }),
    devices: fc.integer({ min: 1, max: 8 }),
    shortest_context: fc.integer({ min: 0, max: 8192 }),
    efficiency: fc.double({ min: 0.01, max: 1, noNaN: true }),
  }),
])(
  'a system that reads every weight and cache at some share of the bandwidth is never refused',
  (m, a, bits, run) => {
    const weights = ((m.params_active ?? 0) * bits) / 8;
    const cache = run.batch * (kvBytes(m.shape, run.shortest_context) ?? 0);
    const bandwidth = (a.memory_bandwidth_bytes_per_s ?? 0) * run.devices;
    const rate = (run.efficiency * run.batch * bandwidth) / (weights + cache);
    const setup: PhysicsSetup = { model: m, accelerator: a, weights: { bits }, ...run };
    expect(found({ decode_tokens_per_s: rate }, setup)?.outcome).not.toBe('impossible');
  },
);
