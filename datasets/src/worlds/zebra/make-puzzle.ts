import type { Rng } from '@perwatt/core';
import { shuffled } from '../../random.js';
import { type Cell, type Clue, type ClueKind, clueKinds, isTrue } from './clues.js';
import { type GridSize, type SolveResult, solveZebra } from './solver.js';

/** A puzzle with exactly one solution, none of whose clues can be left out. */
export interface Puzzle {
  readonly clues: readonly Clue[];
  /** Houses by attribute and value. */
  readonly houses: readonly (readonly number[])[];
  /** Places at which the solver has to try: a measure of difficulty. */
  readonly nodes: number;
}

/** Shares of kinds among clues, of 100: those of published grid puzzles. */
const shares: Readonly<Record<ClueKind, number>> = {
  same: 42,
  'not-at': 12,
  at: 11,
  'directly-left': 10,
  left: 8,
  right: 7,
  next: 5,
  'one-between': 3,
  'two-between': 2,
};

const MAX_NODES = 20_000;

/**
 * A puzzle of a size. True clues are drawn until only one solution is left, then dropped one by one as long as that stays so;
 * both are proved by full searches. Null when a search would take too long.
 */
export function makePuzzle(rng: Rng, size: GridSize): Puzzle | null {
  const houses = Array.from({ length: size.attributes }, () =>
    shuffled(
      rng,
      Array.from({ length: size.houses }, (_, house) => house),
    ),
  );
  const solved = (clues: readonly Clue[]) => solveZebra(size, clues, { max_nodes: MAX_NODES });
  const deck = drawClues(rng, size, houses);
  const enough = fewestFirst(deck, (clues) => isProved(solved(clues)));
  if (enough === null) return null;
  let clues = enough;
  for (const clue of shuffled(rng, enough)) {
    const without = clues.filter((each) => each !== clue);
    const result = solved(without);
    if (!result.complete) return null;
    if (isProved(result)) clues = without;
  }
  return { clues: shuffled(rng, clues), houses, nodes: solved(clues).nodes };
}

const isProved = ({ complete, count }: SolveResult) => complete && count === 1;

/** The shortest beginning of a deck that is enough, by halving; null when the whole isn't. More clues are never less. */
function fewestFirst(
  deck: readonly Clue[],
  isEnough: (clues: readonly Clue[]) => boolean,
): readonly Clue[] | null {
  if (!isEnough(deck)) return null;
  let [low, high] = [0, deck.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(deck.slice(0, middle))) high = middle;
    else low = middle + 1;
  }
  return deck.slice(0, high);
}

/** Every true clue once, kinds in their shares as long as there are clues of them. */
function drawClues(rng: Rng, size: GridSize, houses: readonly (readonly number[])[]): Clue[] {
  const all = allClues(size).filter((clue) => isTrue(clue, houses));
  const piles = new Map(
    clueKinds.map((kind) => [
      kind,
      shuffled(
        rng,
        all.filter((clue) => clue.kind === kind),
      ),
    ]),
  );
  const deck: Clue[] = [];
  while (deck.length < all.length) {
    const clue = piles.get(kindAt(rng() * 100))?.pop();
    if (clue !== undefined) deck.push(clue);
    else deck.push(...lastOf(piles, deck.length, all.length));
  }
  return deck;
}

/** Once most is drawn, what is left of all kinds, so that drawing ends. */
const lastOf = (piles: ReadonlyMap<ClueKind, Clue[]>, drawn: number, all: number): Clue[] =>
  drawn * 2 < all ? [] : [...piles.values()].flatMap((pile) => pile.splice(0));

function kindAt(place: number): ClueKind {
  let left = place;
  for (const kind of clueKinds) {
    left -= shares[kind];
    if (left < 0) return kind;
  }
  return 'same';
}

/** Every clue there could be. Same-house clues are of different attributes; symmetric ones stand once. */
function allClues({ houses, attributes }: GridSize): Clue[] {
  const cells = Array.from(
    { length: attributes * houses },
    (_, i): Cell => [Math.floor(i / houses), i % houses],
  );
  const single = cells.flatMap((a) =>
    Array.from({ length: houses }, (_, house) => house).flatMap((house): Clue[] => [
      { kind: 'at', a, house },
      { kind: 'not-at', a, house },
    ]),
  );
  const double = cells.flatMap((a, i) =>
    cells.flatMap((b, j): Clue[] => {
      if (i === j) return [];
      const ordered = (['directly-left', 'left', 'right'] as const).map((kind): Clue => ({ kind, a, b }));
      const either = (['next', 'one-between', 'two-between'] as const).map((kind): Clue => ({ kind, a, b }));
      return [
        ...ordered,
        ...(i < j ? either : []),
        ...(i < j && a[0] !== b[0] ? [{ kind: 'same', a, b } as const] : []),
      ];
    }),
  );
  return [...single, ...double];
}
