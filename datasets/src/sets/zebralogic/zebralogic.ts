import { isRecord } from '../../options.js';
import { fieldOf, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { zebralogicCard } from './card.js';
import { EXAMPLE } from './worked-example.js';

/** ZebraLogic's grids; a record whose solution is blanked out is an error that says how to get the whole one. */
export const zebralogic = fileSet({
  card: zebralogicCard,
  answer_tokens: 4096,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: '{question}\n\nSolve the puzzle step by step. Finish with one JSON object of this form, with every ___ filled in:\n{answer_form}',
    },
    official: {
      version: 1,
      source: 'ZeroEval, with a worked example of our own',
      text: `${EXAMPLE}\n\n# Puzzle to Solve\n\n{question}\n\nNow please solve the above puzzle. Present your reasoning and solution in the following json format:\n\n{reasoned_form}`,
    },
  },
  read(row) {
    const { header, rows } = solutionOf(row);
    const filled = gridOf(header, rows, (cell) => cell);
    const blank = gridOf(header, rows, () => '___');
    return {
      id: requiredText(row, 'id'),
      question: requiredText(row, 'puzzle').trim(),
      gold: JSON.stringify({ solution: filled }),
      subject: requiredText(row, 'size'),
      data: { kind: 'puzzle_cells', header, rows },
      values: {
        answer_form: JSON.stringify({ solution: blank }, null, 4),
        reasoned_form: JSON.stringify({ reasoning: '___', solution: blank }, null, 4),
      },
    };
  },
});

function solutionOf(row: Row): { readonly header: string[]; readonly rows: string[][] } {
  const solution = fieldOf(row, 'solution');
  const [header, rows] = isRecord(solution) ? [solution['header'], solution['rows']] : [];
  if (!isTexts(header) || header.length < 2 || !Array.isArray(rows) || rows.length === 0)
    throw rowError(row.place, 'field "solution" has no "header" and "rows" of texts');
  const cells = rows.map((cellsOf: unknown, i) => {
    if (isTexts(cellsOf) && cellsOf.length === header.length) return cellsOf;
    throw rowError(row.place, `row ${i + 1} of "solution" is no list of ${header.length} texts`);
  });
  if (cells.some((list) => list.some((cell) => /^_+$/.test(cell))))
    throw rowError(
      row.place,
      `the solution is blanked out, as in the public copy: ${zebralogicCard.how ?? ''}`,
    );
  return { header, rows: cells };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const gridOf = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
  show: (cell: string) => string,
) =>
  Object.fromEntries(
    rows.map((cells, i) => [
      `House ${cells[0] ?? i + 1}`,
      Object.fromEntries(header.slice(1).map((name, k) => [name, show(cells[k + 1] ?? '')])),
    ]),
  );
