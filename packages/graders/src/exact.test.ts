import { describe, expect, test } from 'vitest';
import { exact } from './exact.js';

describe('exact', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [answer: string, gold: string, verdict: string, rule: string | null, why: string]>([
    ['Paris',                          'Paris',     'correct',   'exact.text',   'the whole text'],
    ['  **Paris**.\n',                 'Paris',     'correct',   'exact.text',   'marks and blanks around it do not count'],
    ['"New  York"',                    'New York',  'correct',   'exact.text',   'quotes and the width of blanks do not count'],
    ['paris',                          'Paris',     'incorrect', 'exact.text',   'case counts'],
    ['It is Paris',                    'Paris',     'incorrect', 'exact.text',   'no part of the text is enough'],
    ['Paris',                          'Paris, France', 'incorrect', 'exact.text', 'nor is a part of the gold'],
    ['f(x)',                           'f(x)',      'correct',   'exact.text',   'brackets belong to the answer'],
    ['f(x)',                           'f(x',       'incorrect', 'exact.text',   'all of them'],
    ['Let me see.\nAnswer: Paris',     'Paris',     'correct',   'exact.format', 'an answer line'],
    ['Answer: Rome\nAnswer: Paris',    'Paris',     'correct',   'exact.format', 'the last answer line'],
    ['**Final answer:** `Paris`',      'Paris',     'correct',   'exact.format', 'an answer line with marks'],
    ['so <answer> Paris </answer> ok', 'Paris',     'correct',   'exact.format', 'an answer element'],
    ['so \\boxed{Paris} ok',           'Paris',     'correct',   'exact.boxed',  'a box'],
    ['<think>Rome</think>Paris',       'Paris',     'correct',   'exact.text',   'reasoning does not count'],
    ['***',                            'Paris',     'unparsed',  null,           'nothing but marks'],
    ['',                               'Paris',     'empty',     null,           'nothing'],
    ['I cannot help with that.',       'Paris',     'incorrect', 'exact.text',   'a refusal is a text like any other here'],
    ['Paris',                          ' . ',       'unscored',  null,           'a gold of nothing but marks'],
  ])('%j for gold %j is %s: %s', (prediction, gold, verdict, rule) => {
    const grade = exact.grade({ prediction, gold });
    expect(grade).toMatchObject({ verdict, rule });
    if (grade.span !== null) expect(prediction.slice(...grade.span)).toBe(grade.extracted);
  });

  test('case does not count when the policy says so', () => {
    expect(exact.grade({ prediction: 'paris', gold: 'Paris', policy: { case: 'ignore' } }).verdict).toBe(
      'correct',
    );
    expect(() => exact.grade({ prediction: 'p', gold: 'p', policy: { case: 'maybe' } })).toThrow(
      '"match" or "ignore"',
    );
  });

  test('official mode compares the raw text', () => {
    const official = (prediction: string) =>
      exact.grade({ prediction, gold: 'Paris', mode: 'official' }).verdict;
    expect([official('Paris'), official('Paris '), official('<think></think>Paris')]).toEqual([
      'correct',
      'incorrect',
      'incorrect',
    ]);
  });

  test('votes are the answers without marks', () => {
    expect(exact.extract('Answer: **Paris**.', { options: null })).toBe('Paris');
    expect(exact.extract('<think>Paris', { options: null })).toBeNull();
    expect(exact.extract('…'.repeat(0), { options: null })).toBeNull();
  });
});
