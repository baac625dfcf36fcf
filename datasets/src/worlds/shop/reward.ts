import { colourNames } from './goods.js';
import type { Product } from './products.js';
import { tokenSetRatio } from './token-set-ratio.js';

/** What is to be bought. */
export interface Goal {
  /** A product that fulfils it; others may too. */
  readonly product: Product;
  readonly attributes: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly price_upper_cents: number;
}

/** What was bought. */
export interface Purchase {
  readonly product: Product;
  readonly options: Readonly<Record<string, string>>;
}

const ALIKE = 85;

/**
 * WebShop's reward, 0…1: hits among attributes, options and price over their number, times how far the product is of the kind
 * that was wanted. WebShop finds nouns of titles with a tagger; here products carry theirs.
 */
export function shopReward(goal: Goal, { product, options }: Purchase): number {
  const attributes = goal.attributes.filter((wanted) => hasAttribute(product, wanted)).length;
  const chosen = Object.values(options);
  const wantedOptions = Object.values(goal.options);
  const hits = wantedOptions.filter((wanted) => chosen.some((value) => isSameOption(wanted, value))).length;
  const price = product.price_cents <= goal.price_upper_cents ? 1 : 0;
  const share = (attributes + hits + price) / (goal.attributes.length + wantedOptions.length + 1);
  return share * kindFactor(goal.product, product);
}

function hasAttribute(product: Product, wanted: string): boolean {
  const text = [product.title, ...product.features, product.description].join('\n').toLowerCase();
  return (
    product.attributes.some((has) => tokenSetRatio(wanted, has) > ALIKE) ||
    text.includes(wanted.toLowerCase())
  );
}

/** Options are alike by their first colour names, or as texts where one has none. */
export const isSameOption = (wanted: string, value: string): boolean =>
  tokenSetRatio(colourIn(wanted) ?? wanted, colourIn(value) ?? value) > ALIKE;

const colourIn = (text: string): string | null =>
  text
    .toLowerCase()
    .split(/[^a-z]+/)
    .find((word) => colourNames.includes(word)) ?? null;

/** How far a product is of the kind of another: 1, 0.5, 0.1 or 0. */
export function kindFactor(wanted: Product, product: Product): number {
  const shared = wanted.nouns.filter((noun) => product.nouns.includes(noun)).length;
  const overlap = wanted.nouns.length === 0 ? 0.2 : shared / wanted.nouns.length;
  if (overlap === 0) return 0;
  if (overlap < 0.1) return 0.1;
  const categories = new Set(wanted.category.filter((name) => product.category.includes(name))).size;
  return wanted.query === product.query || categories >= 2 || overlap > 0.2 ? 1 : 0.5;
}
