import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { emF1 } from './em-f1.js';
import { normaliseAnswer, overlapOf } from './token-overlap.js';

describe('reading and judging', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['Paris', 'Paris', [], 'correct', 1, 'the bare answer'],
    ['It is far.\nAnswer: **the Eiffel Tower**.', 'Eiffel Tower', [], 'correct', 1, 'a demanded line; articles and marks go'],
    ['Paris Paris Paris Paris Paris', 'Paris', [], 'incorrect', 1 / 3, 'tokens count as often as they stand on both sides'],
    ['The answer is J. R. R. Tolkien. He wrote it in 1937.', 'J. R. R. Tolkien', [], 'correct', 1, 'initials end no sentence'],
    ['The answer is Rome. So the answer is Milan.', 'Milan', [], 'correct', 1, 'the last announced answer'],
    ['<think>Rome?</think><answer>NYC</answer>', 'New York City', ['NYC'], 'correct', 1, 'an alias is as right'],
    ['\\boxed{Ada Lovelace}', 'Lovelace', [], 'incorrect', 2 / 3, 'a part counts in part'],
    ['yes, he was', 'yes', [], 'incorrect', 0, 'no part of a yes'],
    ['no', 'yes', [], 'incorrect', 0, 'no is not yes'],
    ['L’Amour – a novel', "L'Amour a novel", [], 'incorrect', 0.4, 'other quotes and dashes stay tokens'],
    ['Answer: 1943–1992', '1943–1992', [], 'correct', 1, 'a dash before a digit is the same on both sides'],
    ['unrelated', 'Paris', [], 'incorrect', 0, 'nothing in common'],
  ] as const)('%j for %j', (prediction, gold, aliases, verdict, score, _why) => {
    const grade = emF1.grade({ prediction, gold, aliases });
    expect(grade.verdict).toBe(verdict);
    expect(grade.score).toBeCloseTo(score, 4);
    expect(prediction.slice(...grade.span!)).toBe(grade.extracted);
  });

  test('two answers that are empty once normalised are the same by squad2 and none by hotpot', () => {
    const input = { prediction: 'The', gold: 'the' };
    expect(emF1.grade({ ...input, policy: { f1: 'squad2' } })).toMatchObject({
      verdict: 'correct',
      score: 1,
    });
    expect(emF1.grade({ ...input, data: { kind: 'em_f1', f1: 'squad2' } }).verdict).toBe('correct');
    expect(emF1.grade(input)).toMatchObject({ verdict: 'unscored', score: null });
    expect(() => emF1.grade({ ...input, policy: { f1: 'squad' } })).toThrow('policy "f1"');
  });

  test('official mode judges the whole reply', () => {
    const grade = emF1.grade({ prediction: 'The answer is Paris.', gold: 'Paris', mode: 'official' });
    expect(grade).toMatchObject({ verdict: 'incorrect', rule: 'em_f1.raw' });
    expect(grade.score).toBeCloseTo(0.5, 12);
  });

  test('votes are over normal forms', () => {
    expect(emF1.extract('Answer: The Beatles!', { options: null })).toBe('beatles');
    expect(emF1.extract('Answer: ...', { options: null })).toBe(null);
  });
});

describe('overlap', () => {
  const texts = fc.string({
    unit: fc.constantFrom('a', 'b', 'the ', ' ', '.', 'yes', 'ß', '…'),
    maxLength: 24,
  });

  test.prop([texts, texts, fc.constantFrom('hotpot' as const, 'squad2' as const)])(
    'is symmetric, within 0…1, and 1 exactly for equal normal forms',
    (a, b, rules) => {
      const overlap = overlapOf(a, b, rules);
      expect(overlap).toEqual(overlapOf(b, a, rules));
      expect(overlap.f1).toBeGreaterThanOrEqual(0);
      expect(overlap.f1).toBeLessThanOrEqual(1);
      const equal = normaliseAnswer(a) === normaliseAnswer(b);
      const empty = normaliseAnswer(a) === '';
      expect(overlap.em).toBe(equal && (!empty || rules === 'squad2'));
    },
  );

  test.prop([texts])('a normal form is its own', (text) => {
    expect(normaliseAnswer(normaliseAnswer(text))).toBe(normaliseAnswer(text));
  });
});
