import { fc, test as property } from '@fast-check/vitest';
import type { GradeInput } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { numeric } from './numeric.js';

const grade = (prediction: string, gold: string, rest: Partial<GradeInput> = {}) =>
  numeric.grade({ prediction, gold, ...rest });

describe('numeric', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    // answer                                             gold      verdict      rule                     why
    ['42',                                                '42',     'correct',   'numeric.format',        'a bare number'],
    ['**42**',                                            '42',     'correct',   'numeric.format',        'a bare number, emphasised'],
    ['$29.00',                                            '29',     'correct',   'numeric.format',        'currency and decimals that are zero'],
    ['12 apples.',                                        '12',     'correct',   'numeric.format',        'a bare number with its unit'],
    ['#### 1,234',                                        '1234',   'correct',   'numeric.format',        'the marked form, with thousands'],
    ['#### $1,234.00',                                    '1234',   'correct',   'numeric.format',        'the marked form, with a currency sign'],
    ['2+3=5\n#### 5\n\nLet me check: 7',                  '5',      'correct',   'numeric.format',        'what follows the mark does not count'],
    ['#### 3. Add the 4 parts\nThe sum is 9.',            '9',      'correct',   'numeric.last_sentence', 'a heading is no marked answer'],
    ['<answer>7</answer> (of 9)',                         '7',      'correct',   'numeric.format',        'an answer element'],
    ['so \\boxed{-\\frac{1}{2}}, or 3',                   '-0.5',   'correct',   'numeric.boxed',         'a box wins over later numbers'],
    ['\\boxed{3} then \\boxed{4}',                        '4',      'correct',   'numeric.boxed',         'the last box'],
    ['Use \\boxed for it: 5',                             '5',      'correct',   'numeric.last_sentence', 'a command without a brace is no box'],
    ['so \\boxed{60}\\%. Done with 2 steps',              '0.6',    'correct',   'numeric.boxed',         'a percent sign behind the box'],
    ['The answer is 5 + 6 = 11 apples.',                  '11',     'correct',   'numeric.anchor',        'the result of an equation behind the anchor'],
    ['Answer: 7 (we used 3 of 10 boxes)',                 '7',      'correct',   'numeric.anchor',        'numbers in a parenthesis do not win'],
    ['The answer is 3 hours (180 minutes = 3 × 60).',     '3',      'correct',   'numeric.anchor',        'nor does an equation in it'],
    ['The answer is 3.\nThat took 20 minutes.',           '3',      'correct',   'numeric.anchor',        'an anchor wins over the last number'],
    ['The answer is 3. No, wait. The answer is 4.',       '4',      'correct',   'numeric.anchor',        'the last anchor'],
    ['The answer is not 3. It is 4.',                     '4',      'correct',   'numeric.last_sentence', 'a denied anchor does not count'],
    ['**Answer:**\n\n42',                                 '42',     'correct',   'numeric.anchor',        'the answer on a line of its own'],
    ['The final answer is:\n$$\n42\n$$',                  '42',     'correct',   'numeric.anchor',        'the answer in display math'],
    ['{"reasoning": "2 + 3", "answer": 5}',               '5',      'correct',   'numeric.anchor',        'a JSON field'],
    ['She has 4.\nA: 18',                                 '18',     'correct',   'numeric.anchor',        'the short form of solutions'],
    ['Antwort: 12,5',                                     '12.5',   'correct',   'numeric.anchor',        'another language, with a decimal comma'],
    ['答案是 5',                                           '5',      'correct',   'numeric.anchor',        'Chinese'],
    ['7 + 5 = 12',                                        '12',     'correct',   'numeric.last_sentence', 'the result of an equation'],
    ['She sold 3 for 5 each. She made 15 (3 × 5).',       '15',     'correct',   'numeric.last_sentence', 'a check in a parenthesis'],
    ['It is 25',                                          '5',      'incorrect', 'numeric.last_sentence', 'a suffix is not a match'],
    ['It is 5',                                           '25',     'incorrect', 'numeric.last_sentence', 'nor is it the other way round'],
    ['3/4',                                               '3/7',    'incorrect', 'numeric.format',        'fractions are compared whole'],
    ['9007199254740993',                                  '9007199254740992', 'incorrect', 'numeric.format', 'beyond what doubles can tell apart'],
    ['0.1 + 0.2 = 0.30000000000000004',                   '0.3',    'incorrect', 'numeric.last_sentence', 'no rounding by itself'],
    ['1e999999',                                          '5',      'incorrect', 'numeric.format',        'too large to compute'],
    ['5\n\nQuestion: What is 2 + 2?\nAnswer: 4',          '5',      'correct',   'numeric.format',        'the model went on to a question of its own'],
    ['<think>maybe 4</think>5',                           '5',      'correct',   'numeric.format',        'reasoning does not count'],
  ])('%j for gold %s is %4$s: %s', (answer, gold, verdict, rule) => {
    expect(grade(answer, gold)).toMatchObject({ verdict, rule, score: verdict === 'correct' ? 1 : 0 });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [input: GradeInput, grade: object, why: string]>([
    [{ prediction: '5', gold: '5', failed: true },                        { verdict: 'error', score: 0, rule: null },    'the call failed, whatever the text'],
    [{ prediction: '5', gold: 'five' },                                   { verdict: 'unscored', score: null },          'a gold that is no number'],
    [{ prediction: '5', gold: '1 or 2' },                                 { verdict: 'unscored', score: null },          'a gold of two numbers'],
    [{ prediction: '5', gold: '5', finish_reason: 'content_filter' },     { verdict: 'refused', score: 0 },              'the server refused'],
    [{ prediction: '', gold: '5' },                                       { verdict: 'empty', score: 0 },                'nothing'],
    [{ prediction: ' <think>5</think>\n', gold: '5' },                    { verdict: 'empty', score: 0 },                'nothing but reasoning'],
    [{ prediction: '', gold: '5', finish_reason: 'length' },              { verdict: 'truncated', score: 0 },            'cut before anything came'],
    [{ prediction: 'so 5', gold: '5', finish_reason: 'length' },          { verdict: 'truncated', score: 0, salvaged: '5', extracted: null, span: null, flags: ['salvaged'] }, 'cut: the number is noted, not used'],
    [{ prediction: '<think>so 5', gold: '5' },                            { verdict: 'truncated', salvaged: '5' },       'the reasoning never ended'],
    [{ prediction: 'I cannot decide.', gold: '5' },                       { verdict: 'unparsed', score: 0 },             'not knowing is no refusal'],
    [{ prediction: "I'm sorry, but I can't help with that.", gold: '5' }, { verdict: 'refused', score: 0 },              'declining to help is one'],
    [{ prediction: 'I can’t assist with this request. 5', gold: '5' },    { verdict: 'correct' },                        'a refusal phrase beside an answer'],
    [{ prediction: 'So −5 then', gold: '-5' },                            { verdict: 'correct', extracted: '−5', span: [3, 5] }, 'the span is in the raw text'],
    [{ prediction: '<think>x</think> 1\u200b2', gold: '12' },             { verdict: 'correct', extracted: '1\u200b2', span: [17, 20] }, 'also behind what was left out'],
  ])('%j gives %j: %s', (input, expected) => {
    expect(numeric.grade(input)).toMatchObject(expected);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, gold: string, policy: Record<string, unknown>, verdict: string, why: string]>([
    ['60%',   '60',    {},                                'correct',   'a sign on one side only may be left out'],
    ['60%',   '0.6',   {},                                'correct',   'or applied'],
    ['60',    '60%',   {},                                'correct',   'also when the gold has it'],
    ['60%',   '60',    { percent: 'strict' },             'incorrect', 'not in strict mode'],
    ['60%',   '0.6',   { percent: 'strict' },             'correct',   'where it means a hundredth'],
    ['60%',   '60%',   { percent: 'strict' },             'correct',   'on both sides'],
    ['0.6%',  '60%',   {},                                'incorrect', 'two signs are two signs'],
    ['101',   '100',   {},                                'incorrect', 'no tolerance by default'],
    ['101',   '100',   { relative: 0.01 },                'correct',   'a relative one when asked for'],
    ['102',   '100',   { relative: 0.01 },                'incorrect', 'and no more than that'],
    ['3.14',  '3.14159', { decimals: 2 },                 'correct',   'equal at two decimals'],
    ['3.15',  '3.14159', { decimals: 2 },                 'incorrect', 'not equal at two decimals'],
    ['-2.5',  '-3',    { decimals: 0 },                   'correct',   'halves are rounded away from zero'],
  ])('%s for gold %s with %j is %s: %s', (answer, gold, policy, verdict) => {
    expect(grade(answer, gold, { policy }).verdict).toBe(verdict);
  });

  test('a tolerance that was needed is flagged, one that was not is not', () => {
    expect(grade('101', '100', { policy: { relative: 0.01 } }).flags).toEqual(['tolerance-used']);
    expect(grade('100', '100', { policy: { relative: 0.01 } }).flags).toEqual([]);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [policy: Record<string, unknown>, message: string, why: string]>([
    [{ percnt: 'strict' },  'unknown policy "percnt"; did you mean "percent"?',                    'a misspelt name'],
    [{ percent: 'maybe' },  'policy "percent" is "maybe", not "sign-optional" or "strict"',        'a value there is not'],
    [{ decimals: -1 },      'policy "decimals" is -1, not a whole number from 0 to 100',           'a negative number of decimals'],
    [{ relative: '1 %' },   'policy "relative" is "1 %", not a number from 0 to below 1',          'a text for a number'],
    [{ reasoning: '<x>' },  'policy "reasoning" is "<x>", not a list of [open, close] tags',       'a text for a list'],
  ])('the policy %j is an error: %s (%s)', (policy, message) => {
    expect(() => grade('5', '5', { policy })).toThrow(message);
  });

  test('reasoning in tags of a model’s own is left out when the policy names them', () => {
    const policy = { reasoning: [['<Plan>', '</Plan>']] };
    expect(grade('<plan>7</plan>5', '5', { policy }).verdict).toBe('correct');
  });

  property.prop([
    fc.bigInt(),
    fc.constantFrom('%', 'The answer is %.', '#### %', '\\boxed{%}', 'so it is %'),
    fc.bigInt(),
  ])('a number is right for itself and for no other, however it is said', (gold, form, other) => {
    const answer = form.replace('%', `${gold}`);
    expect(grade(answer, `${gold}`).verdict).toBe('correct');
    if (other !== gold) expect(grade(answer, `${other}`).verdict).toBe('incorrect');
  });

  property.prop([fc.string({ unit: 'grapheme', maxLength: 80 }), fc.bigInt()])(
    'a span is where the extracted text stands',
    (prediction, gold) => {
      const { span, extracted, verdict, score } = grade(prediction, `${gold}`);
      expect(span === null).toBe(extracted === null);
      if (span !== null) expect(prediction.slice(...span)).toBe(extracted);
      expect(score).toBe(verdict === 'correct' ? 1 : 0);
    },
  );
});

describe('numeric in official mode', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['#### 12\n#### 11',           '11',    'incorrect', 'the first mark, though models recite examples first'],
    ['#### 1,234',                 '1234',  'correct',   'commas are deleted'],
    ['so 5\n#### 5',               '4 + 1 = 5\n#### 5', 'correct', 'a gold in the form of the data set'],
    ['#### $29.00',                '29',    'unparsed',  'a currency sign hides the number'],
    ['#### 29.00',                 '29',    'incorrect', 'text is compared, not value'],
    ['#### 29.',                   '29',    'incorrect', 'a full stop belongs to the text'],
    ['The answer is 29',           '29',    'unparsed',  'no mark'],
    ['<think>#### 3</think>#### 5', '3',    'correct',   'reasoning is not known to it'],
    ['',                           '3',     'empty',     'nothing'],
  ])('%j for gold %j is %s: %s', (prediction, gold, verdict) => {
    expect(grade(prediction, gold, { mode: 'official' })).toMatchObject({ verdict, mode: 'official' });
  });

  test('a finish reason is not known to it', () => {
    expect(grade('#### 5', '5', { mode: 'official', finish_reason: 'length' }).verdict).toBe('correct');
  });
});

describe('numeric for votes', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, vote: string | null, why: string]>([
    ['The answer is $1,200.00.', '1200',  'written the shortest way'],
    ['so 2/4',                   '1/2',   'in lowest terms'],
    ['that is 60%',              '60%',   'with its percent sign'],
    ['no idea',                  null,    'no number, no vote'],
    ['<think>so 5',              null,    'unended reasoning does not vote'],
    ['1e99999',                  null,    'nor does what cannot be computed'],
  ])('%j votes %j: %s', (text, vote) => {
    expect(numeric.extract(text, { options: null })).toBe(vote);
  });

  test('two ways to write a number are one answer', () => {
    expect(numeric.same('0.5', '1/2')).toBe(true);
    expect(numeric.same('60%', '60')).toBe(true);
    expect(numeric.same('5', '50')).toBe(false);
    expect(numeric.same('x', 'x')).toBe(true);
    expect(numeric.same('x', '1')).toBe(false);
  });
});
