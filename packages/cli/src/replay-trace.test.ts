import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Arrivals } from '@perwatt/core';
import { loadTrace } from '@perwatt/datasets';
import type { LoadRowArrays } from '@perwatt/harness';
import { describe, expect, test } from 'vitest';
import { arrivalsOf } from './replay-arrivals.js';
import { rowsOfTrace } from './replay-trace.js';
import { parseSlo, sloLimits } from './slo-flags.js';
import { parseSteady } from './steady-flag.js';

const shared = process.env['PERWATT_SHARED'] ?? '../shared';
const root = resolve(fileURLToPath(new URL('../../..', import.meta.url)), shared, 'data/traces');
const there = existsSync(root);
if (!there) process.stderr.write(`replays of published traces are not checked: ${root} does not exist\n`);

const sum = (values: Uint32Array) => values.reduce((total, value) => total + value, 0);

// biome-ignore format: a table is read in columns
const facts = [
  // file, rows, span ns, input tokens, output tokens, blocks, why
  ['AzureLLMInferenceTrace_code.csv',        8819,   3_435_948_056_000, 18_059_974, 245_896,   0,       'no newline at the end, 7 digits of a second'],
  ['AzureLLMInferenceTrace_conv.csv',        19_366, 3_501_721_937_000, 22_361_870, 4_088_665, 0,       'another of the same'],
  ['mooncake_conversation_trace.head.jsonl', 5980,   1_866_000_000_000, 76_504_042, 2_074_183, 152_254, 'ticks of three seconds, many calls in each'],
  ['mooncake_synthetic_trace.jsonl',         3993,   1_022_025_000_000, 61_194_628, 595_432,   121_877, 'shared prefixes'],
] as const;

describe.skipIf(!there)('published traces', () => {
  test.each(facts)(
    '%s is replayed whole, at its times and at ten times its speed',
    async (file, rows, span, input, output, blocks) => {
      const table = await loadTrace(file, { root, zeroOutput: 'replay-as-1' });
      const calls = (speed: number): Promise<LoadRowArrays> =>
        rowsOfTrace(table, {
          arrivals: Arrivals.parse({ kind: 'trace', path: file, speed }),
          seed: 1,
          input_tokens: null,
          output_tokens: null,
        });
      const real = await calls(1);
      expect(real.row).toHaveLength(rows);
      expect([sum(real.input_tokens), sum(real.output_tokens)]).toEqual([input, output]);
      expect(real.due_ns.at(-1)).toBe(span);
      expect(real.blocks?.ids.length ?? 0).toBe(blocks);
      const fast = await calls(10);
      expect(fast.due_ns.at(-1)).toBe(span / 10);
      for (let i = 0; i < rows; i += 97) expect(fast.due_ns[i]).toBe(Math.round((real.due_ns[i] ?? 0) / 10));
    },
  );
});

// biome-ignore format: a table is read in columns
test.each([
  { flags: {},                                             want: { kind: 'trace', path: 't', speed: 1, from_s: 0 },                   why: 'the times of the trace' },
  { flags: { speed: 2, from: '1m', to: '2m' },             want: { kind: 'trace', path: 't', speed: 2, from_s: 60, to_s: 120 },       why: 'a part of it, faster' },
  { flags: { rate: 5 },                                    want: { kind: 'poisson', rate_per_s: 5 },                                  why: 'a rate alone is Poisson' },
  { flags: { rate: 5, shape: 'constant' },                 want: { kind: 'constant', rate_per_s: 5 },                                 why: 'named' },
  { flags: { rate: 5, shape: 'gamma', smoothness: 0.5 },   want: { kind: 'gamma', rate_per_s: 5, smoothness: 0.5 },                   why: 'bursts' },
  { flags: { rate: 5, shape: 'ramp', ramp: '10s' },        want: { kind: 'ramp', from_per_s: 0, to_per_s: 5, duration_s: 10, curve: 'linear', process: 'poisson', smoothness: 1 }, why: 'a ramp from nothing' },
  { flags: { rate: 8, shape: 'ramp', ramp: '10s', rampFrom: 1, rampCurve: 'exponential' }, want: { kind: 'ramp', from_per_s: 1, to_per_s: 8, duration_s: 10, curve: 'exponential', process: 'poisson', smoothness: 1 }, why: 'a ramp that doubles in equal times' },
  { flags: { steps: '2/30s, 0/5s,8/1m' },                  want: { kind: 'steps', stages: [{ rate_per_s: 2, duration_s: 30 }, { rate_per_s: 0, duration_s: 5 }, { rate_per_s: 8, duration_s: 60 }], process: 'poisson', smoothness: 1 }, why: 'steps with a pause' },
  { flags: { shape: 'offline' },                           want: { kind: 'offline' },                                                 why: 'all at once' },
  { flags: { shape: 'closed', concurrency: 4 },            want: null,                                                                why: 'closed' },
  { flags: { shape: 'single-stream' },                     want: null,                                                                why: 'one after another' },
] as const)('flags say when calls are due: $why', ({ flags, want }) => {
  expect(arrivalsOf(flags, 't')).toEqual(want);
});

// biome-ignore format: a table is read in columns
test.each([
  { flags: { rate: 5, speed: 2 },                          says: '--speed means nothing with --shape poisson' },
  { flags: { shape: 'offline', rampFrom: 1 },              says: '--ramp-from means nothing with --shape offline' },
  { flags: { shape: 'gamma', rate: 5 },                    says: '--shape gamma needs --smoothness' },
  { flags: { shape: 'ramp', rate: 5 },                     says: '--shape ramp needs --ramp' },
  { flags: { shape: 'steps' },                             says: '--shape steps needs --steps' },
  { flags: { steps: '2:30s' },                             says: '--steps 2:30s is not rate/time' },
  { flags: { steps: '-1/3s' },                             says: '--steps -1/3s is not rate/time' },
  { flags: { steps: '2/3s', rate: 2 },                     says: '--rate means nothing with --shape steps' },
  { flags: { shape: 'ramp', rate: 5, ramp: '5s', rampCurve: 'exponential' }, says: '--ramp-curve exponential needs --ramp-from above 0' },
  { flags: { shape: 'single-stream', concurrency: 2 },     says: '--shape single-stream has one call in flight, not 2' },
] as const)('flags that do not go together are refused: $says', ({ flags, says }) => {
  expect(() => arrivalsOf(flags, 't')).toThrow(says);
});

// biome-ignore format: a table is read in columns
test.each([
  { text: 'plateau=0.9',      want: { rule: 'plateau', ratio: 0.9 },                                      why: 'near the most calls in flight' },
  { text: 'batch_full=32',    want: { rule: 'batch_full', batch: 32 },                                    why: 'while a batch is full' },
  { text: 'trim=10%',         want: { rule: 'trim', start: { fraction: 0.1 }, end: { fraction: 0.1 } },   why: 'the same at both ends' },
  { text: 'trim=30s, 5calls', want: { rule: 'trim', start: { seconds: 30 }, end: { calls: 5 } },          why: 'another amount at the end' },
])('a steady rule $text: $why', ({ text, want }) => {
  expect(parseSteady(text)).toEqual(want);
});

test.each(['plateau', 'plateau=2', 'plateau=x', 'batch_full=0', 'trim=200%', 'middle=1', 'plateau=0.5=1'])(
  '--steady %s is refused',
  (text) => {
    expect(() => parseSteady(text)).toThrow(`--steady ${text} is no rule of a steady window`);
  },
);

test('limits are written with units', () => {
  expect(parseSlo('ttft=500ms, tpot=50ms,e2e=2s')).toEqual({
    ttft_any: 5e8,
    tpot: 5e7,
    e2e_from_schedule: 2e9,
  });
  expect(sloLimits(parseSlo('ttft=500ms,e2e=2s'))).toEqual({ ttft_any_s: 0.5, e2e_from_schedule_s: 2 });
  expect(() => parseSlo('ttft')).toThrow('--slo ttft is not name=time');
  expect(() => parseSlo('ttft=5')).toThrow('"5" is not a duration');
});
