import { expect, test } from 'vitest';
import { sparkline } from './sparkline.js';

// biome-ignore format: a table is read in columns
test.each([
  [[1, 2, 3, 4, 5, 6, 7, 8],  8, '▁▂▃▄▅▆▇█', 'one step each'],
  [[100, 100, 100],           3, '███',      'steady is at its own height, not at zero'],
  [[90, 100],                 2, '▇█', 'bars start at 0, so 90 of 100 is high'],
  [[0, 0],                    2, '▁▁',       'nothing drawn'],
  [[1, null, 8],              3, '▁ █',      'a blank where nothing is known'],
  [[8, 1, 1, 8],              2, '▁█',       'the last ones only, scaled among themselves'],
  [[8],                       3, '  █',      'room at the left'],
  [[-5, 8],                   2, '▁█',       'below zero is as low as it goes'],
  [[Number.NaN, 8],           2, ' █',       'not a number is not known'],
  [[],                        2, '  ',       'no value yet'],
  [[1, 2],                    0, '',         'no room'],
])('%j in %i is "%s": %s', (values, width, line) => {
  expect(sparkline(values, width)).toBe(line);
});
