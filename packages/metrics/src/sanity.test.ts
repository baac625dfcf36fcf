import { expect, test } from 'vitest';
import { crossCheck, holdsPackages } from './sanity.js';

// biome-ignore format: a table is read in columns
test.each<[counter: number, gauge: number, ratio: number | null, agrees: boolean, why: string]>([
  [187, 327, 1.749, false, 'idle, where the two were seen far apart'],
  [100, 110, 1.1,   true,  'the highest that agrees'],
  [100, 90,  0.9,   true,  'the lowest that agrees'],
  [100, 111, 1.11,  false, 'just above'],
  [100, 89,  0.89,  false, 'just below'],
  [0,   20,  null,  false, 'a counter that stood still while power was drawn'],
  [0,   0,   null,  true,  'nothing drawn, by either'],
])('a counter of %d J beside an integral of %d J: ratio %s, agrees %s: %s', (counter, gauge, ratio, agrees) => {
  const check = crossCheck(counter, gauge);
  expect(check.agrees).toBe(agrees);
  if (ratio === null) expect(check.ratio).toBeNull();
  else expect(check.ratio).toBeCloseTo(ratio, 3);
});

// biome-ignore format: a table is read in columns
test.each<[system: number, packages: number, holds: boolean, why: string]>([
  [9.61,  3.78, true,  'the platform draws more than its package'],
  [0.006, 99,   false, 'a meter that is wired to nothing'],
  [90,    100,  true,  'a tenth less: meters differ'],
  [89.9,  100,  false, 'more than a tenth less'],
  [0,     0,    true,  'nothing drawn'],
])('a platform of %d J beside packages of %d J can be believed: %s (%s)', (system, packages, holds) => {
  expect(holdsPackages(system, packages)).toBe(holds);
});
