import { expect, test } from 'vitest';
import { manualClock } from './clocks.js';
import { scriptedPowerSource, testDomain } from './power-scripted-source.js';
import { powerSourceContract } from './power-source-contract.js';
import { steadyPowerSource } from './power-steady-source.js';

const reading = (i: number) => [
  {
    at_ns: BigInt(i + 1) * 1_000_000n,
    booked_energy_j: i,
    raw: BigInt(i),
    ...(i === 0 && { event: 'first' as const }),
  },
];

powerSourceContract('scripted', () => ({
  source: scriptedPowerSource({
    domains: [testDomain({ id: 'a' })],
    readings: Array.from({ length: 200 }, (_, i) => reading(i)),
  }),
  advance: () => {},
}));

powerSourceContract('steady', () => {
  const clock = manualClock(5n);
  return {
    source: steadyPowerSource({
      clock,
      domains: ['a', 'b'].map((id) => testDomain({ id, source: 'steady' })),
      watts: () => 7,
    }),
    advance: () => clock.advance(1_500_000),
  };
});

test('a steady source books power times time', () => {
  const clock = manualClock();
  const source = steadyPowerSource({
    clock,
    domains: [testDomain({ id: 'a' })],
    watts: (_, elapsed) => (elapsed <= 1e9 ? 10 : 20),
    band: [0.5, 2],
  });
  const recorder = source.start({ period_ns: 250_000_000 });
  clock.advance(2e9);
  const { at_ns, booked_energy_j, booked_lo_j, booked_hi_j } = recorder.drain();
  expect(at_ns).toHaveLength(9);
  expect([booked_lo_j.at(-1), booked_energy_j.at(-1), booked_hi_j.at(-1)]).toEqual([15, 30, 60]);
});

test('a script may end in a failure', () => {
  const source = scriptedPowerSource({
    domains: [testDomain({ id: 'a' })],
    readings: [reading(0)],
    failure: 'unplugged',
  });
  const recorder = source.start();
  recorder.mark();
  recorder.stop();
  expect(recorder.status()).toMatchObject({ state: 'failed', reason: 'unplugged', reads: 1 });
});
