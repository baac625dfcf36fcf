import type { Contribution } from './product-figure.js';

/** Fewest groups of consecutive items that may stand for items where energy is allocated. */
export const TIME_BLOCKS = 20;

/**
 * Contributions with items made into blocks of consecutive ones, in the order they are given for their first repeat: where
 * energy is shared out, a single item's part depends on its neighbours, a block's hardly does. Every repeat has the
 * same items in a block. Null below `count` (20) items, for then there are no blocks.
 */
export function blocks(contributions: readonly Contribution[], count = TIME_BLOCKS): Contribution[] | null {
  const first = contributions.reduce(
    (least, { repeat }) => Math.min(least, repeat),
    Number.POSITIVE_INFINITY,
  );
  const inFirst = contributions.filter(({ repeat }) => repeat === first);
  const order = [...new Set([...inFirst, ...contributions].map(({ item }) => item))];
  if (order.length < count) return null;
  const blockOf = new Map(order.map((item, i) => [item, Math.floor((i * count) / order.length)]));
  return contributions.map((part) => ({ ...part, item: `block ${blockOf.get(part.item) ?? 0}` }));
}
