import { expect, test } from 'vitest';
import { csvField } from './results-csv.js';

// biome-ignore format: a table is read in columns
test.each<[value: string | number | boolean | null, field: string, why: string]>([
  [null,             '',                'missing is empty'],
  [0,                '0',               'a number'],
  [-1.5,             '-1.5',            'a number below 0 is no formula'],
  [true,             'true',            'a truth value'],
  ['plain',          'plain',           'text'],
  ['a,b',            '"a,b"',           'the separator is quoted'],
  ['say "hi"',       '"say ""hi"""',    'quotes are doubled'],
  ['two\nlines',     '"two\nlines"',    'line ends are quoted'],
  ['=SUM(A1:A9)',    "'=SUM(A1:A9)",    'a formula'],
  ['+1',             "'+1",             'text that begins like one'],
  ['-2+3',           "'-2+3",           'text that begins like one'],
  ['@cmd',           "'@cmd",           'text that begins like one'],
  ['\t=1',           "'\t=1",           'a blank before it'],
  ['=a,"b"',         '"\'=a,""b"""',    'both at once'],
])('%j becomes %j: %s', (value, field) => {
  expect(csvField(value)).toBe(field);
});
