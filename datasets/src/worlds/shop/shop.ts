import { integer, pick, several } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { type Assortment, assortmentOf, type Product } from './products.js';
import { type Goal, shopReward } from './reward.js';
import { SHOP_VERSION, shopOpening, shopPlan } from './shop-world.js';

interface Level extends GeneratedLevel {
  readonly products: number;
  readonly attributes: number;
  readonly options: number;
}

const levels: readonly Level[] = [
  { summary: '100 products, one attribute', answer_tokens: 256, products: 100, attributes: 1, options: 0 },
  {
    summary: '300 products, two attributes and an option',
    answer_tokens: 256,
    products: 300,
    attributes: 2,
    options: 1,
  },
  {
    summary: '1,000 products, three attributes and two options',
    answer_tokens: 256,
    products: 1000,
    attributes: 3,
    options: 2,
  },
];

const MAX_STEPS = 15;

/** Purchases in a generated web shop; the reward is WebShop's. */
export const shop = generatedSet<Level>({
  id: 'shop',
  version: 1,
  grader: 'environment',
  summary: 'generated web shop with the actions and the reward of WebShop: search, choose options, buy',
  levels,
  options: [
    { name: 'max_steps', summary: `steps after which an episode ends, 1 to 1000, default ${MAX_STEPS}` },
  ],
  prepare(size, options, { seed }) {
    const max_steps = options.whole('max_steps', { min: 1, max: 1000 }) ?? MAX_STEPS;
    const assortment = assortmentOf(seed, size.products);
    return (rng) => draw(assortment, { size, seed, max_steps, rng });
  },
});

interface Drawing {
  readonly size: Level;
  readonly seed: number;
  readonly max_steps: number;
  readonly rng: RngFor;
}

function draw(assortment: Assortment, { size, seed, max_steps, rng }: Drawing): Drawn | null {
  const random = rng('goal');
  const product = pick(random, assortment.products);
  const names = several(random, Object.keys(product.options), size.options);
  const goal: Goal = {
    product,
    attributes: several(random, product.attributes, size.attributes),
    options: Object.fromEntries(names.map((name) => [name, pick(random, product.options[name] ?? [''])])),
    price_upper_cents: upperPrice(product, [integer(random, 1, 4), integer(random, 1, 4)]),
  };
  const plan = shopPlan(goal, assortment);
  if (plan === null || plan.length > max_steps || shopReward(goal, { product, options: goal.options }) !== 1)
    return null;
  const opening = shopOpening(goal);
  return {
    prompt: `${opening}\n\nReply with your actions in the order you would take them, one a line and nothing else.`,
    gold: plan.join('\n'),
    subject: product.category[0] ?? 'shop',
    data: {
      kind: 'world',
      world: 'shop',
      world_version: SHOP_VERSION,
      assortment: { seed, products: size.products },
      goal: { ...goal, product: product.id },
      max_steps,
      shortest: plan.length,
    },
  };
}

const TEN_DOLLARS = 1000;

/** The larger of two of the next four multiples of 10 dollars above the price. */
const upperPrice = ({ price_cents }: Product, steps: readonly number[]): number =>
  (Math.floor(price_cents / TEN_DOLLARS) + Math.max(...steps)) * TEN_DOLLARS;
