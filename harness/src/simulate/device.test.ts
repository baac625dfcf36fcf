import type { SimulatedAccelerator, SimulatedModel } from '@perwatt/core';
import { describe, expect, test, vi } from 'vitest';
import { createDevice } from './device.js';
import { deviceLaw } from './laws.js';
import { virtualTime } from './virtual-time.js';

/** 2 ms a prompt token and 1 ms a sequence in a step of 10 ms more. */
const model: SimulatedModel = { active_b: 1, weight_gb: 9, skill: 0, verbosity: 1 };
const accelerator: SimulatedAccelerator = {
  tflops: 2,
  gb_per_s: 1000,
  step_ms: 1,
  batch: 2,
  idle_w: 10,
  prefill_w: 100,
  decode_w: 50,
  decode_w_per_sequence: 5,
};

function deviceWithModel() {
  const time = virtualTime();
  const device = createDevice({ time, idle_w: 10, loaded_w: 20, batch: accelerator.batch });
  let [joules, watts, since] = [0, device.signal.now(), 0n];
  const book = (at: bigint) => {
    joules += (device.signal.now() * Number(at - since)) / 1e9;
    since = at;
  };
  device.signal.onChange(book);
  device.load(deviceLaw(model, accelerator));
  watts = device.signal.now();
  const run = (prompt_tokens: number, output_tokens: number) =>
    new Promise<{ first_ms: number; end_ms: number }>((resolve) => {
      let first_ms = 0;
      const now = () => Number(time.clock.now()) / 1e6;
      device.submit({
        prompt_tokens,
        output_tokens,
        onFirst: () => {
          first_ms = now();
        },
        onEnd: () => resolve({ first_ms, end_ms: now() }),
      });
    });
  const energy = () => {
    book(time.clock.now());
    return joules;
  };
  return { device, run, energy, loaded_w: watts };
}

describe('a device', () => {
  test('one call: prefill, then a step for each further token, and the energy of both', async () => {
    const { run, energy, device, loaded_w } = deviceWithModel();
    expect(loaded_w).toBe(20);
    const { first_ms, end_ms } = await run(100, 5);
    expect(first_ms).toBeCloseTo(100, 3);
    expect(end_ms).toBeCloseTo(100 + 4 * 11, 3);
    expect(energy()).toBeCloseTo(0.1 * 100 + 0.044 * 50, 6);
    expect(device.signal.now()).toBe(20);
  });

  test('two calls: the second prompt stops decoding, then both are decoded in one step', async () => {
    const { run, energy } = deviceWithModel();
    const [a, b] = await Promise.all([run(10, 3), run(10, 3)]);
    expect(a.first_ms).toBeCloseTo(10, 3);
    expect(b.first_ms).toBeCloseTo(20, 3);
    expect(a.end_ms).toBeCloseTo(20 + 2 * 12, 3);
    expect(b.end_ms).toBeCloseTo(20 + 2 * 12, 3);
    expect(energy()).toBeCloseTo(0.02 * 100 + 0.024 * 55, 6);
  });

  test('no more sequences than its batch at a time', async () => {
    const { run } = deviceWithModel();
    const calls = await Promise.all([run(10, 2), run(10, 2), run(10, 2)]);
    expect(calls[2].first_ms).toBeGreaterThan(Math.min(calls[0].end_ms, calls[1].end_ms));
  });

  test('noise of a run scales active power and all times', async () => {
    const { device, run, energy } = deviceWithModel();
    device.beginRun({ power: 2, pace: 0.5 });
    const { end_ms } = await run(100, 5);
    expect(end_ms).toBeCloseTo(0.5 * 144, 3);
    expect(energy()).toBeCloseTo(0.05 * 200 + 0.022 * 100, 6);
  });

  test('without a model it computes nothing and is idle', () => {
    const { device } = deviceWithModel();
    device.load(null);
    expect(device.signal.now()).toBe(10);
    const job = { prompt_tokens: 1, output_tokens: 2, onFirst: vi.fn(), onEnd: vi.fn() };
    expect(() => device.submit(job)).toThrow('without a model');
  });
});
