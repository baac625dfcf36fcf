import { fc, test as property } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { createStopScanner } from './stop-scanner.js';

function scan(pieces: readonly string[], stops: readonly string[]): { told: string[]; stopped: boolean } {
  const scanner = createStopScanner(stops);
  const told = pieces.map((piece) => scanner.push(piece));
  return { told: [...told, scanner.end()], stopped: scanner.stopped };
}

// biome-ignore format: a table is read in columns
test.each<[string[], string[], string[], boolean, string]>([
  [['ab', 'cd'],        [],            ['ab', 'cd', ''],      false, 'without stop texts everything passes at once'],
  [['ab', 'STOP', 'x'], ['STOP'],      ['ab', '', '', ''],    true,  'nothing passes from the stop text on'],
  [['abS', 'TO', 'Px'], ['STOP'],      ['ab', '', '', ''],    true,  'a stop text over three pieces'],
  [['abST', 'ay'],      ['STOP'],      ['ab', 'STay', ''],    false, 'a beginning that turns out to be none is told later'],
  [['abST'],            ['STOP'],      ['ab', 'ST'],          false, 'a beginning at the end is told at the end'],
  [['xbay'],            ['a', 'b'],    ['x', ''],             true,  'the first of several counts'],
  [['abc'],             ['', 'c'],     ['ab', ''],            true,  'an empty stop text is none'],
  [['aab', 'c'],        ['aabc'],      ['', '', ''],          true,  'the longest beginning is held back'],
])('%j with stops %j tells %j, stopped %s: %s', (pieces, stops, told, stopped) => {
  expect(scan(pieces, stops)).toEqual({ told, stopped });
});

const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });

property.prop([fc.array(letters, { maxLength: 12 }), fc.array(letters, { minLength: 1, maxLength: 3 })])(
  'what is told is the whole text up to the first stop text, however it is cut into pieces',
  (pieces, stops) => {
    const text = pieces.join('');
    const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    const { told, stopped } = scan(pieces, stops);
    expect(stopped).toBe(ends.length > 0);
    expect(told.join('')).toBe(ends.length > 0 ? text.slice(0, Math.min(...ends)) : text);
  },
);
