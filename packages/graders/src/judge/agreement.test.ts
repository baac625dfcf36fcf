import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { agreementOf } from './agreement.js';

/** Pairs of a table of counts. */
const pairsOf = (table: readonly (readonly number[])[]) =>
  table.flatMap((row, i) =>
    row.flatMap((count, j) => Array.from({ length: count }, () => [`c${i}`, `c${j}`] as const)),
  );

// biome-ignore format: a table is read in columns
test.each<readonly [table: number[][], agreed: number, kappa: number | null, se: number | null, why: string]>([
  [[[20, 5], [10, 15]],                  35, 0.4,      0.126996, 'two categories'],
  [[[44, 5, 1], [7, 20, 3], [9, 5, 6]],  70, 0.491525, 0.072127, 'three categories'],
  [[[10, 0], [0, 10]],                   20, 1,        0,        'full agreement'],
  [[[0, 10], [10, 0]],                   0,  -1,       0,        'full contradiction'],
  [[[25, 25], [25, 25]],                 50, 0,        0.1,      'no more than chance'],
  [[[12]],                               12, null,     null,     'one category leaves no room'],
  [[],                                   0,  null,     null,     'nothing'],
])('%j agrees %i times with κ %d ± %d: %s', (table, agreed, kappa, se) => {
  const found = agreementOf(pairsOf(table));
  expect(found.agreed).toBe(agreed);
  if (kappa === null || se === null) expect([found.kappa, found.kappa_se]).toEqual([kappa, se]);
  else {
    expect(found.kappa).toBeCloseTo(kappa, 6);
    expect(found.kappa_se).toBeCloseTo(se, 6);
  }
});

const rating = fc.constantFrom('correct', 'incorrect', 'tie');
property.prop([fc.array(fc.tuple(rating, rating), { minLength: 1, maxLength: 60 })])(
  'κ is the same for either order of raters, and at most 1',
  (pairs) => {
    const [one, other] = [agreementOf(pairs), agreementOf(pairs.map(([a, b]) => [b, a] as const))];
    if (one.kappa === null || other.kappa === null) expect(one.kappa).toBe(other.kappa);
    else {
      expect(one.kappa).toBeCloseTo(other.kappa, 9);
      expect(one.kappa).toBeLessThanOrEqual(1 + 1e-12);
    }
  },
);
