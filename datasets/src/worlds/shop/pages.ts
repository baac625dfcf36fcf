import { type Assortment, dollars, type Product } from './products.js';
import type { Purchase } from './reward.js';

/** Where an actor is in the shop. */
export type Place =
  | { readonly page: 'search' }
  | { readonly page: 'results'; readonly query: string; readonly number: number }
  | { readonly page: 'item'; readonly query: string; readonly number: number; readonly purchase: Purchase }
  | {
      readonly page: 'detail';
      readonly query: string;
      readonly number: number;
      readonly purchase: Purchase;
      readonly detail: Detail;
    }
  | { readonly page: 'bought'; readonly purchase: Purchase };

export const details = ['Description', 'Features', 'Reviews', 'Attributes'] as const;
export type Detail = (typeof details)[number];

export const PER_PAGE = 10;

export const SEARCH: Place = { page: 'search' };

const found = ({ index, products }: Assortment, query: string): Product[] =>
  index.find(query).flatMap((number) => products[number] ?? []);

const onPage = (
  assortment: Assortment,
  { query, number }: { readonly query: string; readonly number: number },
) => found(assortment, query).slice((number - 1) * PER_PAGE, number * PER_PAGE);

const pagesOf = (assortment: Assortment, query: string) =>
  Math.max(1, Math.ceil(found(assortment, query).length / PER_PAGE));

/** A label that can be clicked, and where it leads. */
export type Link = readonly [label: string, place: Place];

/** What can be clicked at a place, in the order it stands there. */
export function linksAt(place: Place, assortment: Assortment): Link[] {
  switch (place.page) {
    case 'search':
    case 'bought':
      return [];
    case 'results':
      return resultLinks(place, assortment);
    case 'item':
      return itemLinks(place);
    case 'detail':
      return [
        ['Back to Search', SEARCH],
        ['< Prev', { page: 'item', query: place.query, number: place.number, purchase: place.purchase }],
      ];
  }
}

function resultLinks(place: Place & { page: 'results' }, assortment: Assortment): Link[] {
  const { query, number } = place;
  return [
    ['Back to Search', SEARCH],
    ...(number < pagesOf(assortment, query) ? [['Next >', { ...place, number: number + 1 }] as const] : []),
    ...(number > 1 ? [['< Prev', { ...place, number: number - 1 }] as const] : []),
    ...onPage(assortment, place).map(
      (product): Link => [product.id, { page: 'item', query, number, purchase: { product, options: {} } }],
    ),
  ];
}

function itemLinks(place: Place & { page: 'item' }): Link[] {
  const { query, number, purchase } = place;
  const { product, options } = purchase;
  return [
    ['Back to Search', SEARCH],
    ['< Prev', { page: 'results', query, number }],
    ...details.map((detail): Link => [detail, { page: 'detail', query, number, purchase, detail }]),
    ...Object.entries(product.options).flatMap(([name, values]) =>
      values.map(
        (value): Link => [value, { ...place, purchase: { product, options: { ...options, [name]: value } } }],
      ),
    ),
    ['Buy Now', { page: 'bought', purchase }],
  ];
}

/** What a place shows. */
export function pageText(place: Place, assortment: Assortment): string {
  const links = linksAt(place, assortment);
  const clickable = links.map(([label]) => `[${label}]`).join(' ');
  switch (place.page) {
    case 'search':
      return 'You are at the search page. Search with search[words].';
    case 'bought':
      return `You bought ${place.purchase.product.id}.`;
    case 'results':
      return [
        `Results for "${place.query}", page ${place.number} of ${pagesOf(assortment, place.query)}:`,
        ...onPage(assortment, place).map(resultLine),
        clickable,
      ].join('\n');
    case 'item':
      return [...itemLines(place.purchase), clickable].join('\n');
    case 'detail':
      return [...detailLines(place.purchase.product, place.detail), clickable].join('\n');
  }
}

const resultLine = ({ id, title, price_cents }: Product) =>
  `${id}: ${title}, ${dollars(price_cents)} dollars`;

const itemLines = ({ product, options }: Purchase) => [
  resultLine(product),
  ...Object.entries(product.options).map(
    ([name, values]) =>
      `${name}: ${values.join(', ')}${options[name] === undefined ? '' : ` (chosen: ${options[name]})`}`,
  ),
];

function detailLines(product: Product, detail: Detail): readonly string[] {
  switch (detail) {
    case 'Description':
      return [product.description];
    case 'Features':
      return product.features;
    case 'Reviews':
      return product.reviews.length === 0 ? ['There are no reviews yet.'] : product.reviews;
    case 'Attributes':
      return [product.attributes.join(', ')];
  }
}
