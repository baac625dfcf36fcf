import type { World } from '@perwatt/core';
import { episodeOf, type Rules, type Turn } from '../episode.js';
import { type DataReader, MAX_STEPS, worldData } from '../world-data.js';
import { linksAt, PER_PAGE, type Place, pageText, SEARCH } from './pages.js';
import { type Assortment, assortmentOf, dollars } from './products.js';
import { type Goal, shopReward } from './reward.js';

export const SHOP_VERSION = 1;

const skills = [
  'Search with the kind of product and the words of what it should have; short searches find more.',
  'Look at the price in the results before you open a product, and pass over what is too dear.',
  'What a product has stands in its title and on its pages Attributes, Features and Description; check what the title does not say.',
  'Choose every option asked for by clicking its value before you buy; the value clicked last counts.',
  'Where no product has it all, buy the one that has most of it: nothing bought is worth nothing.',
]
  .map((line) => `- ${line}`)
  .join('\n');

/** Rules and task, as an actor is told them at first. */
export const shopOpening = (goal: Goal): string =>
  `You are in a web shop. You act by one of these, one at a time:
- search[words], on the search page
- click[label], for any label shown in brackets: a product by its number, an option, a page, Buy Now
You buy one product, with the options chosen last; buying ends the task.

Your task: ${instruction(goal)}

${pageText(SEARCH, NOTHING)}`;

const NOTHING: Assortment = { products: [], byId: new Map(), index: { find: () => [] } };

function instruction({ product, attributes, options, price_upper_cents }: Goal): string {
  const chosen = Object.entries(options).map(([name, value]) => `${name} ${value}`);
  const wanted = [
    ...(attributes.length === 0 ? [] : [`It should have this: ${attributes.join(', ')}.`]),
    ...(chosen.length === 0 ? [] : [`Choose ${chosen.join(' and ')}.`]),
  ];
  return [
    `buy this: ${product.query}.`,
    ...wanted,
    `It may cost ${dollars(price_upper_cents)} dollars at most.`,
  ].join(' ');
}

/** A web shop with WebShop's actions and reward. It is won by a purchase whose reward is 1. */
export const shopWorld: World = {
  id: 'shop',
  version: SHOP_VERSION,
  open(item) {
    const { goal, assortment, max_steps } = taskOf(worldData(item, 'shop', SHOP_VERSION));
    return episodeOf(rulesOf(goal, assortment), {
      state: SEARCH,
      opening: shopOpening(goal),
      max_steps,
      skills,
    });
  },
  solve(item) {
    const { goal, assortment } = taskOf(worldData(item, 'shop', SHOP_VERSION));
    return shopPlan(goal, assortment);
  },
};

/** Searches for the goal's product by its title, pages to it, chooses the options and buys; null when search doesn't find it. */
export function shopPlan({ product, options }: Goal, { index, products }: Assortment): string[] | null {
  const words = product.title
    .replaceAll(/[^\w ]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const rank = index.find(words).findIndex((number) => products[number]?.id === product.id);
  if (rank === -1) return null;
  return [
    `search[${words}]`,
    ...Array.from({ length: Math.floor(rank / PER_PAGE) }, () => 'click[Next >]'),
    `click[${product.id}]`,
    ...Object.values(options).map((value) => `click[${value}]`),
    'click[Buy Now]',
  ];
}

function rulesOf(goal: Goal, assortment: Assortment): Rules<Place> {
  const reward = (place: Place) => (place.page === 'bought' ? shopReward(goal, place.purchase) : 0);
  return {
    take(place, action): Turn<Place> {
      const { verb = '', argument = '' } = ACTION.exec(action)?.groups ?? {};
      const next =
        verb.toLowerCase() === 'search' ? searched(place, argument) : clicked(place, argument, assortment);
      return next === null
        ? { state: place, observation: 'That can not be done here.', valid: false }
        : { state: next, observation: pageText(next, assortment), valid: true };
    },
    admissible: (place) =>
      place.page === 'search' ? null : linksAt(place, assortment).map(([label]) => `click[${label}]`),
    won: (place) => reward(place) === 1,
    lost: (place) => place.page === 'bought' && reward(place) < 1,
    reward,
  };
}

const ACTION = /^(?<verb>search|click)\s*\[(?<argument>.*)\]$/i;
const MAX_QUERY = 200;

function searched(place: Place, words: string): Place | null {
  const query = words.trim().slice(0, MAX_QUERY);
  return place.page === 'search' && query !== '' ? { page: 'results', query, number: 1 } : null;
}

function clicked(place: Place, label: string, assortment: Assortment): Place | null {
  const wanted = label.trim().toLowerCase();
  return linksAt(place, assortment).find(([each]) => each.toLowerCase() === wanted)?.[1] ?? null;
}

interface Task {
  readonly goal: Goal;
  readonly assortment: Assortment;
  readonly max_steps: number;
}

const MAX_PRODUCTS = 5000;

function taskOf(data: DataReader): Task {
  const stock = data.record('assortment');
  const seed = stock.whole('seed', { min: -(2 ** 31), max: 2 ** 32 });
  const assortment = assortmentOf(seed, stock.whole('products', { min: 1, max: MAX_PRODUCTS }));
  const wanted = data.record('goal');
  const product = assortment.byId.get(wanted.text('product'));
  if (product === undefined) throw data.fail(`the shop has no product "${wanted.text('product')}"`);
  const goal: Goal = {
    product,
    attributes: wanted.texts('attributes'),
    options: wanted.map('options'),
    price_upper_cents: wanted.whole('price_upper_cents', { min: 0, max: 10_000_000 }),
  };
  return { goal, assortment, max_steps: data.whole('max_steps', { min: 1, max: MAX_STEPS }) };
}
