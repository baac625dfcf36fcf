import type { Condition } from '@perwatt/core';
import { expect, test } from 'vitest';
import { conditionText, holds } from './conditions.js';

const subject = {
  point: { model: 'm1', load: 'c8', variant: undefined },
  entries: { model: { id: 'm1', path: 'x' }, load: { concurrency: 8 }, variant: null },
};

// biome-ignore format: a table is read in columns
test.each<[condition: Condition, holds: boolean, text: string, why: string]>([
  [{},                                        true,  '',                                     'nothing is asked'],
  [{ model: 'm1' },                           true,  'model is m1',                          'a value'],
  [{ model: ['m0', 'm1'] },                   true,  'model is m0 or m1',                    'one of several'],
  [{ model: { not: 'm1' } },                  false, 'model is not m1',                      'another value'],
  [{ model: { not: ['a', 'b'] } },            true,  'model is not a or b',                  'none of several'],
  [{ 'load.concurrency': { gt: 8 } },         false, 'load.concurrency > 8',                 'the edge is outside'],
  [{ 'load.concurrency': { ge: 8, lt: 9 } },  true,  'load.concurrency < 9 and ≥ 8',         'a range'],
  [{ 'load.concurrency': { le: 7 } },         false, 'load.concurrency ≤ 7',                 'above'],
  [{ 'load.concurrency': 8 },                 true,  'load.concurrency is 8',                'a number'],
  [{ 'load.cap': { gt: 0 } },                 false, 'load.cap > 0',                         'a setting not given is no number'],
  [{ 'model.path': { set: true } },           true,  'model.path is given',                  'given'],
  [{ 'model.endpoint': { set: false } },      true,  'model.endpoint is not given',          'not given'],
  [{ 'variant.max_tokens': { not: 3 } },      true,  'variant.max_tokens is not 3',          'no variant at all'],
  [{ 'model.constructor': { set: true } },    false, 'model.constructor is given',           'only own members'],
  [{ model: 'm1', load: 'c1' },               false, 'model is m1 and load is c1',           'all must hold'],
])('%j: %s, in words "%s"', (condition, expected, text) => {
  expect(holds(condition, subject)).toBe(expected);
  expect(conditionText(condition)).toBe(text);
});
