import { type Item, PerwattError } from '@perwatt/core';
import type { OptionReader } from '../../options.js';
import { pick, shuffled } from '../../random.js';
import { type Passage, passageValues } from '../../sets/hop-records.js';
import { fillIn } from '../../sets/prompt-template.js';
import { shortOurs } from '../../sets/shared-prompts.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { makeEntity, passageOn } from './facts.js';
import { type Namer, namer } from './names.js';
import { bridgeQuestion, chainQuestion, comparisonQuestion, type HopQuestion } from './questions.js';
import { entityKinds } from './relations.js';

interface Level extends GeneratedLevel {
  readonly hops: number | null;
}

const levels: readonly Level[] = [
  { summary: 'two facts after one another', answer_tokens: 256, hops: 2 },
  { summary: 'three facts', answer_tokens: 256, hops: 3 },
  { summary: 'four facts', answer_tokens: 384, hops: 4 },
  { summary: 'comparisons of two things, or of what two things lead to', answer_tokens: 256, hops: null },
];

const PASSAGES = 10;
const MAX_PASSAGES = 5000;
const MAX_TOKENS = 500_000;
/** Characters of a token in English text, about: lengths are asked for in tokens of no tokenizer in particular. */
const CHARACTERS = 4;

/** How much there is to read: a number of passages, or a number of characters. */
type Length = { readonly passages: number } | { readonly characters: number };

/** Questions over made-up passages: some hold the facts, the others are about something else. */
export const multiHop = generatedSet<Level>({
  id: 'multi-hop',
  version: 1,
  grader: 'em_f1',
  summary: 'generated questions over two to four facts in made-up passages, among others of any number',
  levels,
  options: [
    {
      name: 'passages',
      summary: `passages in each prompt, 2 to ${MAX_PASSAGES}, default ${PASSAGES}; those that matter always are among them`,
    },
    {
      name: 'context_tokens',
      summary: `instead of passages: the length of all of them in tokens of ${CHARACTERS} characters, 200 to ${MAX_TOKENS}`,
    },
  ],
  guess: (items) => items.filter(isComparison).length / (2 * Math.max(1, items.length)),
  prepare({ hops }, options) {
    const length = lengthOf(options);
    return (rng) => draw(hops, length, rng);
  },
});

/** Its answer is one of the two things it names. */
const isComparison = ({ subject }: Item) => subject?.endsWith('comparison') === true;

function lengthOf(options: OptionReader): Length {
  const passages = options.whole('passages', { min: 2, max: MAX_PASSAGES });
  const tokens = options.whole('context_tokens', { min: 200, max: MAX_TOKENS });
  if (passages !== undefined && tokens !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      'data set "multi-hop": options "passages" and "context_tokens" exclude each other',
    );
  return tokens === undefined ? { passages: passages ?? PASSAGES } : { characters: tokens * CHARACTERS };
}

function draw(hops: number | null, length: Length, rng: RngFor): Drawn {
  const random = rng('question');
  const names = namer(random);
  const asked = questionOf(random, names, hops);
  const told = asked.steps.map(([entity, relation]) => ({ entity, relation, ...passageOn(random, entity) }));
  const support = told.map(
    ({ entity, relation, places }) => [entity.name, places.get(relation) ?? 0] as const,
  );
  const needed = told.map(({ passage }) => passage);
  const passages = shuffled(rng('order'), [...needed, ...others(rng, names, { needed, length })]);
  const { passage_block } = passageValues(passages);
  const task = fillIn(shortOurs.text, { passage_block: '', question: asked.question }, 'multi-hop');
  return {
    prompt: `${passage_block}${task}`,
    gold: asked.answer,
    subject: hops === null ? asked.type : `${hops} hops`,
    data: {
      kind: 'em_f1',
      f1: 'hotpot',
      support,
      evidence: told.map(({ entity, relation }) => [
        entity.name,
        relation.name,
        entity.objects.get(relation) ?? '',
      ]),
    },
    material: {
      task,
      passages: passages.map(({ title, sentences }) => ({ key: title, text: sentences.join('') })),
    },
    identity: [asked.question, asked.answer, support],
  };
}

function questionOf(rng: () => number, names: Namer, hops: number | null): HopQuestion {
  if (hops !== null) return chainQuestion(rng, names, hops);
  return rng() < 0.5 ? comparisonQuestion(rng, names) : bridgeQuestion(rng, names);
}

/** Passages on other things, until there are as many, or as much, as wanted. A longer context holds those of a shorter one. */
function others(
  rng: RngFor,
  names: Namer,
  { needed, length }: { readonly needed: readonly Passage[]; readonly length: Length },
): Passage[] {
  const random = rng('others');
  const passages: Passage[] = [];
  let size = needed.reduce((sum, passage) => sum + sizeOf(passage), 0);
  const isEnough = () =>
    'passages' in length ? needed.length + passages.length >= length.passages : size >= length.characters;
  while (!isEnough()) {
    const kind = pick(random, entityKinds);
    const { passage } = passageOn(random, makeEntity(random, names, { kind, name: names(kind) }));
    passages.push(passage);
    size += sizeOf(passage);
  }
  return passages;
}

/** Characters of a passage in a prompt, with what stands around it. */
const sizeOf = ({ title, sentences }: Passage): number =>
  title.length + sentences.reduce((sum, sentence) => sum + sentence.length, 0) + 'Passage 10:\n\n\n\n'.length;
