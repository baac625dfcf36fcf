import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { pairTokens, referenceTokens } from './judge-prompts.js';
import { readCriteria, readScore, readToken } from './read-reply.js';

// biome-ignore format: a table is read in columns
test.each<readonly [reply: string, tokens: readonly string[], expected: string | null, why: string]>([
  ['VERDICT: CORRECT',                            referenceTokens, 'CORRECT',   'as it is asked for'],
  ['verdict: incorrect.',                         referenceTokens, 'INCORRECT', 'small letters and a full stop'],
  ['**Verdict:** **CORRECT**',                    referenceTokens, 'CORRECT',   'emphasis around both'],
  ['INCORRECT',                                   referenceTokens, 'INCORRECT', 'the word alone; the other one is a part of it'],
  ['"Correct."',                                  referenceTokens, 'CORRECT',   'alone in quotes'],
  ['Grade: CORRECT\nNo wait.\nGRADE: INCORRECT',  referenceTokens, 'INCORRECT', 'the last of two'],
  ['The final grade is B.',                       ['A', 'B'],      'B',         'the first capital is another word'],
  ['VERDICT: not CORRECT',                        referenceTokens, null,        'a word stands between'],
  ['VERDICT: CORRECTLY',                          referenceTokens, null,        'the beginning of a longer word'],
  ['The answer is correct.',                      referenceTokens, null,        'prose without an anchor'],
  ['judge says: **Answer: C**',                   ['A', 'B', 'C'], null,        'an anchor that was not asked for'],
  ['DEGRADE: A',                                  ['A', 'B'],      null,        'an anchor inside a word'],
  ['<think>VERDICT: CORRECT</think>\nVERDICT: INCORRECT', referenceTokens, 'INCORRECT', 'reasoning does not count'],
  ['<think>VERDICT: CORRECT',                     referenceTokens, null,        'reasoning that never ends'],
  ['',                                            referenceTokens, null,        'nothing'],
  ['VERDICT: [[A>>B]]',                           pairTokens,      'A>>B',      'in brackets'],
  ['VERDICT: A>B',                                pairTokens,      'A>B',       'the shorter of two that begin alike'],
  ['verdict: b>>a',                               pairTokens,      'B>>A',      'small letters'],
  ['VERDICT: A=B',                                pairTokens,      'A=B',       'a tie'],
  ['VERDICT: A',                                  pairTokens,      null,        'half a verdict'],
  ['VERDICT: A>>>B',                              pairTokens,      null,        'a level that there is not'],
])('%j of %j is %j: %s', (reply, tokens, expected) => {
  expect(readToken(reply, tokens)).toBe(expected);
});

// biome-ignore format: a table is read in columns
test.each<readonly [reply: string, expected: number | null]>([
  ['SCORE: 0.85', 0.85], ['Score: 1', 1], ['score is .5.', 0.5], ['0.25', 0.25], ['**Score:** 0', 0], ['SCORE: 0.2\nSCORE: 0.9', 0.9],
  ['SCORE: 85', null], ['SCORE: 85%', null], ['SCORE: 1.5', null], ['SCORE: 0.8/1', null], ['I give it 0.9', null], ['SCORE: -0.5', null], ['', null],
])('the score of %j is %j', (reply, expected) => {
  expect(readScore(reply)).toBe(expected);
});

// biome-ignore format: a table is read in columns
test.each<readonly [reply: string, count: number, expected: readonly boolean[] | null, why: string]>([
  ['CRITERION 1: MET\nCRITERION 2: UNMET',                  2, [true, false], 'one each'],
  ['- **Criterion 2:** met\n- **Criterion 1:** unmet',      2, [false, true], 'any order, emphasis'],
  ['CRITERION 1: MET\nCRITERION 1: UNMET',                  1, [false],       'the last one'],
  ['CRITERION 1: MET',                                      2, null,          'one is missing'],
  ['CRITERION 1: METALLIC',                                 1, null,          'a longer word'],
  ['all are met',                                           1, null,          'prose'],
])('criteria of %j (%i) are %j: %s', (reply, count, expected) => {
  expect(readCriteria(reply, count)).toEqual(expected);
});

describe('any reply', () => {
  property.prop([
    fc.string({ unit: fc.constantFrom(...'verdictgrade:is =*_CORRECTINAB>\n<think/>0.19 '), maxLength: 400 }),
  ])('is one of the tokens, or cannot be read', (reply) => {
    expect([...referenceTokens, null]).toContain(readToken(reply, referenceTokens));
    expect([...pairTokens, null]).toContain(readToken(reply, pairTokens));
    const score = readScore(reply);
    expect(score === null || (score >= 0 && score <= 1)).toBe(true);
  });

  test('of a million characters is read at once', () => {
    const long = `${'verdict '.repeat(60_000)}${'grade: '.repeat(60_000)}${'*'.repeat(100_000)}`;
    expect(readToken(long, referenceTokens)).toBeNull();
    expect(readScore(`score${' '.repeat(500_000)}`)).toBeNull();
    expect(readToken(`${long}\nVERDICT: CORRECT`, referenceTokens)).toBe('CORRECT');
  });
});
