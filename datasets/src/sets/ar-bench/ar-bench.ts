import { optionLabel } from '../../dataset.js';
import { isRecord } from '../../options.js';
import { fieldOf, optionalText, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import type { ItemParts } from '../item-parts.js';
import { arBenchCard } from './card.js';

const TURNS = 25;
const graders = { dc: 'choice', sp: 'judge', gn: 'exact' } as const;
const tasks = ['dc', 'sp', 'gn'] as const;

/** AR-Bench: the split is the task. */
export const arBench = fileSet({
  card: arBenchCard,
  answer_tokens: 2048,
  prompts: {
    ours: { version: 1, source: 'Perwatt, one turn', text: '{question}\n\n{demand}' },
    official: {
      version: 1,
      source: 'the opening of the case; turns are played by the strategy',
      text: '{question}',
    },
  },
  graderFor: (options) => graders[options.oneOf('split', tasks) ?? 'dc'],
  read(row, { index, options }) {
    const task = options.oneOf('split', tasks) ?? 'dc';
    const id = `ar-bench-${task}-${optionalText(row, 'index') ?? index}`;
    return task === 'dc' ? detective(row, id) : task === 'sp' ? situation(row, id) : guess(row, id);
  },
});

function detective(row: Row, id: string): ItemParts {
  const opening = fieldOf(row, 'initial_information');
  if (opening === undefined)
    throw rowError(row.place, 'not a detective case: no "initial_information"; give `split`');
  const listed = isRecord(opening) ? opening['suspect'] : undefined;
  const names = (Array.isArray(listed) ? listed : []).map((s: unknown) => (isRecord(s) ? s['name'] : s));
  if (names.length < 2 || !names.every((name) => typeof name === 'string'))
    throw rowError(row.place, 'field "initial_information" has no list "suspect" with names');
  const label = fieldOf(row, 'label');
  if (typeof label !== 'number' || !Number.isInteger(label) || names[label] === undefined)
    throw rowError(
      row.place,
      `field "label" is ${JSON.stringify(label)}, none of the ${names.length} suspects`,
    );
  const murderer = optionalText(row, 'murderer');
  if (murderer !== null && murderer !== names[label])
    throw rowError(row.place, `field "label" names "${names[label]}", but "murderer" is "${murderer}"`);
  return {
    id,
    question: openingText(opening),
    gold: optionLabel(label),
    options: names,
    data: { kind: 'dialogue', game: 'detective', turns: TURNS, secret: { ...row.fields } },
    values: {
      demand: `Who is the murderer?\n${names.map((n, i) => `${optionLabel(i)}. ${n}`).join('\n')}\nFinish with "The answer is (X)", where X is the letter.`,
    },
  };
}

const openingText = (opening: unknown): string =>
  isRecord(opening)
    ? Object.entries(opening)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join('\n')
    : `${opening}`;

function situation(row: Row, id: string): ItemParts {
  const question = requiredText(row, 'surface');
  const points = fieldOf(row, 'key_question');
  return {
    id,
    question,
    gold: requiredText(row, 'bottom'),
    data: {
      kind: 'judge',
      way: 'reference',
      question,
      ...(Array.isArray(points) && { key_points: points.map(String) }),
    },
    values: { demand: 'What happened? Tell the story behind it in a few sentences.' },
  };
}

function guess(row: Row, id: string): ItemParts {
  const value = fieldOf(row, 'value');
  const secret = typeof value === 'number' ? `${value}`.padStart(4, '0') : `${value}`;
  if (!/^(?!.*(\d).*\1)\d{4}$/.test(secret))
    throw rowError(row.place, `the secret is "${secret.slice(0, 40)}", not four different digits`);
  return {
    id,
    question: 'I think of a number of four different digits from 0 to 9; the first may be 0.',
    gold: secret,
    data: { kind: 'dialogue', game: 'guess-number', turns: TURNS, secret: { number: secret } },
    values: { demand: 'Guess it. Finish with a line "Answer: N", where N are the four digits.' },
  };
}
