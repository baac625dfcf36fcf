import type { GradeInput, Grader } from '@perwatt/core';
import { isTexts, textLists } from './data-fields.js';
import { decide, decideOfficial, type Found } from './decide.js';
import { checkPolicies } from './policy.js';
import { foldName, type ReadGrid, readGrid, readGridOfficially } from './puzzle-read.js';

/**
 * Grades the grid of a zebra puzzle cell by cell. The score is the share of right cells; `correct` only when all are. Needs the
 * item's `data` of kind `puzzle_cells`: `header`, the house first, and `rows`; without it a grade is `unscored`. Case,
 * blanks, articles and the attribute's own name behind a value don't count; two different values for one cell are wrong.
 * Official mode takes JSON with `solution` only and compares lower-cased cells as they are.
 */
export const puzzleCells: Grader = {
  id: 'puzzle_cells',
  version: 1,
  grade(input) {
    checkPolicies(input.policy);
    const solution = solutionOf(input.data);
    const judge = {
      goldProblem:
        solution === null ? 'the item says nothing of a grid (`data` with header and rows of texts)' : null,
    };
    if (input.mode === 'official') {
      return decideOfficial<ReadGrid>(input, {
        ...judge,
        find: (text) => foundOf(readGridOfficially(text)),
        compare: (grid) => compare(grid, solution ?? NONE, officialCell),
      });
    }
    return decide<ReadGrid>(input, {
      ...judge,
      find: (text) => foundOf(readGrid(text)),
      firstAnswerEnd: () => null,
      compare: (grid) => compare(grid, solution ?? NONE, robustCell),
    });
  },
  extract(text) {
    const grid = readGrid(text);
    if (grid === null) return null;
    const rows = [...grid.cells].map(([house, row]): [string, unknown] => [
      house,
      [...row].map(([name, values]) => [name, values.map((v) => foldValue(v, name))]).sort(byFirst),
    ]);
    return JSON.stringify(rows.sort(byFirst));
  },
  same: (a, b) => a === b,
};

const byFirst = ([a]: readonly unknown[], [b]: readonly unknown[]) => (`${a}` < `${b}` ? -1 : 1);

interface Solution {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const NONE: Solution = { header: [], rows: [] };

function solutionOf(data: GradeInput['data']): Solution | null {
  const [header, rows] = [data?.['header'], textLists(data?.['rows'])];
  return isTexts(header) && header.length > 1 && rows !== null && rows.length > 0 ? { header, rows } : null;
}

function foundOf(grid: ReadGrid | null): Found<ReadGrid> {
  if (grid === null) return { status: 'none', reason: 'no grid of houses stands in it', flags: [] };
  const [start, end] = grid.range;
  return { status: 'found', value: grid, start, end, rule: grid.rule, flags: [] };
}

type SameCell = (written: readonly unknown[], gold: string, attribute: string) => boolean;

function compare({ cells }: ReadGrid, { header, rows }: Solution, same: SameCell) {
  let [right, all] = [0, 0];
  const wrong: string[] = [];
  for (const [house = '', ...golds] of rows) {
    for (const [i, gold] of golds.entries()) {
      const attribute = header[i + 1] ?? '';
      const written = cells.get(house)?.get(foldName(attribute)) ?? [];
      const isRight = same(written, gold, attribute);
      all += 1;
      if (isRight) right += 1;
      else wrong.push(`house ${house} ${attribute}`);
    }
  }
  const reason =
    wrong.length === 0 ? null : `${wrong.length} of ${all} cells wrong: ${wrong.slice(0, 5).join(', ')}`;
  return { correct: wrong.length === 0, score: right / all, reason, flags: [] };
}

const robustCell: SameCell = (written, gold, attribute) => {
  const values = new Set(written.map((value) => foldValue(value, attribute)));
  return values.size === 1 && values.has(foldValue(gold, attribute));
};

const officialCell: SameCell = (written, gold) => {
  const [value] = written.length === 1 && Array.isArray(written[0]) ? written[0] : written;
  return typeof value === 'string' && value.toLowerCase().trim() === gold.toLowerCase().trim();
};

/** A value as it is compared: one item of a list stands for itself, a list of several for none of them. */
function foldValue(value: unknown, attribute: string): string {
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof only !== 'string' && typeof only !== 'number') return JSON.stringify(only) ?? '';
  const text = `${only}`
    .toLowerCase()
    .replaceAll(/[*_`"]/g, ' ')
    .replace(/^\s*(?:the|an?)\s/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const noun = ` ${attribute.toLowerCase().replaceAll('_', ' ')}`;
  return (text.endsWith(noun) ? text.slice(0, -noun.length) : text).replace(/[.,;]$/, '').trim();
}
