import { expect, test } from 'vitest';
import { textTable } from './text-table.js';

const texts = (...names: string[]) => names.map((name) => ({ name, right: false }));

// biome-ignore format: a table is read in columns
test.each<[cell: string, shown: string, why: string]>([
  ['a\nb\tc',              'a b c',     'lines and tabs'],
  ['a\u001b[31mb',         'a [31mb',   'a colour of the terminal'],
  ['a\u0000\u0007\u009bb',  'a b',       'control characters of either range'],
  ['a\u202egnp.exe\u2066b', 'a gnp.exe b', 'text that runs the other way'],
  ['مرحبا',                 'مرحبا',     'letters that do so by themselves'],
])('%j is shown as %j: %s', (cell, shown) => {
  expect(textTable(texts('x'), [[cell]], 80).at(-1)).toBe(shown);
  expect(textTable(texts(cell), [], 80)[0]).toBe(shown);
});

test('what does not fit becomes a block', () => {
  const lines = textTable(texts('first', 'second', 'third'), [['a', 'b\u001b', 'c']], 16);
  expect(lines.slice(1)).toEqual(['first   a', 'second  b ', 'third   c']);
});
