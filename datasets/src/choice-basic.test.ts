import { describe, expect, test } from 'vitest';
import { loadDataset } from './catalogue.js';
import { choiceSubjects } from './choice-subjects.js';

const load = (options: Record<string, unknown> = {}, rest: { limit?: number; seed?: number } = {}) =>
  loadDataset({ kind: 'choice-basic', options, ...rest }, { root: '/', seed: 42 });

const ranks = (options: readonly string[], order: (a: string, b: string) => number) =>
  [...options].sort(order);
const numbers = (a: string, b: string) => Number(a) - Number(b);
const words = (a: string, b: string) => (a < b ? -1 : 1);

const SIZES: Readonly<Record<string, number>> = {
  'millimetres centimetre': 10,
  'centimetres metre': 100,
  'metres kilometre': 1000,
  'grams kilogram': 1000,
  'kilograms tonne': 1000,
  'millilitres litre': 1000,
  'seconds minute': 60,
  'minutes hour': 60,
  'hours day': 24,
  'days week': 7,
  'months year': 12,
};
const WEEK = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const YEAR = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Right answers worked out from the question alone, for the subjects where that takes a rule and no knowledge. */
const solvers: Readonly<
  Record<string, (question: string, options: readonly string[]) => string | undefined>
> = {
  'unit conversion': (q) => {
    const [, many, amount, one] = /How many (\w+) are in (\d+) (\w+?)s?\?/.exec(q)!;
    return `${SIZES[`${many} ${one}`]! * Number(amount)}`;
  },
  'ordering numbers': (q, options) => ranks(options, numbers).at(q.includes('largest') ? -1 : 0),
  'ordering words': (q, options) => ranks(options, words).at(q.includes('last') ? -1 : 0),
  calendar: (q) => {
    const name = /(\w+)\?/.exec(q)![1]!;
    const names = WEEK.includes(name) ? WEEK : YEAR;
    const step = q.includes('before') ? -1 : q.includes('two') ? 2 : 1;
    return names[(names.indexOf(name) + step + names.length) % names.length];
  },
  sequences: (q) => {
    const [a, b, c, d] = q.match(/\d+/g)!.map(Number) as [number, number, number, number];
    const adds = b - a === c - b;
    expect(adds ? d - c === b - a : b / a === d / c).toBe(true);
    return `${adds ? d + (b - a) : (d * b) / a}`;
  },
  logic: (q, options) => {
    const above = [...q.matchAll(/(\w+) is \w+ than (\w+)\./g)].map(([, a, b]) => [a!, b!] as const);
    const top = /tallest|oldest|fastest|heaviest/.test(q);
    return options.find((name) => above.every(([a, b]) => (top ? b : a) !== name));
  },
};

describe('choice-basic', () => {
  test('options differ, the key is one of them, and the prompt holds them with their letters', async () => {
    const { items } = await load({}, { limit: 400 });
    for (const { options, gold, prompt } of items) {
      expect(options).toHaveLength(4);
      expect(new Set(options).size).toBe(4);
      expect(['A', 'B', 'C', 'D']).toContain(gold);
      for (const [i, text] of options!.entries())
        expect(prompt).toContain(`\n${'ABCD'.charAt(i)}. ${text}\n`);
      expect(prompt.endsWith('Reply with the letter only.')).toBe(true);
    }
    expect(new Set(items.map((i) => i.id)).size).toBe(400);
  });

  test.each(Object.keys(solvers))(
    '%s: the key is what the question asks for, and no other option is',
    async (subject) => {
      const items = (await load({}, { limit: 400 })).items.filter((i) => i.subject === subject);
      expect(items.length).toBeGreaterThan(20);
      for (const { prompt, options, gold } of items) {
        const question = prompt.split('\n')[0]!;
        const right = solvers[subject]!(question, options!);
        expect(options![gold.charCodeAt(0) - 65], prompt).toBe(right);
      }
    },
  );

  test('logic: the facts settle the order of all', async () => {
    for (const { prompt, options } of (await load({}, { limit: 200 })).items.filter(
      (i) => i.subject === 'logic',
    )) {
      const facts = [...prompt.matchAll(/(\w+) is \w+ than (\w+)\./g)];
      expect(facts).toHaveLength(options!.length - 1);
      expect(new Set(facts.flatMap(([, a, b]) => [a, b]))).toEqual(new Set(options));
    }
  });

  test.each([3, 4])('with %i options, the place of the key and the subjects are balanced', async (count) => {
    const { items, guess_rate } = await load({ options: count }, { limit: 24 * choiceSubjects.length });
    const tally = (values: readonly (string | null)[]) => [
      ...new Map(values.map((v) => [v, values.filter((w) => w === v).length])).values(),
    ];
    expect(tally(items.map((i) => i.gold))).toEqual(Array(count).fill(items.length / count));
    expect(tally(items.map((i) => i.subject))).toEqual(Array(choiceSubjects.length).fill(24));
    expect(guess_rate).toBeCloseTo(1 / count, 12);
  });

  test('the same seed gives the same questions, another gives others', async () => {
    const [a, b, c] = await Promise.all([
      load({}, { seed: 1 }),
      load({}, { seed: 1 }),
      load({}, { seed: 2 }),
    ]);
    expect(b).toEqual(a);
    expect(c.digest).not.toBe(a.digest);
  });

  test('options it does not take are errors that name them', async () => {
    await expect(load({ options: 5 })).rejects.toThrow('option "options" is 5, not 3 or 4');
    await expect(load({ level: 1 })).rejects.toThrow('unknown option "level"');
  });

  test('asking for more than there is is an error', async () => {
    await expect(load({}, { limit: 100_000 })).rejects.toThrow(/lower the limit/);
  });
});
