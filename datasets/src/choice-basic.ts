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
import { type ChoiceQuestion, type ChoiceSubject, choiceSubjects } from './choice-subjects.js';
import {
  digestOf,
  GENERATED_ITEMS,
  guessRate,
  type LoadContext,
  type Loader,
  optionLabel,
  optionLines,
} from './dataset.js';
import { readOptions } from './options.js';
import { balanced, shuffled } from './random.js';

/** Generated multiple choice over everyday knowledge; the right option's place is balanced. */
export const choiceBasic: Loader = {
  entry: {
    id: 'choice-basic',
    kind: 'generated',
    grader: 'choice',
    licence: 'Apache-2.0',
    summary: `generated multiple choice in ${choiceSubjects.length} subjects: ${choiceSubjects.map((s) => s.id).join(', ')}`,
    options: [{ name: 'options', summary: '3 or 4 options, default 4' }],
  },
  async load(spec, context) {
    return load(spec, context);
  },
};

function load(spec: DatasetSpec, context: LoadContext): Dataset {
  const count =
    readOptions('choice-basic', spec.options, choiceBasic.entry.options).oneOf('options', [3, 4]) ?? 4;
  const items = questions(spec.seed ?? context.seed, count, spec.limit ?? GENERATED_ITEMS);
  return {
    id: 'choice-basic',
    version: 1,
    kind: 'generated',
    grader: 'choice',
    guess_rate: guessRate(items),
    answer_tokens: 24,
    licence: choiceBasic.entry.licence,
    digest: digestOf(items),
    items,
  };
}

const MAX_REPETITIONS = 2000;

function questions(seed: number, count: number, wanted: number): Item[] {
  const rng = (purpose: string) => createRng(seedFrom(seed, 'choice-basic', purpose, count));
  const [draw, order] = [rng('questions'), rng('options')];
  const subjects = balanced(rng('subjects'), choiceSubjects);
  const places = balanced(
    rng('places'),
    Array.from({ length: count }, (_, i) => i),
  );
  const seen = new Set<string>();
  return Array.from({ length: wanted }, () => {
    const subject = subjects.next().value;
    const question = unseen(subject, { rng: draw, count, seen });
    return itemOf(subject.id, question, { rng: order, place: places.next().value });
  });
}

/** A question not asked before; throws when the subject seems to have no more. */
function unseen(
  subject: ChoiceSubject,
  { rng, count, seen }: { readonly rng: Rng; readonly count: number; readonly seen: Set<string> },
): ChoiceQuestion {
  for (let repetitions = 0; repetitions < MAX_REPETITIONS; repetitions++) {
    const question = subject.draw(rng, count - 1);
    const key = JSON.stringify([question.question, question.right, ...question.wrong.toSorted()]);
    if (seen.has(key)) continue;
    seen.add(key);
    return question;
  }
  const asked = `${seen.size} questions have no new one on ${subject.id} after them`;
  throw new PerwattError('INPUT_INVALID', `data set "choice-basic": ${asked}; lower the limit`);
}

function itemOf(
  subject: string,
  { question, right, wrong }: ChoiceQuestion,
  { rng, place }: { readonly rng: Rng; readonly place: number },
): Item {
  const options = shuffled(rng, wrong).toSpliced(place, 0, right);
  const name = createHash('sha256')
    .update(JSON.stringify([question, options]))
    .digest('hex');
  return {
    id: `${subject.replaceAll(' ', '-')}-${name.slice(0, 12)}`,
    prompt: `${question}\n${optionLines(options)}\nReply with the letter only.`,
    gold: optionLabel(place),
    options,
    subject,
  };
}
