import { createHash } from 'node:crypto';
import {
  createRng,
  type Dataset,
  type DatasetSpec,
  type Item,
  PerwattError,
  type Rng,
  seedFrom,
} from '@perwatt/core';
import { digestOf, GENERATED_ITEMS, type LoadContext, type Loader } from './dataset.js';
import { type Expression, expressionOf, longExpression, type Operator } from './expression.js';
import { type OptionReader, readOptions } from './options.js';
import { integer, pick, shuffled } from './random.js';

interface Level {
  readonly summary: string;
  readonly answer_tokens: number;
  readonly prompt: (expression: string) => string;
  /** Expressions, endlessly or until there are no more; repetitions are dropped. */
  readonly draw: (rng: Rng) => Iterable<Expression>;
}

const numberOnly = (expression: string) => `What is ${expression}? Reply with the number only.`;
const stepByStep = (expression: string) =>
  `Compute the value of ${expression}.\nWork step by step and finish with a line "#### N", where N is the value.`;

const oneDigit = { summary: 'sums of two one-digit numbers', answer_tokens: 32, prompt: numberOnly } as const;

const levels: readonly Level[] = [
  { ...oneDigit, draw: oneDigitSums },
  {
    summary: 'sums and differences of two two-digit numbers',
    answer_tokens: 48,
    prompt: numberOnly,
    draw: endless((rng) => {
      const [a, b] = [integer(rng, 10, 99), integer(rng, 10, 99)].sort((x, y) => y - x);
      return expressionOf([BigInt(a ?? 0), BigInt(b ?? 0)], [pick<Operator>(rng, ['+', '-'])]);
    }),
  },
  {
    summary: 'a product and a sum or difference of small numbers',
    answer_tokens: 256,
    prompt: stepByStep,
    draw: endless((rng) => {
      const operators = shuffled<Operator>(rng, ['×', pick<Operator>(rng, ['+', '-'])]);
      return expressionOf(operands(rng, 3, [2, 20]), operators);
    }),
  },
  {
    summary: 'four numbers of up to three digits, one pair of parentheses',
    answer_tokens: 512,
    prompt: stepByStep,
    draw: endless((rng) => {
      const operators = Array.from({ length: 3 }, () => pick<Operator>(rng, ['+', '-', '×']));
      const first = integer(rng, 0, 2);
      return expressionOf(operands(rng, 4, [10, 400]), operators, [[first, first + 1]]);
    }),
  },
  {
    summary: 'four to eleven numbers of three to seven digits, values of up to 16 digits',
    answer_tokens: 1024,
    prompt: stepByStep,
    draw: endless(longExpression),
  },
];

function* oneDigitSums(rng: Rng): Generator<Expression> {
  const pairs = Array.from({ length: 81 }, (_, i) => [BigInt(Math.floor(i / 9) + 1), BigInt((i % 9) + 1)]);
  for (const pair of shuffled(rng, pairs)) yield expressionOf(pair, ['+']);
}

function endless(draw: (rng: Rng) => Expression) {
  return function* (rng: Rng): Generator<Expression, never> {
    for (;;) yield draw(rng);
  };
}

/** Level 1 with differences beside its sums: 126 questions. */
const withDifferences: Level = { ...oneDigit, draw: oneDigitSumsAndDifferences };

function* oneDigitSumsAndDifferences(rng: Rng): Generator<Expression> {
  const digits = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n];
  const pairs = digits.flatMap((a) => digits.map((b) => [a, b]));
  const all = [
    ...pairs.map((pair) => expressionOf(pair, ['+'])),
    ...pairs.filter(([a = 0n, b = 0n]) => a >= b).map((pair) => expressionOf(pair, ['-'])),
  ];
  yield* shuffled(rng, all);
}

const operands = (rng: Rng, count: number, [low, high]: readonly [number, number]) =>
  Array.from({ length: count }, () => BigInt(integer(rng, low, high)));

const splits = ['all', 'train', 'test'] as const;
const operations = ['sums', 'both'] as const;
const TEST_SHARE = 0.1;

/** Generated arithmetic in five levels of difficulty; the same seed gives the same questions. */
export const arithmetic: Loader = {
  entry: {
    id: 'arithmetic',
    kind: 'generated',
    grader: 'numeric',
    licence: 'Apache-2.0',
    summary: 'generated arithmetic in five levels, from one-digit sums to long expressions',
    options: [
      {
        name: 'level',
        summary: `1 to ${levels.length}, default 1: ${levels.map((l, i) => `${i + 1} ${l.summary}`).join('; ')}`,
      },
      {
        name: 'split',
        summary: '"all" (default), or "train" and "test", which share no question; a tenth is "test"',
      },
      {
        name: 'operations',
        summary:
          'of level 1: "sums" (default, 81 questions), or "both", sums and differences that are not negative (126 questions)',
      },
    ],
  },
  async load(spec, context) {
    return load(spec, context);
  },
};

function levelOf(number: number, options: OptionReader): Level | undefined {
  if (options.oneOf('operations', operations) !== 'both') return levels[number - 1];
  if (number === 1) return withDifferences;
  throw new PerwattError(
    'INPUT_INVALID',
    `data set "arithmetic": option "operations" is of level 1 alone, the level is ${number}`,
  );
}

function load(spec: DatasetSpec, context: LoadContext): Dataset {
  const options = readOptions('arithmetic', spec.options, arithmetic.entry.options);
  const number = options.whole('level', { min: 1, max: levels.length }) ?? 1;
  const split = options.oneOf('split', splits) ?? 'all';
  const level = levelOf(number, options);
  if (level === undefined) throw new PerwattError('INPUT_INVALID', `there is no level ${number}`);
  const seed = spec.seed ?? context.seed;
  const wanted = spec.limit ?? GENERATED_ITEMS;
  const items: Item[] = [];
  for (const expression of questions(level, { seed, number, split })) {
    items.push(itemOf(expression, level, number));
    if (items.length === wanted) break;
  }
  if (items.length < wanted && spec.limit !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `data set "arithmetic": level ${number} has ${items.length} different questions, the limit asks for ${wanted}`,
    );
  return {
    id: 'arithmetic',
    version: 1,
    kind: 'generated',
    grader: 'numeric',
    guess_rate: 0,
    answer_tokens: level.answer_tokens,
    licence: arithmetic.entry.licence,
    digest: digestOf(items),
    items,
  };
}

const MAX_REPETITIONS = 2000;

/** The different questions of a level, in a fixed order; whether one is a test question depends on its place alone. */
function* questions(
  level: Level,
  {
    seed,
    number,
    split,
  }: { readonly seed: number; readonly number: number; readonly split: (typeof splits)[number] },
): Generator<Expression> {
  const sides = createRng(seedFrom(seed, 'arithmetic', 'split'));
  const seen = new Set<string>();
  let repetitions = 0;
  for (const expression of level.draw(createRng(seedFrom(seed, 'arithmetic', number)))) {
    if (seen.has(expression.text)) {
      repetitions += 1;
      if (repetitions > MAX_REPETITIONS) return;
      continue;
    }
    repetitions = 0;
    seen.add(expression.text);
    const side = sides() < TEST_SHARE ? 'test' : 'train';
    if (split === 'all' || split === side) yield expression;
  }
}

const itemOf = (expression: Expression, level: Level, number: number): Item => ({
  id: `l${number}-${nameOf(expression.text)}`,
  prompt: level.prompt(expression.text),
  gold: `${expression.value}`,
  options: null,
  subject: `level ${number}`,
});

/** The expression itself where it is short, so that one question has one id whatever the seed. */
function nameOf(expression: string): string {
  const short = expression.replaceAll(' ', '').replaceAll('×', 'x');
  return short.length <= 24 ? short : createHash('sha256').update(expression).digest('hex').slice(0, 16);
}
