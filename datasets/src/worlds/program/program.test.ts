import { spawnSync } from 'node:child_process';
import { fc, test as property } from '@fast-check/vitest';
import { PerwattError } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { programLanguage } from './language.js';
import { parseProgram } from './parse.js';
import { runProgram } from './run.js';
import { parseValues, sameValue, writeValue } from './value.js';

const run = (body: string, input = '', parameters = '') => {
  const ran = programLanguage.run(`def f(${parameters}): ${body}`, input);
  return ran.ok ? ran.output : ran.reason;
};

describe('programs', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [body: string, output: string, why: string]>([
    ['return 2 + 3 * 4',                          '14',          'products first'],
    ['return (2 + 3) * 4',                        '20',          'brackets first'],
    ['return 7 // 2, 1',                          'program: a statement ends before at line 1, column 23', 'no tuples'],
    ['return -7 // 2',                            '-4',          'floor division'],
    ['return -7 % 3',                             '2',           'the sign of the divisor'],
    ['return 7 % -3',                             '-2',          'the sign of the divisor'],
    ['return -2 ** 2',                            '-4',          'powers bind before signs'],
    ['return 2 ** 3 ** 2',                        '512',         'powers from the right'],
    ['return (-1) ** 1000000000000',              '1',           'a large exponent of one'],
    ['return 0 ** 0',                             '1',           'as Python has it'],
    ['return 10 - 4 - 3',                         '3',           'from the left'],
    ['return 1 < 2 < 3',                          'True',        'a chain of comparisons'],
    ['return 1 < 3 < 2',                          'False',       'of which one fails'],
    ['return 1 == True',                          'True',        'a truth value is a number'],
    ['return True + True',                        '2',           'and adds up'],
    ['return [1] == 1',                           'False',       'a list is no number'],
    ['return not 0 == 1',                         'True',        'not binds behind comparisons'],
    ['return 0 or 5',                             '5',           'or gives an operand'],
    ['return [] and 1 // 0',                      '[]',          'and looks no further'],
    ['return 1 if [] else 2',                     '2',           'an empty list is false'],
    ['return 2 in [1, 2] and 3 not in [1]',       'True',        'membership'],
    ['return [1, 2] + [3] * 2',                   '[1, 2, 3, 3]', 'lists are joined and repeated'],
    ['return [1, 2, 3][-1]',                      '3',           'from the end'],
    ['return [1, 2, 3, 4][1:3]',                  '[2, 3]',      'a slice'],
    ['return [1, 2, 3, 4][::-1]',                 '[4, 3, 2, 1]', 'backwards'],
    ['return [1, 2, 3, 4][-3::2]',                '[2, 4]',      'with a step'],
    ['return [1, 2, 3][5:]',                      '[]',          'beyond the end'],
    ['return [x * y for x in [1, 2] for y in [3]]', 'program: "y" has no value, before the place at line 1, column 24', 'one loop only'],
    ['return [[x * y for y in [1, 2]] for x in range(3)]', '[[0, 0], [1, 2], [2, 4]]', 'a loop in a loop'],
    ['return [x for x in range(10) if x % 2 if x > 4]', '[5, 7, 9]', 'two tests'],
    ['return sum(x * x for x in range(1, 4))',    '14',          'without brackets'],
    ['return any(x for x in [1])',                'program: "any" takes a comprehension in brackets only, at line 1, column 21', 'it may stop early'],
    ['return list(range(5, 0, -2))',              '[5, 3, 1]',   'downwards'],
    ['return range(3)',                           'program: "range" stands only behind "in" of a comprehension and within list, sum, len, max, min, sorted; at line 1, column 22', 'no value of its own'],
    ['return max(3, 9, 2) - min([3, 9, 2])',      '7',           'of values and of a list'],
    ['return sorted([[2, 1], [1, 9], [1]])',      '[[1], [1, 9], [2, 1]]', 'lists in order'],
    ['x = 3; x += 2; x *= x; return x',           '25',          'assigned again'],
    ['x = 1; y = [x for x in [7, 8]]; return x',  '1',           'a loop keeps its variable to itself'],
    ['return 1; return 2',                        '1',           'the first return counts'],
    ['x = 1',                                     'program: "return" is missing at line 1, column 15', 'no return'],
    ['return y',                                  'program: "y" has no value, before the place at line 1, column 18', 'an unknown name'],
    ['return x for x in [1]',                     'program: "x" has no value, before the place at line 1, column 19', 'a loop without brackets'],
    ['return 1 / 2',                              'program: "/" is no part of the language at line 1, column 19', 'no fractions'],
    ["return 'a'",                                'program: "\'" is no part of the language at line 1, column 17', 'no strings'],
    ['sum = 1; return sum',                       'program: "sum" is the name of a function, at line 1, column 10', 'functions keep their names'],
    ['return len(1)',                             '"len" wants a list', 'a wrong argument'],
    ['return len([1], [2])',                      'program: "len" takes no 2 arguments, at line 1, column 30', 'too many'],
    ['return 1 // 0',                             'it divides by zero', 'no infinity'],
    ['return 1 % 0',                              'it divides by zero', 'no infinity'],
    ['return 2 ** -1',                            '"**" takes no negative exponent', 'no fractions'],
    ['return [1][1]',                             'there is no element 1 in a list of 1', 'out of range'],
    ['return [1] < 2',                            'a list and a number have no order', 'as Python has it'],
    ['return [1] - [1]',                          '"-" does not take a list', 'as Python has it'],
    ['return 10 ** 15 + 1',                       'a number beyond 10^15 came up', 'numbers stay exact'],
    ['return max([])',                            '"max" of an empty list', 'as Python has it'],
    ['return 007',                                'program: 007 begins with 0, at line 1, column 17', 'as Python has it'],
  ])('%s gives %s: %s', (body, output) => {
    expect(run(body)).toBe(output);
  });

  test('statements may stand on lines of their own, with comments', () => {
    const text =
      'def f(xs, n):\n    # doubles\n    ys = [x * n\n          for x in xs]\n\n    return ys  # done\n';
    expect(programLanguage.run(text, '[1, 2], 2')).toEqual({
      ok: true,
      output: '[2, 4]',
      steps: expect.any(Number),
    });
    expect(parseProgram(text)).toEqual(parseProgram('def g(xs, n): ys = [x * n for x in xs]; return ys'));
  });

  test('arguments have to be as many as parameters', () => {
    expect(run('return x', '1, 2', 'x')).toBe('it takes 1 arguments, not 2');
    expect(run('return x', '1', 'x, x')).toMatch('"x" is a parameter twice');
  });
});

describe('limits', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [body: string, reason: string, why: string]>([
    ['return sum([1 for x in range(100) for_ in [1]])',          'program: "]" is wanted where "for_" stands', 'no loop'],
    ['return [[0 for y in range(1000)] for x in range(1000)]',   'it was stopped after 10000 steps',  'a million elements'],
    ['return [0] * 1000000000000',                               'it was stopped after 10000 steps',  'a huge repetition'],
    ['return list(range(1000000000000))',                        'it was stopped after 10000 steps',  'a huge range'],
    ['return 3 ** 1000000000000',                                'a number beyond 10^15 came up',     'a huge power'],
    [`a = [1]; ${'a = [a, a]; '.repeat(60)}return a`,            'it was stopped after 10000 steps',  'a value that doubles sixty times'],
    [`a = [1]; b = [1]; ${'a = [a, a]; b = [b, b]; '.repeat(60)}return a == b`, 'it was stopped after 10000 steps', 'and comparing two such'],
    [`a = [1]; b = [1]; ${'a = [a, a]; b = [b, b]; '.repeat(60)}return sorted([a, b])`, 'it was stopped after 10000 steps', 'and sorting them'],
    [`return ${'('.repeat(1000)}1${')'.repeat(1000)}`,           'program: expressions more than 60 deep', 'deep brackets'],
    [`return ${'-'.repeat(3000)}1`,                              'program: expressions more than 60 deep', 'many signs'],
    [`return ${'not '.repeat(900)}1`,                            'program: expressions more than 60 deep', 'many nots'],
    [`return 1${' + 1'.repeat(900)}`,                            'program: an expression of more than 500 parts', 'a long sum'],
    [`return [0]${'[0]'.repeat(900)}`,                           'program: an expression of more than 500 parts', 'many indexes'],
    [`return ${'1 if 0 else '.repeat(300)}1`,                    'program: expressions more than 60 deep', 'many choices'],
    [`return 1${' '.repeat(5000)}`,                              'program: 5017 characters, over 4000', 'a long text'],
  ])('%s ends with %s: %s', (body, reason) => {
    expect(run(body)).toContain(reason);
  });

  test("a limit of steps is the caller's", () => {
    const program = parseProgram('def f(n): return sum([x for x in range(n)])');
    expect(runProgram(program, [50], { max_steps: 60 })).toMatchObject({
      status: 'failed',
      reason: 'it was stopped after 60 steps',
      steps: 60,
    });
    expect(runProgram(program, [50], { max_steps: 1000 })).toMatchObject({ status: 'returned', value: 1225 });
  });

  property.prop([fc.string({ maxLength: 300 }), fc.string({ maxLength: 100 })], { numRuns: 300 })(
    'no text is more than an answer or a reason',
    (program, input) => {
      for (const text of [program, `def f(x): ${program}`])
        expect(programLanguage.run(text, input)).toHaveProperty('ok');
    },
  );

  const pieces = [
    'x',
    '1',
    '-',
    '+',
    '*',
    '//',
    '%',
    '**',
    '(',
    ')',
    '[',
    ']',
    ',',
    ':',
    ';',
    '=',
    '==',
    '<',
    'for',
    'in',
    'if',
    'else',
    'not',
    'and',
    'or',
    'range',
    'sum',
    'return',
    'y',
    '\n',
    '#',
  ];
  property.prop([fc.array(fc.constantFrom(...pieces), { maxLength: 60 })], { numRuns: 500 })(
    'nor is any row of words of the language',
    (words) => {
      const ran = programLanguage.run(`def f(x): ${words.join(' ')}`, '3');
      expect(ran.ok || ran.reason.length > 0).toBe(true);
    },
  );
});

const value: fc.Arbitrary<import('./value.js').ProgramValue> = fc.letrec<{
  v: import('./value.js').ProgramValue;
}>((tie) => ({
  v: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.boolean(), fc.array(tie('v'), { maxLength: 4 })),
})).v;

describe('values', () => {
  property.prop([fc.array(value, { maxLength: 4 })])('are read as they are written', (values) => {
    const text = values.map(writeValue).join(', ');
    expect(parseValues(text)).toEqual(values);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, message: string]>([
    ['1 2',                    'more than a value at character 2'],
    ['[1, 2',                  'a list that goes on wrongly at character 6'],
    ['1,',                     'something that is no value at character 3'],
    ['[1,]',                   'something that is no value at character 4'],
    [']',                      'something that is no value at character 1'],
    ['"a"',                    'something that is no value at character 1'],
    ['1.5',                    'more than a value at character 2'],
    ['99999999999999999',      'a number beyond 10^15 at character 1'],
    ['['.repeat(60),           'lists more than 50 deep at character 52'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseValues(text)).toThrow(PerwattError);
    expect(() => parseValues(text)).toThrow(message);
  });

  test('equality is that of Python', () => {
    expect([
      sameValue(1, true),
      sameValue([0], [false]),
      sameValue([1], 1),
      sameValue([], []),
      sameValue([1], [1, 2]),
    ]).toEqual([true, true, false, true, false]);
  });
});

const python = spawnSync('python3', ['-c', 'print(1)']).status === 0;

/** Random programs of the language, with names that are all assigned. */
const expression = fc.letrec<{ e: string; l: string }>((tie) => ({
  e: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.integer({ min: 0, max: 20 }).map(String),
    fc.constantFrom('n', 'True'),
    fc
      .tuple(tie('e'), fc.constantFrom('+', '-', '*', '//', '%', '<', '==', '>=', 'and', 'or'), tie('e'))
      .map(([a, o, b]) => `(${a} ${o} ${b})`),
    fc.tuple(tie('e'), tie('e'), tie('e')).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
    tie('e').map((a) => `-${a}`),
    tie('e').map((a) => `(not ${a})`),
    fc
      .tuple(fc.constantFrom('sum', 'len', 'max', 'min', 'any', 'all'), tie('l'))
      .map(([f, a]) => `${f}(${a})`),
    fc.tuple(tie('l'), tie('e')).map(([a, i]) => `${a}[${i}]`),
    fc.tuple(tie('e'), tie('l')).map(([a, b]) => `(${a} in ${b})`),
  ),
  l: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('xs', '[]', 'list(range(5))'),
    fc.array(tie('e'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .tuple(tie('e'), tie('l'), tie('e'))
      .map(([item, source, filter]) => `[${item} + x for x in ${source} if ${filter} < x]`),
    fc.tuple(tie('l'), tie('e'), tie('e')).map(([a, from, step]) => `${a}[${from}::${step}]`),
    fc.tuple(tie('l'), tie('e')).map(([a, to]) => `${a}[:${to}]`),
    fc.tuple(tie('l'), tie('l')).map(([a, b]) => `(${a} + ${b})`),
    tie('l').map((a) => `sorted(${a})`),
  ),
}));

test('what programs return is what Python returns', { timeout: 120_000 }, ({ skip }) => {
  skip(!python, 'python3 is not here to compare with');
  const programs = fc
    .sample(
      fc.tuple(
        fc.oneof(expression.e, expression.l),
        fc.integer({ min: -9, max: 9 }),
        fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 5 }),
      ),
      { numRuns: 1500, seed: 11 },
    )
    .filter(([body]) => body.length < 300)
    .map(([body, n, xs]) => [`def f(n, xs): y = ${body}; return y`, `${n}, ${writeValue(xs)}`] as const);
  const script = [
    'import sys, json',
    'for program, args in json.load(sys.stdin):',
    '    try:',
    '        scope = {}',
    '        exec(program, scope)',
    '        print(json.dumps(repr(eval("f(" + args + ")", scope))))',
    '    except Exception as e:',
    '        print(json.dumps(None))',
  ].join('\n');
  const { stdout, stderr } = spawnSync('python3', ['-W', 'ignore', '-c', script], {
    input: JSON.stringify(programs),
    encoding: 'utf8',
  });
  const expected = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string | null);
  expect(expected, stderr).toHaveLength(programs.length);
  let returned = 0;
  for (const [i, [program, input]] of programs.entries()) {
    const ran = programLanguage.run(program, input);
    if (!ran.ok && /beyond 10\^15|steps/.test(ran.reason)) continue;
    if (ran.ok) returned += 1;
    expect(ran.ok ? ran.output : null, `${program} on ${input}${ran.ok ? '' : `: ${ran.reason}`}`).toBe(
      expected[i],
    );
  }
  expect(returned).toBeGreaterThan(300);
});
