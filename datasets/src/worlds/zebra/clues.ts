/** Kinds of clues about one or two values. */
export const clueKinds = [
  'same',
  'not-at',
  'at',
  'directly-left',
  'left',
  'right',
  'next',
  'one-between',
  'two-between',
] as const;
export type ClueKind = (typeof clueKinds)[number];

/** A value: which attribute, and which of its values, both counted from 0. */
export type Cell = readonly [attribute: number, value: number];

/** A clue. `at` and `not-at` name a house, counted from 0; the others a second value. */
export type Clue =
  | { readonly kind: 'at' | 'not-at'; readonly a: Cell; readonly house: number }
  | { readonly kind: Exclude<ClueKind, 'at' | 'not-at'>; readonly a: Cell; readonly b: Cell };

/** How many houses `a` is left of `b`, as each kind allows it. */
const distances: Readonly<Record<Exclude<ClueKind, 'at' | 'not-at'>, (distance: number) => boolean>> = {
  same: (d) => d === 0,
  'directly-left': (d) => d === 1,
  left: (d) => d > 0,
  right: (d) => d < 0,
  next: (d) => Math.abs(d) === 1,
  'one-between': (d) => Math.abs(d) === 2,
  'two-between': (d) => Math.abs(d) === 3,
};

/** Whether a clue of two values allows these houses for them. */
export const allows = (kind: Exclude<ClueKind, 'at' | 'not-at'>, houseA: number, houseB: number): boolean =>
  distances[kind](houseB - houseA);

/** Whether a clue is true of a solution: houses by attribute and value. */
export function isTrue(clue: Clue, houses: readonly (readonly number[])[]): boolean {
  const houseOf = ([attribute, value]: Cell) => houses[attribute]?.[value] ?? -1;
  if ('house' in clue) return (houseOf(clue.a) === clue.house) === (clue.kind === 'at');
  return allows(clue.kind, houseOf(clue.a), houseOf(clue.b));
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];

/** A clue in words. */
export function clueWords(clue: Clue, phraseOf: (cell: Cell) => string): string {
  const a = phraseOf(clue.a);
  const sentence = wordsOf(clue, a, phraseOf);
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function wordsOf(clue: Clue, a: string, phraseOf: (cell: Cell) => string): string {
  if ('house' in clue)
    return `${a} ${clue.kind === 'at' ? 'lives' : 'does not live'} in the ${ordinals[clue.house]} house`;
  const b = phraseOf(clue.b);
  switch (clue.kind) {
    case 'same':
      return `${a} and ${b} are the same person`;
    case 'directly-left':
      return `${a} lives directly left of ${b}`;
    case 'left':
      return `${a} lives somewhere to the left of ${b}`;
    case 'right':
      return `${a} lives somewhere to the right of ${b}`;
    case 'next':
      return `${a} and ${b} live next to each other`;
    case 'one-between':
      return `there is one house between ${a} and ${b}`;
    case 'two-between':
      return `there are two houses between ${a} and ${b}`;
  }
}
