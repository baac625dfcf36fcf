import { PerwattError, type Rng } from '@perwatt/core';
import { several } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { type Attribute, attributes, names } from './attributes.js';
import { type Cell, clueWords } from './clues.js';
import { makePuzzle, type Puzzle } from './make-puzzle.js';
import type { GridSize } from './solver.js';

interface Level extends GeneratedLevel {
  readonly sizes: readonly string[];
}

const LEAST = 2;
const MOST = 6;

/** ZebraLogic's groups by the number of possible grids, (houses!)^attributes. */
const levels: readonly Level[] = [
  {
    summary: 'under 10^3 grids, 2 or 3 houses mostly',
    answer_tokens: 1024,
    sizes: ['2*2', '2*3', '2*4', '2*5', '2*6', '3*2', '3*3', '4*2'],
  },
  { summary: 'under 10^6', answer_tokens: 2048, sizes: ['3*4', '3*5', '3*6', '4*3', '4*4', '5*2', '6*2'] },
  { summary: 'under 10^10', answer_tokens: 4096, sizes: ['4*5', '4*6', '5*3', '5*4', '6*3'] },
  {
    summary: 'more, up to 6 houses with 6 attributes',
    answer_tokens: 4096,
    sizes: ['5*5', '5*6', '6*4', '6*5', '6*6'],
  },
];

/** Zebra puzzles: rows of houses, clues, exactly one solution. */
export const zebra = generatedSet<Level>({
  id: 'zebra',
  version: 1,
  grader: 'puzzle_cells',
  summary: 'generated zebra puzzles of 25 sizes, each proved to have one solution and no clue too many',
  levels,
  options: [
    {
      name: 'size',
      summary: 'houses*attributes, each 2 to 6, for example "4*5"; default the sizes of the level, evenly',
    },
  ],
  prepare({ sizes }, options) {
    const only = options.text('size');
    if (only !== undefined) sizeOf(only);
    return (rng, attempt) => draw(only ?? sizes[attempt % sizes.length] ?? '3*3', rng);
  },
});

function sizeOf(text: string): GridSize {
  const { houses, attributes } = /^(?<houses>\d)\*(?<attributes>\d)$/.exec(text)?.groups ?? {};
  const size = { houses: Number(houses), attributes: Number(attributes) };
  if (Object.values(size).every((n) => n >= LEAST && n <= MOST)) return size;
  throw new PerwattError(
    'INPUT_INVALID',
    `data set "zebra": option "size" is "${text}", not houses*attributes with numbers from ${LEAST} to ${MOST}`,
  );
}

function draw(text: string, rng: RngFor): Drawn | null {
  const size = sizeOf(text);
  const puzzle = makePuzzle(rng('puzzle'), size);
  if (puzzle === null) return null;
  const used = chosen(rng('words'), size);
  const header = ['House', ...used.map(({ name }) => name)];
  const rows = Array.from({ length: size.houses }, (_, house) => [
    `${house + 1}`,
    ...used.map(({ values }, a) => values[puzzle.houses[a]?.indexOf(house) ?? -1]?.[0] ?? ''),
  ]);
  return {
    prompt: promptOf(used, puzzle, size),
    gold: JSON.stringify({ solution: gridOf(header, rows) }),
    subject: text,
    data: {
      kind: 'puzzle_cells',
      header,
      rows,
      values: used.map(({ values }) => values.map(([value]) => value)),
      clues: puzzle.clues,
      nodes: puzzle.nodes,
    },
    identity: [header, rows, puzzle.clues],
  };
}

/** Names and further attributes, each with as many values as there are houses. */
function chosen(rng: Rng, { houses, attributes: count }: GridSize): Attribute[] {
  return [names, ...several(rng, attributes, count - 1)].map(({ name, values }) => ({
    name,
    values: several(rng, values, houses),
  }));
}

function promptOf(used: readonly Attribute[], { clues }: Puzzle, { houses }: GridSize): string {
  const phraseOf = ([attribute, value]: Cell) => used[attribute]?.values[value]?.[1] ?? '';
  const lists = used.map(
    ({ name, values }) =>
      `- ${name}: ${values
        .map(([value]) => value)
        .sort()
        .join(', ')}`,
  );
  const header = ['House', ...used.map(({ name }) => name)];
  const blank = Array.from({ length: houses }, (_, house) => [`${house + 1}`, ...used.map(() => '___')]);
  return `There are ${houses} houses in a row, numbered 1 to ${houses} from left to right. One person lives in each, and they differ in all of these:
${lists.join('\n')}

Clues:
${clues.map((clue, i) => `${i + 1}. ${clueWords(clue, phraseOf)}`).join('\n')}

Solve the puzzle step by step. Finish with one JSON object of this form, with every ___ filled in:
${JSON.stringify({ solution: gridOf(header, blank) }, null, 4)}`;
}

const gridOf = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
): Record<string, Record<string, string>> =>
  Object.fromEntries(
    rows.map(([house = '', ...cells]) => [
      `House ${house}`,
      Object.fromEntries(cells.map((cell, i) => [header[i + 1] ?? '', cell])),
    ]),
  );
