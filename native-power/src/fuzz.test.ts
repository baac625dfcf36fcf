import { expect, test } from 'vitest';
import { fuzz, fuzzTargets } from './fuzz.fixture.js';

const inputs = Number(process.env['PERWATT_FUZZ_INPUTS'] ?? 150_000);
const seed = Number(process.env['PERWATT_FUZZ_SEED'] ?? 20_261_129);

test('every reader takes its own seeds', () => {
  for (const { name, seeds, read } of fuzzTargets) {
    for (const text of seeds) expect(() => read(text), name).not.toThrow();
  }
});

test(`${inputs} damaged inputs: nothing is thrown but our own errors`, { timeout: 600_000 }, () => {
  const { refused, slowest_ms } = fuzz(inputs, seed);
  process.stderr.write(`fuzz: ${inputs} inputs, ${refused} refused, slowest ${slowest_ms.toFixed(1)} ms\n`);
  expect(refused).toBeGreaterThan(inputs / 20);
  expect(refused).toBeLessThan(inputs / 2);
});
