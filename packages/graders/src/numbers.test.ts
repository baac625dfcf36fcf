import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { parseNumber, scanNumbers } from './numbers.js';
import { prepare } from './prepare.js';
import { equals, rational, toText } from './rational.js';

/** The numbers of a text as they stand there and as values; `…` where one is too long to compare. */
function read(raw: string): string[] {
  const { text } = prepare(raw);
  return scanNumbers(text).map(
    ({ start, end, value, percent }) =>
      `${text.slice(start, end)} → ${value === null ? '…' : toText(value)}${percent ? ' %' : ''}`,
  );
}

describe('scanNumbers', () => {
  // biome-ignore format: a table is read in columns
  test.each<readonly [text: string, numbers: readonly string[], why: string]>([
    ['42',                       ['42 → 42'],                     'plain digits'],
    ['007',                      ['007 → 7'],                     'leading zeros'],
    ['29.00.',                   ['29.00 → 29'],                  'decimals that are zero, then a full stop'],
    ['.4 and 0.5',               ['.4 → 2/5', '0.5 → 1/2'],       'a leading point'],
    ['x.5',                      ['5 → 5'],                       'a point behind a letter is no decimal point'],
    ['1,234,567',                ['1,234,567 → 1234567'],         'thousands with commas'],
    ['12,34',                    ['12,34 → 617/50'],              'decimal comma: not three digits'],
    ['3,14159',                  ['3,14159 → 314159/100000'],     'decimal comma: five digits'],
    ['0,125',                    ['0,125 → 1/8'],                 'no group follows a lone zero'],
    ['1,2,3',                    ['1 → 1', '2 → 2', '3 → 3'],     'several commas are a list'],
    ['1,234.50',                 ['1,234.50 → 2469/2'],           'thousands and decimals'],
    ['1.234,50',                 ['1.234,50 → 2469/2'],           'thousands with points need a decimal comma'],
    ['1.234',                    ['1.234 → 617/500'],             'without one it is a decimal point'],
    ['4 000 000 people',         ['4 000 000 → 4000000'],         'thousands with blanks'],
    ['4\u202f000',               ['4 000 → 4000'],                'thousands with narrow blanks'],
    ["1'234",                    ["1'234 → 1234"],                'thousands with apostrophes'],
    ['1{,}024',                  ['1{,}024 → 1024'],              'thousands in LaTeX'],
    ['1,\\!024',                 ['1,\\!024 → 1024'],             'thousands in LaTeX, set close'],
    ['1,23,456',                 ['1 → 1', '23,456 → 23456'],     'groups are of exactly three'],
    ['2020, 100',                ['2020 → 2020', '100 → 100'],    'a comma and a blank separate'],
    ['1234,567',                 ['1234 → 1234', '567 → 567'],    'four digits are no first group, three no decimals'],
    ['-5 and +5',                ['-5 → -5', '+5 → 5'],           'signs'],
    ['−5',                       ['-5 → -5'],                     'Unicode minus'],
    ['–5',                       ['-5 → -5'],                     'a dash used as minus'],
    ['3-5',                      ['3 → 3', '5 → 5'],              'a dash behind a digit is no sign'],
    ['3 – 5',                    ['3 → 3', '5 → 5'],              'nor one with blanks'],
    ['8 -5',                     ['8 → 8', '5 → 5'],              'nor an operator with one blank'],
    ['(2)-5',                    ['2 → 2', '5 → 5'],              'nor one behind a bracket'],
    ['x = -5',                   ['-5 → -5'],                     'a sign behind an equals sign'],
    ['- 5 apples',               ['5 → 5'],                       'a bullet is no sign'],
    ['COVID-19',                 ['19 → 19'],                     'a hyphen is no sign'],
    ['minus 5, negative 7',      ['minus 5 → -5', 'negative 7 → -7'], 'signs in words'],
    ['10 minus 5',               ['10 → 10', '5 → 5'],            'an operator in words'],
    ['-$5, $-5, -€ 5',           ['-$5 → -5', '-5 → -5', '5 → 5'], 'a sign and a currency sign'],
    ['US$29, 29 USD, Rs.50',     ['29 → 29', '29 → 29', '50 → 50'], 'currency codes'],
    ['1e3 2E-2',                 ['1e3 → 1000', '2E-2 → 1/50'],   'exponents'],
    ['1.5×10^{5}',               ['1.5×10^{5} → 150000'],         'powers of ten in LaTeX braces'],
    ['2 \\times 10^-3',          ['2 \\times 10^-3 → 1/500'],     'powers of ten with a command'],
    ['3×10⁸',                    ['3×10⁸ → 300000000'],           'raised exponents'],
    ['3 × 10',                   ['3 → 3', '10 → 10'],            'a product is no exponent'],
    ['3/4',                      ['3/4 → 3/4'],                   'fraction'],
    ['6/8',                      ['6/8 → 3/4'],                   'fraction, not in lowest terms'],
    ['5/0',                      ['5 → 5', '0 → 0'],              'no fraction over zero'],
    ['1/2/2020',                 ['1 → 1', '2 → 2', '2020 → 2020'], 'a date is no fraction'],
    ['\\frac{3}{4} \\dfrac12',   ['\\frac{3}{4} → 3/4', '\\dfrac12 → 1/2'], 'fractions in LaTeX'],
    ['-\\frac{3}{4}',            ['-\\frac{3}{4} → -3/4'],        'negative fraction in LaTeX'],
    ['2 1/2',                    ['2 1/2 → 5/2'],                 'mixed number'],
    ['-2 1/2',                   ['-2 1/2 → -5/2'],               'negative mixed number'],
    ['2\\frac{1}{2}',            ['2\\frac{1}{2} → 5/2'],         'mixed number in LaTeX'],
    ['2½ and ¾',                 ['2½ → 5/2', '¾ → 3/4'],         'fractions of one character'],
    ['7 3/2',                    ['7 → 7', '3/2 → 3/2'],          'an improper fraction is no part of a mixed number'],
    ['60%, 60 percent, 60\\%',   ['60% → 60 %', '60 percent → 60 %', '60\\% → 60 %'], 'percent'],
    ['x^2 + a_1 + 10^{6}',       [],                              'exponents, subscripts and bases of powers are no answers'],
    ['H2O, A1, v2',              [],                              'nor are numbers inside words'],
    ['共有12个',                 ['12 → 12'],                     'scripts without blanks'],
    ['_5_ **6** __7__',          ['5 → 5', '6 → 6', '7 → 7'],     'emphasis'],
    ['５６',                     ['56 → 56'],                     'full-width digits'],
    ['5km 10am',                 ['5 → 5', '10 → 10'],            'units may follow at once'],
    [`${'9'.repeat(257)}`,       [`${'9'.repeat(257)} → …`],      'too many digits to compare'],
    ['1e10001',                  ['1e10001 → …'],                 'an exponent too large to compute'],
    ['no number',                [],                              'nothing'],
    ['',                         [],                              'empty'],
  ])('%j holds %j: %s', (text, numbers) => {
    expect(read(text)).toEqual(numbers);
  });

  const integers = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

  property.prop([integers])('a whole number has its value however its thousands are grouped', (n) => {
    const digits = `${n}`;
    for (const separator of ['', ',', ' ', "'", '{,}']) {
      const grouped = digits.replaceAll(/\B(?=(\d{3})+(?!\d))/g, separator);
      const token = parseNumber(grouped);
      expect(token?.value, grouped).not.toBeNull();
      expect(toText(token!.value!), grouped).toBe(digits);
    }
  });

  property.prop([fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 1, max: 9 })])(
    'a decimal is its digits over a power of ten',
    (n, places) => {
      const sign = n < 0n ? '-' : '';
      const digits = `${n < 0n ? -n : n}`.padStart(places + 1, '0');
      const text = `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
      expect(equals(parseNumber(text)!.value!, rational(n, 10n ** BigInt(places))), text).toBe(true);
    },
  );

  property.prop([fc.string({ unit: 'grapheme', maxLength: 60 })])(
    'tokens are in order, apart, and inside the text',
    (raw) => {
      const { text } = prepare(raw);
      let at = 0;
      for (const { start, end } of scanNumbers(text)) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThan(start);
        at = end;
      }
      expect(at).toBeLessThanOrEqual(text.length);
    },
  );

  property.prop([fc.string({ unit: fc.constantFrom(...'0123.,-/%^{}_ ()$e×½\\frac'), maxLength: 40 })])(
    'whatever marks stand between digits, tokens stay in order and apart',
    (text) => {
      const tokens = scanNumbers(text);
      for (const [i, token] of tokens.entries()) {
        expect(token.start).toBeGreaterThanOrEqual(tokens[i - 1]?.end ?? 0);
        expect(token.end).toBeGreaterThan(token.start);
      }
    },
  );
});
