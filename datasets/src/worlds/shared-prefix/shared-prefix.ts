import { createRng, PerwattError, type Rng, seedFrom } from '@perwatt/core';
import type { OptionReader } from '../../options.js';
import { integer, shuffled } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet } from '../generated-set.js';

interface Level extends GeneratedLevel {
  /** Lockers that a question asks about. */
  readonly asked: number;
}

const levels: readonly Level[] = [
  { summary: 'what one line says', answer_tokens: 32, asked: 1 },
  { summary: 'the sum of what two lines say', answer_tokens: 64, asked: 2 },
];

/** Characters of a token in English text, about: lengths are asked for in tokens of no tokenizer in particular. */
const CHARACTERS = 4;
const MAX_TOKENS = 500_000;
const MAX_GROUP = 1024;

interface Locker {
  readonly number: number;
  readonly keys: number;
}

interface Shape {
  /** Questions about one text. */
  readonly group: number;
  readonly prefix_characters: number;
  readonly suffix_characters: number;
}

/** Questions in groups, each group about one long text that all its prompts begin with. */
export const sharedPrefix = generatedSet<Level>({
  id: 'shared-prefix',
  version: 1,
  grader: 'numeric',
  summary: 'generated questions in groups whose prompts begin with the same long text, for prefix caches',
  levels,
  options: [
    {
      name: 'prefix_tokens',
      summary: `length of the text that a group shares, in tokens of ${CHARACTERS} characters, 100 to ${MAX_TOKENS}, default 1000`,
    },
    {
      name: 'group',
      summary: `questions about one text, one behind the other, 1 to ${MAX_GROUP}, default 8`,
    },
    {
      name: 'suffix_tokens',
      summary: `length of a text of each question’s own behind that, 0 to ${MAX_TOKENS}, default 0`,
    },
  ],
  prepare({ asked }, options, { level, seed }) {
    const shape = shapeOf(options);
    let latest: { readonly index: number; readonly text: Group } | null = null;
    return (rng, attempt) => {
      const index = Math.floor(attempt / shape.group);
      if (latest?.index !== index) {
        const own = createRng(seedFrom(seed, 'shared-prefix', level, `group ${index}`));
        latest = { index, text: groupOf(own, shape, asked) };
      }
      return draw(latest.text, { at: attempt % shape.group, asked, shape, rng: rng('suffix') });
    };
  },
});

function shapeOf(options: OptionReader): Shape {
  const tokens = (name: string, min: number) => options.whole(name, { min, max: MAX_TOKENS });
  return {
    group: options.whole('group', { min: 1, max: MAX_GROUP }) ?? 8,
    prefix_characters: CHARACTERS * (tokens('prefix_tokens', 100) ?? 1000),
    suffix_characters: CHARACTERS * (tokens('suffix_tokens', 0) ?? 0),
  };
}

/** What the questions of a group share: the text, and the lockers in the order in which they are asked about. */
interface Group {
  readonly text: string;
  readonly lockers: readonly Locker[];
}

function groupOf(rng: Rng, { group, prefix_characters }: Shape, asked: number): Group {
  const { text, lockers } = linesOf(rng, prefix_characters, 'holds');
  if (lockers.length < group * asked)
    throw new PerwattError(
      'INPUT_INVALID',
      `data set "shared-prefix": a text of ${lockers.length} lines is too short for ${group} questions`,
      { hint: 'Set more `prefix_tokens` or a smaller `group`.' },
    );
  const intro = `This is the register of the lockers of building ${integer(rng, 100_000, 999_999)}.\n\n`;
  return { text: `${intro}${text}`, lockers: shuffled(rng, lockers) };
}

/** Lines on lockers with different numbers, until there are so many characters. */
function linesOf(rng: Rng, characters: number, verb: string) {
  const taken = new Set<number>();
  const lockers: Locker[] = [];
  let text = '';
  while (text.length < characters) {
    const number = integer(rng, 10_000, 999_999);
    if (taken.has(number)) continue;
    taken.add(number);
    const locker = { number, keys: integer(rng, 11, 99) };
    lockers.push(locker);
    text += `Locker ${number} ${verb} ${locker.keys} keys.\n`;
  }
  return { text, lockers };
}

interface Place {
  /** Place of the question in its group. */
  readonly at: number;
  readonly asked: number;
  readonly shape: Shape;
  readonly rng: Rng;
}

function draw({ text, lockers }: Group, { at, asked, shape, rng }: Place): Drawn {
  const own = lockers.slice(at * asked, (at + 1) * asked);
  const numbers = own.map(({ number }) => number).join(' and ');
  const notes =
    shape.suffix_characters === 0
      ? ''
      : `\nLockers of another building, which do not count:\n\n${linesOf(rng, shape.suffix_characters, 'has').text}`;
  const question =
    asked === 1
      ? `How many keys does locker ${numbers} hold?`
      : `How many keys do lockers ${numbers} hold together?`;
  return {
    prompt: `${text}${notes}\n${question} Reply with the number only.`,
    gold: `${own.reduce((sum, { keys }) => sum + keys, 0)}`,
    subject: asked === 1 ? 'one line' : 'two lines',
    data: { prefix_characters: text.length },
    prefix: text,
  };
}
