import { expect, test } from 'vitest';
import { parseDuration } from './duration.js';

// biome-ignore format: a table is read in columns
test.each<[text: string, ms: number]>([
  ['500ms', 500], ['30s', 30_000], ['1.5s', 1500], ['10 s', 10_000], ['5m', 300_000], ['5min', 300_000], ['2h', 7_200_000], ['0s', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '30', 's', '-1s', '1e3s', '.5s', '5 weeks', '1s2s'])('"%s" is no duration', (text) => {
  expect(() => parseDuration(text)).toThrow(`"${text}" is not a duration`);
});
