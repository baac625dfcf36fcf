import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../numeric/random.js';
import {
  ANSWER_AT,
  answerOf,
  type Chain,
  COLON,
  chainText,
  drawChain,
  END,
  EQUALS,
  isHeldOut,
  LONGER,
  MODULUS,
  MOST_WRITTEN,
  POSITIONS,
  parseChain,
  promptTokens,
  resultsOf,
  TRAINED,
  tokenText,
  VOCABULARY,
  workedTokens,
  writtenAnswer,
} from './chains.js';

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const lengths = fc.constantFrom(TRAINED, LONGER);

/** A chain of a text. */
const chain = (text: string): Chain => parseChain(text)!;

describe('a chain', () => {
  // biome-ignore format: a table is read in columns
  it.each([
    { text: '3 + 5',         want: [(3 + 5) % MODULUS],                                     why: 'a sum' },
    { text: '1 - 2',         want: [MODULUS - 1],                                           why: 'below 0 it wraps round' },
    { text: '1 + 2 * 3',     want: [3, 9 % MODULUS],                                        why: 'from left to right, whatever the operator' },
    { text: '2 - 2 * 5',     want: [0, 0],                                                  why: '0 stays 0 when multiplied' },
  ])('of $text gives $want: $why', ({ text, want }) => {
    expect(resultsOf(chain(text))).toEqual(want);
    expect(answerOf(chain(text))).toBe(want.at(-1));
  });

  it('is tokens of one number or sign each, with a worked solution that ends in its answer', () => {
    const own = chain('1 + 2 * 3');
    expect(promptTokens(own)).toEqual([1, 23, 2, 25, 3, COLON]);
    expect(workedTokens(own)).toEqual([1, 3, 9 % MODULUS, EQUALS, 9 % MODULUS, END]);
    expect(workedTokens(own).map(tokenText).join(' ').trim()).toBe(`1 3 ${9 % MODULUS} = ${9 % MODULUS}`);
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { tokens: [3, EQUALS, 3, END],         want: 3,    why: 'an answer' },
    { tokens: [EQUALS, 3, END],            want: 3,    why: 'without work' },
    { tokens: [3, EQUALS, 3],              want: null, why: 'not ended' },
    { tokens: [3, 3, END],                 want: null, why: 'no sign before it' },
    { tokens: [3, EQUALS, COLON, END],     want: null, why: 'no number' },
    { tokens: [EQUALS, 3, 4, END],         want: null, why: 'two numbers' },
    { tokens: [],                          want: null, why: 'nothing' },
  ])('is answered by $want in $tokens: $why', ({ tokens, want }) => {
    expect(writtenAnswer(tokens)).toBe(want);
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { text: '3',                   why: 'no operation' },
    { text: '3 +',                 why: 'cut off' },
    { text: `${MODULUS} + 1`,      why: 'no residue' },
    { text: '3 / 1',               why: 'no operator of the vocabulary' },
    { text: '3 + 1.5',             why: 'no whole number' },
    { text: '1 + 1 + 1 + 1 + 1 + 1 + 1 + 1', why: 'longer than a policy can be asked' },
    { text: '',                    why: 'nothing' },
  ])('is not read from "$text": $why', ({ text }) => {
    expect(parseChain(text)).toBeNull();
  });
});

describe('chains that are drawn', () => {
  test.prop([seeds, lengths, fc.boolean()])(
    'are read back from their text, fit the model, and lie on the side of the split that was asked for',
    (seed, some, held_out) => {
      const own = drawChain(createRandom(seed, 'chains'), { lengths: some, held_out });
      expect(some).toContain(own.operations.length);
      expect(isHeldOut(own)).toBe(held_out);
      expect(parseChain(chainText(own))).toEqual(own);
      const prompt = promptTokens(own);
      expect(prompt.length).toBeLessThanOrEqual(ANSWER_AT);
      expect(ANSWER_AT + MOST_WRITTEN).toBeLessThanOrEqual(POSITIONS);
      expect(workedTokens(own).length).toBeLessThanOrEqual(MOST_WRITTEN);
      for (const token of [...prompt, ...workedTokens(own)]) expect(token).toBeLessThan(VOCABULARY);
      expect(writtenAnswer(workedTokens(own))).toBe(answerOf(own));
    },
  );

  it('come to an end and say so where no chain is on the wanted side', () => {
    const stuck = { state: new Uint32Array(4), next: () => 0 };
    const side = isHeldOut(drawChain(createRandom(1, 'chains'), { lengths: [1], held_out: true }));
    const only = [true, false].map((held_out) => () => drawChain(stuck, { lengths: [1], held_out }));
    expect(side).toBe(true);
    expect(
      only.filter((draw) => {
        try {
          draw();
          return false;
        } catch {
          return true;
        }
      }),
    ).toHaveLength(1);
  });

  it('are held out one time in eight', () => {
    const random = createRandom(2, 'chains');
    const texts = Array.from({ length: 4000 }, () => {
      const n = 2 + Math.floor(random.next() * 3);
      const operations = Array.from({ length: n }, () => ({
        operator: '+' as const,
        operand: 1 + Math.floor(random.next() * (MODULUS - 1)),
      }));
      return isHeldOut({ first: 1 + Math.floor(random.next() * (MODULUS - 1)), operations });
    });
    const share = texts.filter(Boolean).length / texts.length;
    expect(Math.abs(share - 1 / 8)).toBeLessThan(0.03);
  });
});
