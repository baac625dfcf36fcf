import { describe, expect, test } from 'vitest';
import { graderById, graders } from './graders.js';

describe('graders', () => {
  test('are found by name', () => {
    for (const grader of graders()) expect(graderById(grader.id)).toBe(grader);
    expect(graders().map((g) => g.id)).toEqual([
      'choice',
      'code',
      'em_f1',
      'exact',
      'judge',
      'literal',
      'math',
      'numeric',
      'plan',
      'puzzle_cells',
      'verifier',
    ]);
  });

  test('an unknown name is one error with the nearest name', () => {
    expect(() => graderById('choise')).toThrow('unknown grader "choise"; did you mean "choice"?');
    expect(() => graderById('judg')).toThrow(expect.objectContaining({ code: 'GRADER_UNKNOWN' }));
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['choice',  'C',      'C'],
    ['numeric', '-1,234', '-1234'],
    ['exact',   'Paris',  'Paris'],
  ])('%s: a gold is right for itself, and no failure, cut or empty answer ever scores', (id, prediction, gold) => {
    const grade = (rest: object) => graderById(id).grade({ prediction, gold, option_count: 4, ...rest });
    expect(grade({})).toMatchObject({ verdict: 'correct', score: 1 });
    expect(grade({ failed: true })).toMatchObject({ verdict: 'error', score: 0, extracted: null });
    expect(grade({ finish_reason: 'length' })).toMatchObject({ verdict: 'truncated', score: 0, salvaged: prediction });
    expect(grade({ finish_reason: 'content_filter' })).toMatchObject({ verdict: 'refused', score: 0 });
    expect(grade({ prediction: ' ' })).toMatchObject({ verdict: 'empty', score: 0 });
    expect(grade({ prediction: ' ', failed: true })).toMatchObject({ verdict: 'error', score: 0 });
  });

  test.each(['choice', 'numeric', 'exact'])('%s knows no policy of another name', (id) => {
    expect(() => graderById(id).grade({ prediction: '1', gold: '1', policy: { persent: 1 } })).toThrow(
      'unknown policy',
    );
  });
});
