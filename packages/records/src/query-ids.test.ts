import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { parseQueryId, queryId } from './query-ids.js';

// biome-ignore format: a table is read in columns
test.each<[string, string, number, string, string]>([
  ['c1', 'item-1',   0, 'c1/item-1/0',         'an ordinary id stays as it is'],
  ['c1', 'a:b+c@d',  2, 'c1/a:b+c@d/2',        'so do signs that separate nothing'],
  ['c1', 'a/b',      0, 'c1/a%2Fb/0',          'the separator is escaped'],
  ['c1', 'a%2Fb',    0, 'c1/a%252Fb/0',        'and so is what looks escaped'],
  ['c1', '../x',     0, 'c1/..%2Fx/0',         'no way up'],
  ['c1', 'a b\n',    0, 'c1/a%20b%0A/0',       'blanks separate call ids'],
  ['c1', '',         0, 'c1//0',               'an empty item is still one'],
  ['c1', 'größe',    0, 'c1/größe/0',          'letters are letters'],
])('%s, %j, %i is %j: %5$s', (cell, item, repeat, id) => {
  expect(queryId(cell, item, repeat)).toBe(id);
  expect(parseQueryId(id)).toEqual({ cell_id: cell, item_id: item, repeat });
});

describe('ids', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('/', '%', '%2F', '..', '\ud800'),
  );
  property.prop([text.filter((t) => t !== ''), text, fc.nat()], { seed: 3 })(
    'give their parts back, whatever those are',
    (cell_id, item_id, repeat) => {
      const id = queryId(cell_id, item_id, repeat);
      expect(parseQueryId(id)).toEqual({ cell_id, item_id, repeat });
      expect(id.split('/')).toHaveLength(3);
    },
  );
});

// biome-ignore format: a table is read in columns
test.each([
  ['c1/warmup/0.1',  'a warm-up call belongs to no query'],
  ['c1/item',        'no repeat'],
  ['c1/a/b/0',       'one part too many'],
  ['/a/0',           'no cell'],
  ['c1/a/01',        'not how a number is written'],
  ['c1/a/-1',        'no negative repeat'],
  ['c1/%zz/0',       'a broken escape'],
  ['',               'nothing'],
])('%j is no query id: %s', (id) => {
  expect(parseQueryId(id)).toBeNull();
});
