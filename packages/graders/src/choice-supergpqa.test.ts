import { describe, expect, test } from 'vitest';
import { choice } from './choice.js';

const options = ['iron', 'copper (II) oxide', 'the sun', 'A', '$x^2$'];
const grade = (prediction: string, official = 'supergpqa') =>
  choice.grade({ prediction, gold: 'B', options, data: { official }, mode: 'official' });

// biome-ignore format: a table is read in columns
test.each<readonly [text: string, extracted: string | null, rule: string | null, why: string]>([
  ['The answer is B.',                               'B',  'supergpqa.letter.the_answer_is', 'the first shape'],
  ['the correct option is: $\\boxed{C}$.',           'C',  'supergpqa.letter.the_answer_is', 'a word between, a box in dollars'],
  ['The best answer is (D)',                         'D',  'supergpqa.letter.the_answer_is', 'brackets'],
  ['Answer: **B**',                                  'B',  'supergpqa.letter.answer_colon',  'emphasis'],
  ['**Answer**: \\text{E}',                          'E',  'supergpqa.letter.answer_colon',  'a text command'],
  ['B. copper',                                      'B',  'supergpqa.letter.at_the_start',  'the start of the text'],
  ['The answer is A.\nAnswer: B',                    'B',  'supergpqa.letter.answer_colon',  'the last line comes first'],
  ['Answer: C\nThe answer is A.\nThat is all.',      'A',  'supergpqa.letter.the_answer_is', 'then the shapes in their order, not the last one'],
  ['Answer: A\nmore\nAnswer: B\nmore',               'A',  'supergpqa.letter.answer_colon',  'of one shape the first'],
  ['Answer: B\n\n  \n',                              'B',  'supergpqa.letter.answer_colon',  'blank lines at the end'],
  ['The answer is a metal.',                         'a',  'supergpqa.letter.the_answer_is', 'an article: a fault of the original'],
  ['I think it shines.',                             'I',  'supergpqa.letter.at_the_start',  'the pronoun: another one'],
  ['Answer: Because of it',                          null, null,                             'a word that begins with a letter'],
  ['The answer is copper (II) oxide.',               'copper (II) oxide', 'supergpqa.content.the_answer_is', 'the text of an option'],
  ['Answer: the sun',                                null, null,                             'the second shape has no colon around a text'],
  ['Answer the sun',                                 'the sun', 'supergpqa.content.answer_colon', 'as it wants it'],
  ['Answer K: no',                                   null, null,                             'nothing'],
])('%j gives %j by %s: %s', (text, extracted, rule) => {
  const found = grade(text);
  expect({ extracted: found.extracted, rule: found.rule }).toEqual({ extracted, rule });
  if (found.span !== null) expect(text.slice(...found.span)).toBe(extracted);
});

test('a small letter is never right, a text is its option', () => {
  expect(grade('Answer: b')).toMatchObject({ verdict: 'incorrect', extracted: 'b' });
  expect(grade('Answer: B')).toMatchObject({ verdict: 'correct' });
  expect(grade('The answer is copper (II) oxide.')).toMatchObject({ verdict: 'correct' });
});

describe('the cascade of a benchmark', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['gpqa',     'Answer: $b$ or D',          'b',  'gpqa.answer_colon'],
    ['gpqa',     'The answer is B',           null, null],
    ['mmlu-pro', 'answer is B',               'B',  'mmlu_pro.answer_is'],
    ['other',    'answer is B',               'B',  'mmlu_pro.answer_is'],
  ])('%s', (official, text, extracted, rule) => {
    const found = grade(text, official);
    expect({ extracted: found.extracted, rule: found.rule }).toEqual({ extracted, rule });
  });

  test('can be asked for by policy', () => {
    const input = { prediction: 'Answer: c', gold: 'C', options, mode: 'official' as const };
    expect(choice.grade({ ...input, policy: { official: 'supergpqa' } }).rule).toMatch(/^supergpqa/);
    expect(() => choice.grade({ ...input, policy: { official: 'mmlu' } })).toThrow(
      'policy "official" is "mmlu"',
    );
  });

  test('takes long texts in its stride', () => {
    const spaces = ' '.repeat(300_000);
    for (const text of [
      `The answerx${spaces}`,
      `${'the answer '.repeat(50_000)}`,
      `Answer${'*'.repeat(200_000)}`,
      `Answer:${'\\boxed{'.repeat(50_000)}`,
      spaces,
    ])
      expect(['unparsed', 'empty', 'incorrect']).toContain(grade(`${text}x`).verdict);
  });
});
