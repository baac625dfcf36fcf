import type { Rng } from '@perwatt/core';
import { integer, pick, several, shuffled } from './random.js';

/** A question with its one right answer and wrong ones, all different. */
export interface ChoiceQuestion {
  readonly question: string;
  readonly right: string;
  readonly wrong: readonly string[];
}

/** A kind of question; `draw` is asked for a number of wrong answers. */
export interface ChoiceSubject {
  readonly id: string;
  readonly draw: (rng: Rng, wrong: number) => ChoiceQuestion;
}

const UNITS: readonly (readonly [many: string, one: string, factor: number])[] = [
  ['centimetres', 'metre', 100],
  ['millimetres', 'centimetre', 10],
  ['metres', 'kilometre', 1000],
  ['grams', 'kilogram', 1000],
  ['kilograms', 'tonne', 1000],
  ['millilitres', 'litre', 1000],
  ['seconds', 'minute', 60],
  ['minutes', 'hour', 60],
  ['hours', 'day', 24],
  ['days', 'week', 7],
  ['months', 'year', 12],
];

function unitConversion(rng: Rng, wrong: number): ChoiceQuestion {
  const [many, one, factor] = pick(rng, UNITS);
  const amount = integer(rng, 1, 12);
  const right = amount * factor;
  const near = [
    right * 10,
    right * 100,
    right + factor,
    amount + factor,
    right * 2,
    right + amount * 5,
    amount * 10 + 1,
  ];
  return {
    question: `How many ${many} are in ${amount} ${one}${amount === 1 ? '' : 's'}?`,
    right: `${right}`,
    wrong: several(rng, different(near, right), wrong).map(String),
  };
}

function numberOrder(rng: Rng, wrong: number): ChoiceQuestion {
  const numbers = several(rng, range(2, 99), wrong + 1).sort((a, b) => a - b);
  const largest = rng() < 0.5;
  const ordered = largest ? numbers.toReversed() : numbers;
  const [right = 0, ...others] = ordered;
  const which = largest ? 'largest' : 'smallest';
  return { question: `Which number is the ${which}?`, right: `${right}`, wrong: others.map(String) };
}

const WORDS = [
  'apple',
  'bridge',
  'candle',
  'desert',
  'engine',
  'forest',
  'garden',
  'hammer',
  'island',
  'jacket',
  'kitchen',
  'lemon',
  'mirror',
  'needle',
  'orange',
  'pencil',
  'quilt',
  'river',
  'spoon',
  'tunnel',
  'umbrella',
  'violin',
  'window',
  'yellow',
  'zebra',
] as const;

function alphabet(rng: Rng, wrong: number): ChoiceQuestion {
  const words = several(rng, WORDS, wrong + 1).sort();
  const first = rng() < 0.5;
  const [right = '', ...others] = first ? words : words.toReversed();
  return { question: `Which word comes ${first ? 'first' : 'last'} in the alphabet?`, right, wrong: others };
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
const MONTHS = [
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
] as const;

function calendar(rng: Rng, wrong: number): ChoiceQuestion {
  const [names, noun] = rng() < 0.5 ? ([DAYS, 'day'] as const) : ([MONTHS, 'month'] as const);
  const at = integer(rng, 0, names.length - 1);
  const [step, words] = pick(rng, [
    [1, `comes right after`],
    [-1, `comes right before`],
    [2, `is two ${noun}s after`],
  ] as const);
  const right = names[(at + step + names.length) % names.length] ?? '';
  const others = names.filter((name, i) => name !== right && i !== at);
  return { question: `Which ${noun} ${words} ${names[at]}?`, right, wrong: several(rng, others, wrong) };
}

function sequence(rng: Rng, wrong: number): ChoiceQuestion {
  const [start, step, grows] = [integer(rng, 1, 12), integer(rng, 2, 9), rng() < 0.3];
  const factor = integer(rng, 2, 3);
  const terms = range(0, 4).map((i) => (grows ? start * factor ** i : start + step * i));
  const right = terms[4] ?? 0;
  const last = terms[3] ?? 0;
  const near = [right + 1, right - 1, last, right + step + 1, last + 1, right + 10];
  return {
    question: `Which number comes next: ${terms.slice(0, 4).join(', ')}?`,
    right: `${right}`,
    wrong: several(rng, different(near, right), wrong).map(String),
  };
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  fruit: ['apple', 'banana', 'pear', 'cherry', 'grape', 'plum'],
  animal: ['dog', 'horse', 'tiger', 'rabbit', 'sheep', 'cow'],
  colour: ['red', 'blue', 'green', 'yellow', 'purple', 'black'],
  vehicle: ['car', 'bus', 'train', 'bicycle', 'truck', 'tram'],
  tool: ['hammer', 'saw', 'screwdriver', 'pliers', 'drill', 'wrench'],
  'piece of furniture': ['table', 'chair', 'sofa', 'bed', 'desk', 'wardrobe'],
};

function category(rng: Rng, wrong: number): ChoiceQuestion {
  const kind = pick(rng, Object.keys(KINDS));
  const others = Object.entries(KINDS).flatMap(([name, members]) => (name === kind ? [] : members));
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a';
  return {
    question: `Which of these is ${article} ${kind}?`,
    right: pick(rng, KINDS[kind] ?? []),
    wrong: several(rng, others, wrong),
  };
}

const OPPOSITES: readonly (readonly [string, string])[] = [
  ['hot', 'cold'],
  ['big', 'small'],
  ['fast', 'slow'],
  ['open', 'closed'],
  ['light', 'dark'],
  ['full', 'empty'],
  ['early', 'late'],
  ['wet', 'dry'],
  ['loud', 'quiet'],
  ['strong', 'weak'],
  ['rich', 'poor'],
  ['young', 'old'],
];

function analogy(rng: Rng, wrong: number): ChoiceQuestion {
  const [[a, b] = ['', ''], [c, right] = ['', ''], ...others] = shuffled(rng, OPPOSITES);
  const words = others.map((pair) => pick(rng, pair));
  return { question: `"${a}" is to "${b}" as "${c}" is to what?`, right, wrong: words.slice(0, wrong) };
}

const NAMES = ['Anna', 'Ben', 'Clara', 'David', 'Emma', 'Felix', 'Greta', 'Hugo'] as const;
const RELATIONS = [
  ['taller', 'tallest', 'shortest'],
  ['older', 'oldest', 'youngest'],
  ['faster', 'fastest', 'slowest'],
  ['heavier', 'heaviest', 'lightest'],
] as const;

function logic(rng: Rng, wrong: number): ChoiceQuestion {
  const names = several(rng, NAMES, wrong + 1);
  const [more, most, least] = pick(rng, RELATIONS);
  const facts = names.slice(1).map((name, i) => `${names[i]} is ${more} than ${name}.`);
  const top = rng() < 0.5;
  const right = (top ? names[0] : names.at(-1)) ?? '';
  return {
    question: `${shuffled(rng, facts).join(' ')} Who is the ${top ? most : least}?`,
    right,
    wrong: names.filter((name) => name !== right),
  };
}

/** The subjects of the set, each with more different questions than a run needs. */
export const choiceSubjects: readonly ChoiceSubject[] = [
  { id: 'unit conversion', draw: unitConversion },
  { id: 'ordering numbers', draw: numberOrder },
  { id: 'ordering words', draw: alphabet },
  { id: 'calendar', draw: calendar },
  { id: 'sequences', draw: sequence },
  { id: 'categories', draw: category },
  { id: 'analogy', draw: analogy },
  { id: 'logic', draw: logic },
];

const range = (low: number, high: number) => Array.from({ length: high - low + 1 }, (_, i) => low + i);

const different = (numbers: readonly number[], right: number) =>
  [...new Set(numbers)].filter((n) => n !== right);
