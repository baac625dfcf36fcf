import { createRng, type Rng, seedFrom } from '@perwatt/core';
import { integer, pick, several } from '../../random.js';
import { brands, type GoodsKind, goodsKinds } from './goods.js';
import { type SearchIndex, searchIndex } from './search-index.js';

/** Something for sale. */
export interface Product {
  readonly id: string;
  readonly title: string;
  readonly query: string;
  readonly category: readonly string[];
  readonly nouns: readonly string[];
  readonly price_cents: number;
  readonly attributes: readonly string[];
  readonly options: Readonly<Record<string, readonly string[]>>;
  readonly features: readonly string[];
  readonly description: string;
  readonly reviews: readonly string[];
}

/** All that a shop sells, with what finds it. */
export interface Assortment {
  readonly products: readonly Product[];
  readonly byId: ReadonlyMap<string, Product>;
  readonly index: SearchIndex;
}

const KEPT = 8;
const kept = new Map<string, Assortment>();

/** The assortment of a seed; the same seed and size give the same goods. The last few are kept, as episodes share them. */
export function assortmentOf(seed: number, size: number): Assortment {
  const name = `${seed} ${size}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const products = productsOf(seed, size);
  const made = {
    products,
    byId: new Map(products.map((product) => [product.id, product])),
    index: searchIndex(
      products.map(({ title, attributes, description }) => [title, ...attributes, description].join(' ')),
    ),
  };
  const [oldest] = kept.keys();
  if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(name, made);
  return made;
}

function productsOf(seed: number, size: number): Product[] {
  const products = new Map<string, Product>();
  const titles = new Set<string>();
  for (let i = 0; products.size < size; i++) {
    const rng = createRng(seedFrom(seed, 'shop', 'product', i));
    const product = drawProduct(rng, goodsKinds[i % goodsKinds.length] ?? pick(rng, goodsKinds));
    if (titles.has(product.title) || products.has(product.id)) continue;
    titles.add(product.title);
    products.set(product.id, product);
  }
  return [...products.values()];
}

const CODE = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZ';

function drawProduct(rng: Rng, kind: GoodsKind): Product {
  const id = `B0${Array.from({ length: 8 }, () => pick(rng, [...CODE])).join('')}`;
  const attributes = several(rng, kind.attributes, integer(rng, 3, 5));
  const [first = '', second = '', ...others] = attributes;
  const brand = pick(rng, brands);
  const model = integer(rng, 100, 999);
  const [from, to] = kind.dollars;
  const noun = pick(rng, kind.nouns);
  return {
    id,
    title: `${brand} ${model} ${kind.query}, ${first}, ${second}`,
    query: kind.query,
    category: kind.category,
    nouns: kind.nouns,
    price_cents: integer(rng, from * 100, to * 100),
    attributes,
    options: Object.fromEntries(
      Object.entries(kind.options).map(([name, values]) => [
        name,
        several(rng, values, Math.min(values.length, integer(rng, 2, 5))).sort(),
      ]),
    ),
    features: attributes.map((attribute) => `This ${noun} is made with one thing in mind: ${attribute}.`),
    description: `The ${brand} ${model} is ${withArticle(noun)} for every day${others.length === 0 ? '' : `, with ${others.join(' and ')}`}.`,
    reviews: Array.from(
      { length: integer(rng, 0, 3) },
      () => `${integer(rng, 1, 5)} of 5: ${pick(rng, verdicts)}`,
    ),
  };
}

const verdicts = [
  'as described',
  'better than the last one',
  'arrived late',
  'would buy again',
  'not for me',
] as const;

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Cents as dollars: `24.90`. */
export const dollars = (cents: number): string =>
  `${Math.floor(cents / 100)}.${`${cents % 100}`.padStart(2, '0')}`;
