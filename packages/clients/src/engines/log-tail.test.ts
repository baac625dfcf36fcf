import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './fake-engine.fixture.js';
import { logTail } from './log-tail.js';

// biome-ignore format: a table is read in columns
test.each([
  ['', null, 'empty'],
  ['one\ntwo\n', 'one\ntwo', 'as it is'],
  ['\u001b[32mINFO\u001b[0m ready\u0007\n', 'INFO ready', 'colours and bells'],
  ['load  1 %\rload 50 %\rload 100 %\nnext', 'load 100 %\nnext', 'a bar that draws over itself'],
  ['one\r\n\r\ntwo\r\n', 'one\ntwo', 'lines of Windows, empty ones left out'],
  [Array.from({ length: 50 }, (_, i) => `line ${i}`).join('\n'), Array.from({ length: 20 }, (_, i) => `line ${i + 30}`).join('\n'), 'the last twenty'],
  ['x'.repeat(100_000), 'x'.repeat(2000), 'a line without an end'],
])('the end of a log: %#', (text, tail, _why) => {
  const path = join(temporaryFolder(), 'a.log');
  writeFileSync(path, text);
  expect(logTail(path)).toBe(tail);
});

test('a log that is not there has no end', () => {
  expect(logTail(join(temporaryFolder(), 'none.log'))).toBeNull();
});
