import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { literal } from './literal.js';
import { canonicalLiteral } from './python-literal.js';

describe('Python equality', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['1', '1.0', true, 'int and float'],
    ['True', '1', true, 'a boolean is a number'],
    ['False', '-0.0', true, 'zero has no sign'],
    ['9007199254740993', '9007199254740992.0', false, 'an int is exact'],
    ['1_000', '0x3e8', true, 'underscores and hex'],
    ['1e3', '1000', true, 'exponent'],
    ['1e400', 'inf', true, 'too large for a double'],
    ['- -3', '3', true, 'signs'],
    ['3+0j', '3', true, 'complex without imaginary part'],
    ['2j', '2', false, 'imaginary'],
    ["'a'", '"a"', true, 'quotes'],
    ["'a' 'b'", '"ab"', true, 'adjacent strings'],
    ["'''a\nb'''", '"a\\nb"', true, 'triple quotes'],
    ["r'\\n'", "'\\\\n'", true, 'raw'],
    ["'\\x41\\u0042\\103'", "'ABC'", true, 'escapes'],
    ["b'a'", "'a'", false, 'bytes are no text'],
    ['(1, 2)', '1, 2', true, 'a tuple without brackets'],
    ['(1)', '1', true, 'brackets alone make no tuple'],
    ['(1,)', '1', false, 'a comma does'],
    ['[1, 2]', '(1, 2)', false, 'a list is no tuple'],
    ['{1: 2, 3: 4}', '{3: 4, 1: 2,}', true, 'dicts have no order'],
    ["{1: 'a', True: 'b'}", "{1: 'b'}", true, 'the last of equal keys'],
    ['{1, 2, 1}', '{2, 1.0}', true, 'sets'],
    ['set()', '{}', false, 'an empty set is no dict'],
    ['frozenset([1, (2, "a,b")])', '{(2, "a,b"), 1}', true, 'a frozen set equals a set'],
    ['[1, # one\n 2]', '[1,2]', true, 'comments'],
    ['None', 'None', true, 'none'],
  ] as const)('%s and %s: %s', (a, b, same, _why) => {
    expect(canonicalLiteral(a)).not.toBe(null);
    expect(canonicalLiteral(b)).not.toBe(null);
    expect(canonicalLiteral(a) === canonicalLiteral(b)).toBe(same);
  });

  test.each([
    '',
    'f(1)',
    '[1',
    '1 2',
    "'a",
    '{1: 2, 3}',
    '[1,,2]',
    'x',
    '1 + 2',
    `${'['.repeat(65)}${']'.repeat(65)}`,
    "'a\nb'",
    'nul',
  ])('%j is no literal', (text) => expect(canonicalLiteral(text)).toBe(null));

  const { value } = fc.letrec<{ value: string; leaf: string }>((tie) => ({
    leaf: fc.oneof(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.string({ unit: 'binary', maxLength: 8 }).map((s) => JSON.stringify(s)),
      fc.constantFrom('None', 'True', 'False', "b'x'", '()', '[]', '{}', 'set()'),
    ),
    value: fc.oneof(
      { maxDepth: 4 },
      tie('leaf'),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(tie('value'), { maxLength: 3 })
        .map((items) => `(${items.map((item) => `${item},`).join(' ')})`),
    ),
  }));

  test.prop([value])('every literal is read, and one more blank changes nothing', (text) => {
    expect(canonicalLiteral(text)).not.toBe(null);
    expect(canonicalLiteral(` ${text} `)).toBe(canonicalLiteral(text));
  });

  test.prop([fc.string({ unit: fc.constantFrom(...'[](){}\',"\\b1.ej_:+- \n'), maxLength: 40 })])(
    'any text is read or refused, and what is read means the same in a list of one',
    (text) => {
      const one = canonicalLiteral(text);
      if (one !== null && !one.startsWith('(')) expect(canonicalLiteral(`[${text}\n]`)).toBe(`[${one}]`);
    },
  );
});

describe('replies', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['{"reasoning": "…", "answer": "[(4, 1)]"}', '[(4, 1)]', 'correct', 'literal.json', 'a literal in JSON'],
    ['{"answer": [[4, true]]}', '[[4, True]]', 'correct', 'literal.json', 'a JSON value'],
    ['{"answer": "816"}', "'816'", 'correct', 'literal.json', 'digits of a string in a JSON string'],
    ['{"answer": 816}', "'816'", 'incorrect', 'literal.json', 'a number is no string'],
    ['{"answer": "abc"}', "'abc'", 'correct', 'literal.json', 'a string without its quotes'],
    ['Answer: {2: 1, 1: 2}', '{1: 2, 2: 1}', 'correct', 'literal.format', 'a demanded line'],
    ["So:\n```python\nassert f([1]) == ('a', 1)\n```", '("a", 1)', 'correct', 'literal.line', 'an assertion in a fence'],
    ['[ANSWER]assert f(2) == 4[/ANSWER]', '4', 'correct', 'literal.line', 'answer marks'],
    ['Answer: (1, 2)', '[1, 2]', 'incorrect', 'literal.format', 'a tuple for a list'],
    ['Answer: about 3', '3', 'incorrect', 'literal.format', 'words'],
  ] as const)('%s for %s: %s', (prediction, gold, verdict, rule, _why) => {
    expect(literal.grade({ prediction, gold })).toMatchObject({ verdict, rule });
  });

  test('a gold that is none can’t be graded', () => {
    expect(literal.grade({ prediction: 'Answer: 3', gold: 'f(3)' }).verdict).toBe('unscored');
  });

  test('official mode compares texts without quotes', () => {
    const grade = (answer: unknown, gold: string) =>
      literal.grade({ prediction: JSON.stringify({ answer }), gold, mode: 'official' }).verdict;
    expect(grade("'abc'", '"abc"')).toBe('correct');
    expect(grade('[1,2]', '[1, 2]')).toBe('incorrect');
  });
});

const shared = resolve(import.meta.dirname, '../../..', process.env['PERWATT_SHARED'] ?? '../shared');
const file = join(shared, 'data/corpora/cruxeval-o/zeroeval_gpt4.first300.jsonl');

test('published golds are literals and right for themselves; replies are read', ({ skip }) => {
  skip(!existsSync(file), `no reference data in ${shared}; set PERWATT_SHARED`);
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { answer: string; output: [string] });
  expect(rows.length).toBe(300);
  for (const { answer } of rows)
    expect(literal.grade({ prediction: `Answer: ${answer}`, gold: answer }).verdict, answer).toBe('correct');
  const grades = rows.map(({ answer, output }) => literal.grade({ prediction: output[0], gold: answer }));
  expect(grades.filter(({ verdict }) => verdict === 'unparsed').length).toBeLessThan(5);
  const official = rows.map(({ answer, output }) =>
    literal.grade({ prediction: output[0], gold: answer, mode: 'official' }),
  );
  for (const [i, grade] of official.entries())
    if (grade.verdict === 'correct') expect(grades[i]?.verdict, JSON.stringify(rows[i])).toBe('correct');
});
