import { fc, test as property } from '@fast-check/vitest';
import type { GradeInput } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { choice } from './choice.js';

const grade = (prediction: string, gold: string, rest: Partial<GradeInput> = {}) =>
  choice.grade({ prediction, gold, option_count: 4, ...rest });

describe('choice', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, label: string | null, rule: string | null, why: string]>([
    ['B',                                              'B', 'choice.format', 'a bare label'],
    ['(b).',                                           'b', 'choice.format', 'a bare label, small, wrapped'],
    ['**B**',                                          'B', 'choice.format', 'a bare label, emphasised'],
    ['ANSWER: C',                                      'C', 'choice.format', 'the demanded line, not its first capital'],
    ['Answer: $B$',                                    'B', 'choice.format', 'in math'],
    ['Answer:\n\n**(D)**',                             'D', 'choice.format', 'on a line of its own'],
    ['The answer is (A).',                             'A', 'choice.format', 'the demanded sentence'],
    ['The answer is \\(\\boxed{B}\\).',                'B', 'choice.format', 'the demanded sentence, boxed'],
    ['\\text{The answer is } (A)',                     'A', 'choice.format', 'the demanded sentence as LaTeX text'],
    ['{"reason": "…", "answer": "C"}',                 'C', 'choice.format', 'a JSON field'],
    ['<answer>C</answer> not D',                       'C', 'choice.format', 'an answer element'],
    ['Answer: ａ',                                     'ａ', 'choice.format', 'a full-width letter'],
    ['The answer is (A). No: the answer is (B).',      'B', 'choice.format', 'the last one counts'],
    ['Answer: B\nThe correct option is C.',            'B', 'choice.format', 'the demanded form wins over other phrases'],
    ['so \\boxed{\\text{(C)}}',                        'C', 'choice.boxed',  'a box with text commands'],
    ['so oxed{C}',                                     'C', 'choice.boxed',  'a box that lost letters'],
    ['\\boxed{A} is wrong, \\boxed{B}',                'B', 'choice.boxed',  'the last box'],
    ['The correct option is B.',                       'B', 'choice.anchor', 'an anchor phrase'],
    ['the best choice would be option D',              'D', 'choice.anchor', 'an anchor phrase with filler words'],
    ['The answer to this question is therefore C',     'C', 'choice.anchor', 'words between'],
    ['I choose B',                                     'B', 'choice.anchor', 'a verb'],
    ['Option C is correct.',                           'C', 'choice.anchor', 'the label first'],
    ['B is the correct answer.',                       'B', 'choice.anchor', 'the label first, at the start of a sentence'],
    ['The answer is A because heat rises.',            'A', 'choice.format', 'what follows shows that it is no article'],
    ['Antwort:\n\nAntwort: C',                         'C', 'choice.anchor', 'German: not the A of the word'],
    ['Respuesta: D',                                   'D', 'choice.anchor', 'Spanish'],
    ['Réponse : B',                                    'B', 'choice.anchor', 'French, a blank before the colon'],
    ['정답은 C입니다',                                   'C', 'choice.anchor', 'Korean'],
    ['答えは B',                                         'B', 'choice.anchor', 'Japanese'],
    ['所以答案是：C。',                                   'C', 'choice.anchor', 'Chinese'],
    ['故选D',                                            'D', 'choice.anchor', 'Chinese, short'],
    ['A 和 B 都不成立，只有选项C是对的',                    'C', 'choice.anchor', 'Chinese, the label before its predicate'],
    ['الإجابة: ب',                                     'ب', 'choice.anchor', 'Arabic, with a letter of its own'],
    ['উত্তর: ড',                                        'ড', 'choice.anchor', 'Bengali, with a letter of its own'],
    ['Heat moves to cold.\nC',                         'C', 'choice.line',   'the last line'],
    ['Heat moves to cold.\nC) because it does',        'C', 'choice.line',   'the last line with text, options not known'],
    ['C\n\nHeat moves from hot to cold.',              'C', 'choice.lead',   'the first line'],
    ['<think>The answer is A.</think> The answer is (C)', 'C', 'choice.format', 'reasoning does not count'],
    ['Answer: A\n\nQuestion: next?\nAnswer: B',        'A', 'choice.format', 'the model went on to a question of its own'],
    ['I cannot decide.',                               null, null, 'a pronoun is no label'],
    ['The answer is (Cannot be determined).',          null, null, 'a word that begins with a label'],
    ['The answer is II.',                              null, null, 'nor a numeral'],
    ["Answer: Let's see",                              null, null, 'nor a word'],
    ["Answer: I'd say so",                             null, null, 'nor a contraction'],
    ['The best answer is a combination of both.',      null, null, 'an article'],
    ['The answer is A combination of both.',           null, null, 'an article with a capital'],
    ['The answer is not B.',                           null, null, 'denied'],
    ['The incorrect option is B.',                     null, null, 'denied by its adjective'],
    ['We can rule out the choice: B',                  null, null, 'denied by its verb'],
    ['The answer is B-cell activation',                null, null, 'a hyphenated word'],
    ['The answer is A.M.',                             null, null, 'an abbreviation'],
    ['The answer is 5',                                null, null, 'a number is no letter'],
    ['Consider each choice:\n(A) cold (B) hot',        null, null, 'talk about the options'],
    ['A. cold\nB. warm\nC. hot\nD. mild',              null, null, 'options recited'],
    ['The temperature rises to 37 C',                  null, null, 'a unit'],
  ])('%j names %j by %s: %s', (answer, label, rule) => {
    expect(grade(answer, 'D')).toMatchObject({ extracted: label, rule });
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, flags: readonly string[], verdict: string, why: string]>([
    ['The answer is A or B.',              ['multiple'],            'unparsed',  'two options under one anchor'],
    ['Answer: A, C',                       ['multiple'],            'unparsed',  'two with a comma'],
    ['Answer: A/B',                        ['multiple'],            'unparsed',  'two with a slash'],
    ['Answer: B and B',                    [],                      'correct',   'the same one twice is one'],
    ['Answer: A or C. So the answer is B', ['multiple-candidates'], 'correct',   'a later single one counts'],
    ['The answer is B, I think.',          [],                      'correct',   'a pronoun behind a comma is no second label'],
    ['The answer is B, A is too small.',   [],                      'correct',   'nor is the subject of another clause'],
    ['The answer is (F). Hmm.',            ['out-of-range'],        'unparsed',  'there is no such option'],
    ['The answer is B. The answer is F.',  ['out-of-range'],        'correct',   'the next candidate is looked at'],
    ['The answer is A. The answer is B.',  ['multiple-candidates'], 'correct',   'two anchors that differ'],
  ])('%j has the flags %j and is %s: %s', (answer, flags, verdict) => {
    expect(grade(answer, 'B')).toMatchObject({ flags, verdict });
  });

  const options = ['a fine', 'C major', 'Paris, France', '[0, 1]'];

  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, gold: string, rule: string | null, why: string]>([
    ['The answer is Paris, France.',   'C', 'choice.text', 'the text of an option behind an anchor'],
    ['It plays in\n**C major**',       'B', 'choice.text', 'the text of an option on the last line'],
    ['The answer is C major.',         'B', 'choice.text', 'a label that is the first word of another option'],
    ['The answer is [0, 1].',          'D', 'choice.text', 'brackets at both ends'],
    ['The answer is C. Paris, France', 'C', 'choice.format', 'a label with its text'],
    ['so:\nC. Paris, France',          'C', 'choice.line', 'a last line with its text'],
    ['so:\nC. Madrid, Spain',          'C', null,          'a last line with a text that is none of the options'],
    ['A fine',                         'A', 'choice.text', 'an article is part of a text'],
    ['C. Paris, France\n\nIt is big.', 'C', 'choice.lead', 'a first line with its text'],
    ['C major\n\nIt is big.',          'B', 'choice.lead', 'a first line that is an option’s text'],
    ['A. a fine\nB. C minor',          'A', null,          'the first line of a list, its second line misquoted'],
  ])('with option texts, %j for gold %s goes by %s: %s', (answer, gold, rule) => {
    expect(choice.grade({ prediction: answer, gold, options })).toMatchObject({
      rule,
      verdict: rule === null ? 'unparsed' : 'correct',
    });
  });

  test('a text that two options share names neither', () => {
    const input = { prediction: 'The answer is yes.', gold: 'A', options: ['yes', 'yes', 'no'] };
    expect(choice.grade(input).verdict).toBe('unparsed');
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, gold: string, count: number | null, verdict: string, why: string]>([
    ['ANSWER: 10', '10', 36,   'correct',   'labels after Z are numbers, compared whole'],
    ['ANSWER: 1',  '10', 36,   'incorrect', 'one of its digits is another label'],
    ['ANSWER: Z',  'Z',  36,   'correct',   'letters stay labels'],
    ['Answer: 3',  '3',  4,    'correct',   'options named by numbers'],
    ['Answer: 7',  '3',  4,    'unparsed',  'a number beyond them'],
    ['Answer: J',  'J',  null, 'correct',   'the number of options is not known'],
    ['Answer: B',  '(b)', 4,   'correct',   'a gold in brackets, small'],
    ['Answer: B',  'F',  4,    'unscored',  'a gold beyond the options'],
    ['Answer: B',  '',   4,    'unscored',  'no gold'],
  ])('%j for gold %j of %j options is %s: %s', (prediction, gold, count, verdict) => {
    expect(choice.grade({ prediction, gold, option_count: count }).verdict).toBe(verdict);
  });

  test('a gold may be the text of an option', () => {
    expect(choice.grade({ prediction: 'Answer: B', gold: 'red', options: ['blue', 'red'] }).verdict).toBe(
      'correct',
    );
  });

  const letters = fc.constantFrom('A', 'B', 'C', 'D');
  const forms = fc.constantFrom(
    '%',
    '(%)',
    'Answer: %',
    'The answer is (%).',
    '\\boxed{%}',
    'I choose %',
    'so\n**%**',
    '答案是%',
  );

  property.prop([letters, letters, forms])(
    'a label is right for itself and for no other, however it is said',
    (said, gold, form) => {
      const { verdict, span, extracted } = grade(form.replace('%', said), gold);
      expect(verdict).toBe(said === gold ? 'correct' : 'incorrect');
      expect(form.replace('%', said).slice(...span!)).toBe(extracted);
    },
  );

  property.prop([fc.string({ unit: 'grapheme', maxLength: 120 }), letters])(
    'a span is where the extracted text stands',
    (prediction, gold) => {
      const { span, extracted, verdict } = grade(prediction, gold);
      if (span !== null) expect(prediction.slice(...span)).toBe(extracted);
      expect(verdict === 'correct' || verdict === 'incorrect').toBe(span !== null);
    },
  );
});

describe('choice in official mode', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, letter: string | null, rule: string | null, why: string]>([
    ['The answer is (I). The answer is (E).', 'I', 'mmlu_pro.answer_is',    'the first of several'],
    ['The answer is (Cannot be said).',       'C', 'mmlu_pro.answer_is',    'the first letter of a word'],
    ['the answer is II.',                     'I', 'mmlu_pro.answer_is',    'a numeral'],
    ['Answer: Cannot',                        'C', 'mmlu_pro.answer_colon', 'the second pattern'],
    ['answer: A, answer: B\nanswer: C',       'B', 'mmlu_pro.answer_colon', 'the last of the first line that has one'],
    ['answer: x\nanswer: C, Answer:\nD',      'D', 'mmlu_pro.answer_colon', 'blanks may cross lines'],
    ['either B or C, I guess',                'I', 'mmlu_pro.last_letter',  'the last lone capital'],
    ['éA Bö A_ C',                            'C', 'mmlu_pro.last_letter',  'letters and underscores join words'],
    ['no capital here',                       null, null,                   'no letter is drawn at random'],
    ['<think>B</think>',                      'B', 'mmlu_pro.last_letter',  'reasoning is not known to it'],
  ])('%j gives %j by %s: %s', (prediction, letter, rule) => {
    expect(grade(prediction, 'A', { mode: 'official' })).toMatchObject({
      extracted: letter,
      rule,
      verdict: letter === null ? 'unparsed' : 'incorrect',
    });
  });
});

describe('choice for votes', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, options: readonly string[] | null, vote: string | null, why: string]>([
    ['the answer is (b)', ['1', '2', '3'], 'B',  'in the key’s case'],
    ['It is\n2',          ['1', '2', '3'], 'B',  'by the text of an option'],
    ['the answer is (d)', ['1', '2', '3'], null, 'beyond the options'],
    ['A or B',            ['1', '2', '3'], null, 'undecided'],
    ['Answer: J',         null,            'J',  'options not known'],
  ])('%j of %j votes %j: %s', (text, options, vote) => {
    expect(choice.extract(text, { options })).toBe(vote);
  });

  test('labels are compared whole', () => {
    expect([choice.same('A', 'A'), choice.same('1', '10')]).toEqual([true, false]);
  });
});
