import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from './code/sandbox.js';
import { code, codeGrader } from './code.js';

const tmp = mkdtempSync(join(tmpdir(), 'perwatt-code-'));
afterAll(() => rmSync(tmp, { recursive: true, force: true }));
const place = { tmp, path: '/usr/sbin:/usr/bin:/sbin:/bin', root: process.getuid?.() === 0 };
const opened = await openSandbox(place).catch((error: Error) => error);
const grader = opened instanceof Error ? null : codeGrader({ sandbox: opened, workers: 2 });
const why = opened instanceof Error ? opened.message : '';

const prompt = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """ Sum. """\n';
const data = {
  prompt,
  entry_point: 'add',
  test: 'def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(-1, 1) == 0\n',
};
const input = (prediction: string, mode?: 'official') => ({
  prediction,
  gold: '',
  data,
  ...(mode && { mode }),
});
const whole = 'def add(a: int, b: int) -> int:\n    return a + b\n';

// biome-ignore format: a table is read in columns
const replies: readonly (readonly [prediction: string, verdict: string, rule: string | null, why: string])[] = [
  [`Here it is:\n\`\`\`python\n${whole}\`\`\`\nIt adds.`,            'correct',   'code.fence',        'one block'],
  ['```python\ndef add(a, b):\n    return a - b\n```',              'incorrect', 'code.fence',        'wrong code'],
  [`\`\`\`python\nprint(add(1, 2))\n\`\`\`\n\`\`\`python\n${whole}\`\`\`\n\`\`\`\nadd(1, 2) gives 3 and many more words\n\`\`\``, 'correct', 'code.fence', 'the block that defines it, not the longest'],
  [`\`\`\`python\ndef add(a, b):\n    return 0\n\`\`\`\nBetter:\n\`\`\`python\n${whole}\`\`\``, 'correct', 'code.fence', 'the last of two'],
  [`\`\`\`python\n${whole}`,                                         'correct',   'code.open_fence',   'a fence that never closes'],
  [`${whole}\`\`\`\nThis adds two numbers.`,                         'correct',   'code.before_fence', 'a prefilled fence that closes'],
  [`Sure.\n${whole}`,                                               'correct',   'code.bare',         'no fence at all'],
  ['    return a + b\n',                                            'correct',   'code.bare',         'a body with its blanks'],
  ['return a + b\n',                                                'correct',   'code.bare',         'a body that lost them'],
  ['```python\n    total: List[int] = [a, b]\n    return sum(total)\n```', 'correct', 'code.fence',   'a body in a block, with the imports of the prompt'],
  [`<think>def add(a, b): return 0</think>\n\`\`\`python\n${whole}\`\`\``, 'correct', 'code.fence',   'reasoning is no answer'],
  ['```python\nwhile True: pass\n```',                              'incorrect', 'code.fence',        'never ends'],
  ['```python\ndef add(a, b):\n  return 5 if\n```',                  'incorrect', 'code.fence',        'no Python'],
  ['I am not sure what you mean.',                                  'unparsed',  null,                'no code'],
  ['',                                                              'empty',     null,                'nothing'],
];

describe('code that is run', () => {
  test.for(replies)('%#: %s', async ([prediction, verdict, rule, reason], { skip }) => {
    skip(grader === null, why);
    const grade = await grader!.gradeLater(input(prediction), {});
    expect(grade, reason).toMatchObject({ verdict, rule, score: verdict === 'correct' ? 1 : 0 });
    if (grade.span !== null) expect(prediction.slice(...grade.span)).toBe(grade.extracted);
  });

  test('says why it is wrong', async ({ skip }) => {
    skip(grader === null, why);
    const { reason } = await grader!.gradeLater(input('```\ndef add(a, b): raise ValueError("no")\n```'), {});
    expect(reason).toBe('failed: ValueError: no');
  });

  test('official mode takes the completion as it came, behind the prompt', async ({ skip }) => {
    skip(grader === null, why);
    expect(await grader!.gradeLater(input('    return a + b\n', 'official'), {})).toMatchObject({
      verdict: 'correct',
      rule: 'human_eval.completion',
    });
    expect(await grader!.gradeLater(input(`\`\`\`python\n${whole}\`\`\``, 'official'), {})).toMatchObject({
      verdict: 'incorrect',
      reason: expect.stringContaining('SyntaxError'),
    });
  });

  test('needs the tests of its item', async ({ skip }) => {
    skip(grader === null, why);
    const grade = await grader!.gradeLater({ prediction: whole, gold: '', data: { prompt } }, {});
    expect(grade).toMatchObject({
      verdict: 'unscored',
      score: null,
      reason: expect.stringContaining('no prompt'),
    });
  });
});

describe('code that is not run', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    [input(whole),                                       'unscored',  'code is not run unless it is allowed'],
    [{ ...input(whole), finish_reason: 'length' },       'truncated', 'the answer was cut at the token limit'],
    [{ ...input(whole), failed: true },                  'error',     'the call failed'],
    [input("I'm sorry, but I can't help with that."),    'refused',   'the answer declines to help'],
  ])('%#: is %s', (given, verdict, reason) => {
    expect(code.grade(given)).toMatchObject({ verdict, reason });
  });

  test('votes by its text', () => {
    expect(code.extract(`\`\`\`py\n${whole}\`\`\``, { options: null })).toBe(whole.trimEnd());
    expect(code.same(whole, `${whole}\n`)).toBe(true);
  });
});

const shared = resolve(import.meta.dirname, '../../..', process.env['PERWATT_SHARED'] ?? '../shared');
const file = join(shared, 'data/corpora/humaneval/HumanEval.jsonl');

test('every canonical solution of HumanEval passes, and a stub does not', { timeout: 600_000 }, async ({
  skip,
}) => {
  skip(grader === null, why);
  skip(!existsSync(file), `no reference data in ${shared}; set PERWATT_SHARED`);
  type Row = Readonly<Record<'task_id' | 'prompt' | 'entry_point' | 'test' | 'canonical_solution', string>>;
  const all = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const rows = process.env['PERWATT_FULL'] === '1' ? all : all.filter((_, i) => i % 8 === 0);
  const judge = async (row: Row, prediction: string) =>
    (await grader!.gradeLater({ prediction, gold: '', data: { ...row } }, {})).verdict;
  const right = await Promise.all(rows.map((row) => judge(row, row.canonical_solution)));
  expect(rows.filter((_, i) => right[i] !== 'correct').map((row) => row.task_id)).toEqual([]);
  const wrong = await Promise.all(rows.slice(0, 5).map((row) => judge(row, '    return None\n')));
  expect(wrong).toEqual(Array(5).fill('incorrect'));
});
