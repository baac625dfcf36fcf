import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { worldOf } from '../worlds.js';
import { colourNames, goodsKinds } from './goods.js';
import { assortmentOf, dollars, type Product } from './products.js';
import { type Goal, isSameOption, kindFactor, shopReward } from './reward.js';
import { searchIndex } from './search-index.js';
import { shopWorld } from './shop-world.js';
import { tokenSetRatio } from './token-set-ratio.js';

describe('likeness of texts as sets of words', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [a: string, b: string, ratio: number, why: string]>([
    ['noise cancelling', 'Noise-Cancelling headphones', 100, 'one holds the other'],
    ['easy clean',       'easy to clean',               100, 'words between'],
    ['machine wash',     'machine washable',            86,  'an ending'],
    ['dark blue',        'navy blue',                   67,  'one word of two'],
    ['high resolution',  'high definition',             67,  'one word of two'],
    ['gluten free',      'sugar free',                  57,  'one word of two'],
    ['',                 'red',                         0,   'no words'],
    ['red',              'red',                         100, 'the same'],
    ['abc',              'xyz',                         0,   'nothing shared'],
  ])('%j and %j: %i (%s)', (a, b, ratio) => {
    expect([tokenSetRatio(a, b), tokenSetRatio(b, a)]).toEqual([ratio, ratio]);
  });
});

const kettle: Product = {
  id: 'B000000001',
  title: 'Marlow 100 electric kettle, cordless base',
  query: 'electric kettle',
  category: ['home', 'kitchen', 'kettles'],
  nouns: ['kettle'],
  price_cents: 2499,
  attributes: ['cordless base', 'auto shutoff'],
  options: { color: ['navy blue', 'red'], capacity: ['1 liter', '1.7 liter'] },
  features: ['It is easy to clean.'],
  description: 'A kettle that boils fast.',
  reviews: [],
};

const goal: Goal = {
  product: kettle,
  attributes: ['auto shutoff', 'cordless base'],
  options: { color: 'navy blue', capacity: '1 liter' },
  price_upper_cents: 3000,
};

describe('the reward', () => {
  const all = { color: 'navy blue', capacity: '1 liter' };
  // biome-ignore format: a table is read in columns
  test.each<readonly [change: Partial<Product>, options: Record<string, string>, reward: number, why: string]>([
    [{},                                            all,                      1,         'what was wanted'],
    [{},                                            { color: 'navy blue' },   4 / 5,     'an option is missing'],
    [{},                                            { color: 'blue', capacity: '1 liter' }, 4 / 5, 'the first colour counts: navy is no blue'],
    [{},                                            { color: 'dark navy', capacity: '1 liter' }, 1, 'the same first colour'],
    [{},                                            { color: '1 liter', capacity: 'navy blue' }, 1, 'whichever option it is'],
    [{ price_cents: 3000 },                         all,                      1,         'the price itself is within'],
    [{ price_cents: 3001 },                         all,                      4 / 5,     'too dear'],
    [{ attributes: [] },                            all,                      4 / 5,     'one attribute is in the title still'],
    [{ attributes: ['auto shutoff timer'] },        all,                      1,         'likeness and title'],
    [{ attributes: [], title: 'kettle' },           all,                      3 / 5,     'no attribute'],
    [{ query: 'kettle' },                           all,                      1,         'three shared categories'],
    [{ query: 'teapot', category: ['home'], nouns: ['kettle'] }, all,         1,         'the same noun'],
    [{ query: 'teapot', category: ['home', 'kitchen', 'pots'], nouns: ['pot'] }, all, 0, 'no noun shared'],
  ])('%j with %j: %f (%s)', (change, options, reward) => {
    expect(shopReward(goal, { product: { ...kettle, ...change }, options })).toBeCloseTo(reward, 12);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [wanted: Partial<Product>, got: Partial<Product>, factor: number, why: string]>([
    [{ nouns: ['a', 'b', 'c', 'd', 'e'] }, { nouns: ['a'], query: 'x', category: ['home'] },            0.5, 'a fifth of the nouns, one category'],
    [{ nouns: ['a', 'b', 'c', 'd', 'e'] }, { nouns: ['a'], query: 'x' },                                1,   'a fifth of the nouns, three categories'],
    [{ nouns: ['a', 'b', 'c', 'd', 'e'] }, { nouns: ['a', 'b'], query: 'x', category: ['home'] },       1,   'more than a fifth'],
    [{ nouns: [...'abcdefghijk'] },        { nouns: ['a'] },                                            0.1, 'under a tenth, whatever the query'],
    [{ nouns: [] },                        { nouns: [], query: 'x', category: [] },                     0.5, 'a title without nouns counts as a fifth'],
    [{ nouns: ['a'] },                     { nouns: ['b'] },                                            0,   'nothing shared'],
  ])('of kind %j for %j: %f (%s)', (wanted, got, factor) => {
    expect(kindFactor({ ...kettle, ...wanted }, { ...kettle, ...got })).toBe(factor);
  });
});

describe('the search', () => {
  test('rare words weigh more than common ones, short texts more than long ones, and ties keep their order', () => {
    const index = searchIndex([
      'red mug',
      'red pan',
      'red pan with a very long name',
      'blue pan',
      'blue pan',
    ]);
    expect(index.find('red mug')[0]).toBe(0);
    expect(index.find('red pan')[0]).toBe(1);
    expect(index.find('long red pan')[0]).toBe(2);
    expect(index.find('blue')).toEqual([3, 4]);
    expect(index.find('green')).toEqual([]);
    expect(index.find('')).toEqual([]);
  });

  test('of every thousand goods all have a title and a number of their own, and a search for the title finds each', () => {
    const { products, index } = assortmentOf(3, 1000);
    expect(new Set(products.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(products.map(({ title }) => title)).size).toBe(1000);
    const missed = products.filter(({ title, id }) => products[index.find(title)[0]!]?.id !== id);
    expect(missed.map(({ title }) => title)).toEqual([]);
  });

  test('words of kinds, options and colours are as the reward reads them', () => {
    for (const { options, attributes } of goodsKinds) {
      const values = Object.values(options).flat();
      const alike = values.flatMap((a, i) => values.slice(i + 1).filter((b) => isSameOption(a, b)));
      expect(alike, 'options that the reward takes for one another').toEqual([]);
      expect(attributes.length).toBeGreaterThanOrEqual(5);
      for (const colour of options['color'] ?? [])
        expect(
          colourNames.some((name) => colour.split(' ').includes(name)),
          colour,
        ).toBe(true);
    }
    expect([dollars(5), dollars(100), dollars(2490)]).toEqual(['0.05', '1.00', '24.90']);
  });
});

describe('pages', async () => {
  const { items } = await loadDataset(
    { kind: 'shop', options: { level: 2 }, limit: 5 },
    { root: '/', seed: 4 },
  );
  const item = items[0]!;
  const open = () => shopWorld.open(item);

  test('results have pages of ten, and a product its pages of detail', () => {
    const episode = open();
    expect(episode.admissible()).toBeNull();
    const results = episode.act('search[non slip]').observation;
    expect(results).toMatch(
      /^Results for "non slip", page 1 of \d+:\n(?:B0\w{8}: .*\n){10}\[Back to Search\] \[Next >\] \[B0/,
    );
    expect(episode.act('click[next >]').observation).toContain('page 2 of');
    const [, , , product] = episode.admissible()!;
    expect(episode.act(product!).observation).toContain('[Buy Now]');
    expect(episode.act('click[Features]').observation).toContain('made with one thing in mind');
    expect(episode.act('click[< Prev]').observation).toContain('[Buy Now]');
    expect(episode.act('click[< Prev]').observation).toContain('page 2 of');
    expect(episode.act('click[Back to Search]').observation).toContain('search page');
    expect(episode.admissible()).toBeNull();
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [action: string, why: string]>([
    ['click[Buy Now]',   'nothing is chosen'],
    ['search[]',         'nothing is asked for'],
    ['buy it',           'no action'],
    ['click[]',          'no label'],
  ])('%j on the search page is not possible: %s', (action) => {
    expect(open().act(action)).toEqual({ observation: 'That can not be done here.', valid: false, done: false });
  });

  test('searching is for the search page only', () => {
    const episode = open();
    episode.act('search[mug]');
    expect(episode.act('search[mug]').valid).toBe(false);
  });

  test('buying something else ends the episode unwon, with the reward it deserves', () => {
    const { assortment, goal: wanted } = item.data as unknown as {
      assortment: { seed: number; products: number };
      goal: { product: string };
    };
    const { products, byId } = assortmentOf(assortment.seed, assortment.products);
    const other = products.find(
      ({ nouns }) => !byId.get(wanted.product)!.nouns.some((noun) => nouns.includes(noun)),
    )!;
    const episode = open();
    episode.act(`search[${other.title}]`);
    episode.act(`click[${other.id}]`);
    expect(episode.act('click[Buy Now]').done).toBe(true);
    expect([episode.won(), episode.reward()]).toEqual([false, 0]);
  });

  test('the options chosen last count', () => {
    for (const each of items) {
      const plan = worldOf(each)!.solve(each)!;
      const { goal: wanted, assortment } = each.data as unknown as {
        goal: { product: string; options: Record<string, string> };
        assortment: { seed: number; products: number };
      };
      const product = assortmentOf(assortment.seed, assortment.products).byId.get(wanted.product)!;
      const [[name, value]] = Object.entries(wanted.options) as [[string, string]];
      const another = product.options[name]!.find((v) => v !== value);
      if (another === undefined) continue;
      const episode = shopWorld.open(each);
      for (const action of plan.slice(0, -1)) episode.act(action);
      episode.act(`click[${another}]`);
      episode.act('click[Buy Now]');
      expect([episode.won(), episode.reward()]).toEqual([false, 3 / 4]);
    }
  });

  test('an unknown product is refused', () => {
    const data = { ...item.data, goal: { product: 'B0', attributes: [], options: {}, price_upper_cents: 1 } };
    expect(() => shopWorld.open({ id: 'test', data })).toThrow('item "test": the shop has no product "B0"');
  });
});
