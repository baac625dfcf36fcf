import { expect, test } from 'vitest';
import { closest, didYouMean } from './closest.js';

const known = ['numeric', 'choice', 'exact'];

// biome-ignore format: a table is read in columns
test.each<[name: string, nearest: string | null, why: string]>([
  ['numeric',  'numeric', 'a known name is its own nearest'],
  ['Numerci',  'numeric', 'two letters swapped, and case'],
  ['exat',     'exact',   'a letter missing'],
  ['xeact',    'exact',   'a swap counts once'],
  ['xecat',    null,      'two edits in five letters are too many'],
  ['judge',    null,      'nothing is near'],
  ['',         null,      'an empty name is near nothing'],
])('the nearest to %j is %j: %s', (name, nearest) => {
  expect(closest(name, known)).toBe(nearest);
});

test('a message suggests what is near, else lists what is known', () => {
  expect(didYouMean('choise', known)).toBe('; did you mean "choice"?');
  expect(didYouMean('judge', known)).toBe('; known are numeric, choice, exact');
  expect(closest('x', [])).toBeNull();
});
