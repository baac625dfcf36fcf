import { fc, test as property } from '@fast-check/vitest';
import { createRng } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { loadDataset } from '../../catalogue.js';
import { attributes, names } from './attributes.js';
import { type Clue, clueKinds, clueWords, isTrue } from './clues.js';
import { makePuzzle } from './make-puzzle.js';
import { type GridSize, solveZebra } from './solver.js';

type Houses = readonly (readonly number[])[];

function permutations(count: number): number[][] {
  if (count === 0) return [[]];
  return permutations(count - 1).flatMap((rest) =>
    Array.from({ length: count }, (_, place) => rest.toSpliced(place, 0, count - 1)),
  );
}

/** Every grid there is: nothing in common with the solver. */
function grids({ houses, attributes: count }: GridSize): Houses[] {
  const each = permutations(houses);
  let all: number[][][] = [[]];
  for (let i = 0; i < count; i++) all = all.flatMap((grid) => each.map((row) => [...grid, row]));
  return all;
}

const byForce = (size: GridSize, clues: readonly Clue[]) =>
  grids(size).filter((houses) => clues.every((clue) => isTrue(clue, houses)));

describe('a clue', () => {
  // One attribute in three houses: value 0 in house 1, value 1 in house 2, value 2 in house 0; a second the other way round.
  const houses: Houses = [
    [1, 2, 0],
    [0, 2, 1],
  ];
  // biome-ignore format: a table is read in columns
  test.each<readonly [clue: Clue, holds: boolean, words: string]>([
    [{ kind: 'at', a: [0, 0], house: 1 },                true,  'X lives in the second house.'],
    [{ kind: 'not-at', a: [0, 0], house: 1 },            false, 'X does not live in the second house.'],
    [{ kind: 'same', a: [0, 2], b: [1, 0] },             true,  'X and y are the same person.'],
    [{ kind: 'same', a: [0, 0], b: [1, 0] },             false, 'X and y are the same person.'],
    [{ kind: 'directly-left', a: [0, 2], b: [0, 0] },    true,  'X lives directly left of y.'],
    [{ kind: 'directly-left', a: [0, 0], b: [0, 2] },    false, 'X lives directly left of y.'],
    [{ kind: 'left', a: [0, 2], b: [0, 1] },             true,  'X lives somewhere to the left of y.'],
    [{ kind: 'right', a: [0, 1], b: [0, 2] },            true,  'X lives somewhere to the right of y.'],
    [{ kind: 'right', a: [0, 2], b: [0, 1] },            false, 'X lives somewhere to the right of y.'],
    [{ kind: 'next', a: [0, 0], b: [1, 0] },             true,  'X and y live next to each other.'],
    [{ kind: 'one-between', a: [0, 1], b: [0, 2] },      true,  'There is one house between X and y.'],
    [{ kind: 'two-between', a: [0, 1], b: [0, 2] },      false, 'There are two houses between X and y.'],
  ])('%j is %s and reads "%s"', (clue, holds, words) => {
    expect(isTrue(clue, houses)).toBe(holds);
    const first = 'b' in clue ? clue.a : null;
    expect(clueWords(clue, (cell) => (first === null || cell === first ? 'X' : 'y'))).toBe(words);
  });
});

describe('the solver', () => {
  const sizes: readonly GridSize[] = [
    { houses: 2, attributes: 2 },
    { houses: 2, attributes: 5 },
    { houses: 3, attributes: 3 },
    { houses: 4, attributes: 2 },
    { houses: 4, attributes: 3 },
    { houses: 5, attributes: 2 },
  ];

  property.prop([fc.integer(), fc.constantFrom(...sizes), fc.integer({ min: 0, max: 9 })], { numRuns: 60 })(
    'counts as many solutions as trying every grid does, for clues that hold, contradict or leave much open',
    (seed, size, count) => {
      const rng = createRng(seed);
      const integer = (below: number) => Math.floor(rng() * below);
      const cell = () => [integer(size.attributes), integer(size.houses)] as const;
      const clues = Array.from({ length: count }, (): Clue => {
        const kind = clueKinds[integer(clueKinds.length)]!;
        return kind === 'at' || kind === 'not-at'
          ? { kind, a: cell(), house: integer(size.houses) }
          : { kind, a: cell(), b: cell() };
      });
      const right = byForce(size, clues);
      const all = solveZebra(size, clues, { most: 1_000_000, max_nodes: 1_000_000 });
      expect(all).toMatchObject({ count: right.length, complete: true });
      expect(solveZebra(size, clues).count).toBe(Math.min(2, right.length));
      if (all.first !== null) expect(right).toContainEqual(all.first);
    },
  );

  test('a limit of nodes ends it and says so', () => {
    const size = { houses: 6, attributes: 6 };
    expect(solveZebra(size, [], { most: 1_000_000_000, max_nodes: 500 })).toMatchObject({
      nodes: 500,
      complete: false,
    });
  });
});

describe('puzzles', () => {
  property.prop([fc.integer(), fc.constantFrom('2*2', '2*6', '3*3', '4*3', '5*2')], { numRuns: 25 })(
    'have one solution by force, their own, and without any of their clues more than one',
    (seed, text) => {
      const [houses = 2, count = 2] = text.split('*').map(Number);
      const size = { houses, attributes: count };
      const puzzle = makePuzzle(createRng(seed), size)!;
      expect(byForce(size, puzzle.clues)).toEqual([puzzle.houses]);
      for (const clue of puzzle.clues)
        expect(
          byForce(
            size,
            puzzle.clues.filter((each) => each !== clue),
          ).length,
        ).toBeGreaterThan(1);
    },
  );

  property.prop([fc.integer(), fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 6 })], {
    numRuns: 20,
  })(
    'of every size come to an end with one solution and no clue too many, by full searches',
    (seed, houses, count) => {
      const size = { houses, attributes: count };
      const puzzle = makePuzzle(createRng(seed), size);
      if (puzzle === null) return;
      expect(solveZebra(size, puzzle.clues)).toMatchObject({
        count: 1,
        complete: true,
        first: puzzle.houses,
      });
      for (const clue of puzzle.clues)
        expect(
          solveZebra(
            size,
            puzzle.clues.filter((each) => each !== clue),
          ).count,
        ).toBe(2);
    },
  );

  test('kinds of clues come in their shares', () => {
    const rng = createRng(5);
    const clues = Array.from(
      { length: 25 },
      () => makePuzzle(rng, { houses: 5, attributes: 4 })!.clues,
    ).flat();
    const share = (kind: string) => clues.filter((clue) => clue.kind === kind).length / clues.length;
    expect(share('same')).toBeGreaterThan(0.3);
    expect(share('same')).toBeLessThan(0.6);
    for (const kind of clueKinds) expect(share(kind), kind).toBeGreaterThan(0);
  });

  test('no value stands for two things', () => {
    const all = [names, ...attributes].flatMap(({ values }) => values.map(([value]) => value));
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(60);
    const phrases = [names, ...attributes].flatMap(({ values }) => values.map(([, phrase]) => phrase));
    expect(new Set(phrases).size).toBe(60);
  });
});

describe('the data set', () => {
  const load = async (options: Record<string, unknown>, limit = 25) =>
    (await loadDataset({ kind: 'zebra', options, limit }, { root: '/', seed: 8 })).items;

  test('levels are sizes, and one size alone where it is asked for', async () => {
    const all = await Promise.all([1, 2, 3, 4].map((level) => load({ level })));
    const sizes = all.map((items) => [...new Set(items.map(({ subject }) => subject))].sort());
    expect(sizes.map((each) => each.length)).toEqual([8, 7, 5, 5]);
    expect((await load({ size: '4*5' }, 3)).map(({ subject }) => subject)).toEqual(['4*5', '4*5', '4*5']);
  });

  test('the grid told is the one its clues prove, values in other than their order there', async () => {
    for (const level of [1, 2, 3, 4])
      for (const { gold, data, prompt } of await load({ level }, 10)) {
        const { header, rows, values, clues } = data as unknown as {
          header: string[];
          rows: string[][];
          values: string[][];
          clues: Clue[];
        };
        const houses = values.map((list, a) =>
          list.map((value) => rows.findIndex((row) => row[a + 1] === value)),
        );
        const size = { houses: rows.length, attributes: values.length };
        expect(solveZebra(size, clues)).toMatchObject({ count: 1, complete: true, first: houses });
        expect(JSON.parse(gold)).toEqual({
          solution: Object.fromEntries(
            rows.map(([house, ...cells]) => [
              `House ${house}`,
              Object.fromEntries(cells.map((cell, i) => [header[i + 1], cell])),
            ]),
          ),
        });
        for (const list of values) expect(prompt).toContain(list.toSorted().join(', '));
      }
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [size: string]>([['7*2'], ['2'], ['2x2'], ['1*2'], ['22*2']])('size %j is an error', async (size) => {
    await expect(load({ size })).rejects.toThrow(`data set "zebra": option "size" is "${size}", not houses*attributes with numbers from 2 to 6`);
  });
});
