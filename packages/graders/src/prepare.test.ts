import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { cutNextQuestion, prepare } from './prepare.js';

describe('prepare', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['<think>A</think>B',                        'B',        'a block goes'],
    ['x<think>A</think>y<think>B</think>z',      'xyz',      'several blocks go'],
    ['<THINK>A</Think>B',                        'B',        'tags in any case'],
    ['<thinking>A</thinking>B',                  'B',        'another tag'],
    ['[THINK]A[/THINK]B',                        'B',        'tags in square brackets'],
    ['A</think>B',                               'B',        'a block that the prompt opened'],
    ['A</think>B</think>C',                      'C',        'everything before the last such end goes'],
    ['<think>A</reasoning>B</think>C',           'C',        'the end of another tag does not end the block'],
    ['<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B', 'B', 'channels'],
    ['a \u2212 5\u00a0m, \uff21\uff1a\uff11',    'a - 5 m, A:1', 'minus, blanks and full-width forms are folded'],
    ['x² ½ π ∞ √ ×',                             'x² ½ π ∞ √ ×', 'what a full normalisation would break stays'],
    ['a\u200bb\ufeffc\u2060d',                   'abcd',     'characters without width go'],
    ['3\u20135 a\u2013b',                        '3-5 a\u2013b', 'a dash before a digit is a minus'],
    ['',                                         '',         'nothing stays nothing'],
  ])('%j becomes %j: %s', (raw, text) => {
    expect(prepare(raw).text).toBe(text);
    expect(prepare(raw).unclosed).toBe(false);
  });

  test('a block that never ends is told, and its content kept for what it would have given', () => {
    expect(prepare('x <think>so 7')).toMatchObject({ unclosed: true, text: 'x so 7' });
    expect(prepare('<think>a</think>b<think>c').unclosed).toBe(true);
  });

  test('tags of one’s own replace none of the default ones', () => {
    const tags = [['<plan>', '</plan>']] as const;
    expect(prepare('<plan>A</plan>B', tags).text).toBe('B');
  });

  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.constantFrom('<think>', '</think>', '\u2212', '\uff15', '\u200b', '\u3000', '[THINK]', '[/THINK]'),
    ),
    { maxLength: 12 },
  );

  property.prop([pieces, fc.nat(), fc.nat()])(
    'every range has a raw range that becomes the same text',
    (parts, a, b) => {
      const raw = parts.join('');
      const { text, rawSpan, unclosed } = prepare(raw);
      const [start, end] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y) as [
        number,
        number,
      ];
      fc.pre(end > start && !unclosed);
      const span = rawSpan(start, end);
      expect(span[0]).toBeGreaterThanOrEqual(0);
      expect(span[1]).toBeLessThanOrEqual(raw.length);
      const again = prepare(raw.slice(...span));
      fc.pre(!/think/i.test(raw.slice(...span)));
      expect(again.text.length).toBe(end - start);
    },
  );
});

describe('cutNextQuestion', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, end: number | null, cut: string, why: string]>([
    ['8\n\nQuestion: 3 + 4?\nAnswer: 7',   1,    '8\n\n',       'the next question goes'],
    ['8\nQ: 1 + 1?\n2',                    1,    '8\n',         'short form'],
    ['8\n**Problem 2:** 1 + 1?',           1,    '8\n',         'emphasis and a number'],
    ['8\n### Problem\n1 + 1?',             1,    '8\n',         'a heading'],
    ['Question: 2 + 6?\nAnswer: 8',        24,   'Question: 2 + 6?\nAnswer: 8', 'a question before the answer stays'],
    ['No answer.\nQuestion: why?',         null, 'No answer.\nQuestion: why?', 'nothing goes when there is no answer'],
    ['8, a good Question: why',            1,    '8, a good Question: why', 'only the start of a line counts'],
  ])('%j with an answer up to %j becomes %j: %s', (text, end, cut) => {
    expect(cutNextQuestion(text, end)).toBe(cut);
  });
});
