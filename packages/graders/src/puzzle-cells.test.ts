import { describe, expect, test } from 'vitest';
import { findObjects } from './json-find.js';
import { puzzleCells } from './puzzle-cells.js';

const data = {
  kind: 'puzzle_cells',
  header: ['House', 'Name', 'FavoriteDrink'],
  rows: [
    ['1', 'Ann', 'tea'],
    ['2', 'Bob', 'root beer'],
  ],
};
const solution = (a: unknown, b: unknown) =>
  JSON.stringify({ reasoning: '}', solution: { 'House 1': a, 'House 2': b } });
const [ann, bob] = [
  { Name: 'Ann', FavoriteDrink: 'tea' },
  { Name: 'Bob', FavoriteDrink: 'root beer' },
];

describe('grids', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    [solution(ann, bob), 'correct', 1, 'puzzle.solution', 'the demanded form, a brace in a string'],
    [`${solution(ann, bob)}\nI hope {this} helps.`, 'correct', 1, 'puzzle.solution', 'braces in later prose'],
    ['```json\n{"solution": {"house1": {"name": "ANN", "favorite drink": ["The tea"],}, /* second */ "2": {"name": "bob", "favorite_drink": "Root  Beer",},}}\n```', 'correct', 1, 'puzzle.solution', 'case, lists of one, articles, comments, trailing commas'],
    [`${solution(bob, ann)}\nNo, wait.\n${solution(ann, bob)}`, 'correct', 1, 'puzzle.solution', 'the last object counts'],
    [solution(ann, { ...bob, FavoriteDrink: 'tea' }), 'incorrect', 0.75, 'puzzle.solution', 'one cell wrong'],
    [solution({ ...ann, FavoriteDrink: ['tea', 'milk'] }, bob), 'incorrect', 0.75, 'puzzle.solution', 'two values for a cell are no answer'],
    [solution(ann, {}), 'incorrect', 0.5, 'puzzle.solution', 'a house left out'],
    [JSON.stringify({ 'House 1': ann, 'House 2': bob }), 'correct', 1, 'puzzle.houses', 'houses at the top'],
    ['| House | Name | Favorite Drink |\n|---|---|---|\n| 1 | Ann | tea |\n| 2 | **Bob** | root beer |', 'correct', 1, 'puzzle.table', 'a table'],
    ['House 1: Name: Ann, Favorite Drink: tea drink\nHouse 2: Name: Bob; FavoriteDrink = root beer.', 'incorrect', 0.75, 'puzzle.lines', 'lines; a noun that is not the attribute stays'],
    ['**House 1**\n- Name: Ann\n- FavoriteDrink: tea FavoriteDrink\n\n**House 2**\n- Name: Bob\n- FavoriteDrink: root beer', 'correct', 1, 'puzzle.lines', 'pairs on lines of their own'],
  ] as const)('%s', (prediction, verdict, score, rule, _why) => {
    const grade = puzzleCells.grade({ prediction, gold: '', data });
    expect(grade).toMatchObject({ verdict, rule });
    expect(grade.score).toBeCloseTo(score, 12);
    expect(prediction.slice(...grade.span!)).toBe(grade.extracted);
  });

  test('names what is wrong', () => {
    const grade = puzzleCells.grade({ prediction: solution(bob, ann), gold: '', data });
    expect(grade.reason).toBe(
      '4 of 4 cells wrong: house 1 Name, house 1 FavoriteDrink, house 2 Name, house 2 FavoriteDrink',
    );
  });

  test('no grid is unparsed, no solution unscored', () => {
    expect(puzzleCells.grade({ prediction: 'Ann drinks tea.', gold: '', data }).verdict).toBe('unparsed');
    expect(puzzleCells.grade({ prediction: solution(ann, bob), gold: '' }).verdict).toBe('unscored');
  });

  test('official mode takes nothing but the demanded form and compares cells as they are', () => {
    const grade = (prediction: string) => puzzleCells.grade({ prediction, gold: '', data, mode: 'official' });
    expect(grade(solution(ann, bob)).verdict).toBe('correct');
    expect(grade(solution(ann, { ...bob, Name: 'the Bob' })).score).toBe(0.75);
    expect(grade(JSON.stringify({ 'House 1': ann, 'House 2': bob })).verdict).toBe('unparsed');
  });

  test('votes don’t depend on the order of keys', () => {
    const item = { options: null };
    const other = `{"solution": {"House 2": {"FavoriteDrink": "Root beer", "Name": "bob"}, "House 1": ${JSON.stringify(ann)}}}`;
    expect(puzzleCells.extract(solution(ann, bob), item)).toBe(puzzleCells.extract(other, item));
    expect(puzzleCells.extract('none', item)).toBe(null);
  });
});

test('very many braces are looked at from the end, each once', () => {
  expect(findObjects(`${'{'.repeat(200_000)} {"a": 1}`).map(({ value }) => value)).toEqual([{ a: 1 }]);
  expect(findObjects('{"a": {"b": 1}} {"c": "\\"}"}').map(({ value }) => value)).toEqual([
    { a: { b: 1 } },
    { c: '"}' },
  ]);
});
