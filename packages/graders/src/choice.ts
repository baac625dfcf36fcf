import type { GradeInput, Grader } from '@perwatt/core';
import { findChoice, firstChoiceEnd, normalise, type Options } from './choice-find.js';
import { labelName, labelsFor } from './choice-labels.js';
import { findOfficial } from './choice-official.js';
import { findGpqa, findSuperGpqa } from './choice-supergpqa.js';
import { decide, decideOfficial, type Found } from './decide.js';
import { checkPolicies, choicePolicy } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';

/** Options assumed where neither their texts nor their number are known: as many as there are letters. */
const UNKNOWN_COUNT = 26;

/**
 * Grades the choice of one option. Robust mode reads, best first, the demanded format ("Answer: X", "the answer is (X)",
 * `<answer>`, a bare label), a box or anchor phrase, the last line, an option's text, the first line; the last match of
 * the best rank wins, and nothing is ever guessed. Official mode is the cascade of the item's benchmark:
 * MMLU-Pro's without its random draw, SuperGPQA's or GPQA's.
 */
export const choice: Grader = {
  id: 'choice',
  version: 2,
  grade(input) {
    checkPolicies(input.policy);
    return input.mode === 'official' ? gradeOfficial(input) : gradeRobust(input);
  },
  extract(text, { options }) {
    const offered = offer(options?.length ?? UNKNOWN_COUNT, options, null);
    const prepared = prepare(text);
    if (prepared.unclosed) return null;
    const found = findChoice(cutNextQuestion(prepared.text, firstChoiceEnd(prepared.text, offered)), offered);
    return found.status === 'found' ? labelName(offered.labels, found.value) : null;
  },
  same: (a, b) => a === b,
};

const offer = (count: number, options: GradeInput['options'], gold: string | null): Options => ({
  labels: labelsFor(count, gold),
  texts: (options ?? []).map(normalise),
});

function gradeRobust(input: GradeInput) {
  const count = input.options?.length ?? input.option_count ?? UNKNOWN_COUNT;
  const offered = offer(count, input.options, input.gold);
  const gold = goldIndex(input.gold, offered);
  return decide<number>(input, {
    find: (text) => findChoice(text, offered),
    firstAnswerEnd: (text) => firstChoiceEnd(text, offered),
    compare: (index) => ({ correct: index === gold, reason: null, flags: [] }),
    goldProblem: gold === null ? `the gold answer "${input.gold}" names none of the ${count} options` : null,
  });
}

/** The option a gold names, by its label (any case, perhaps in brackets) or by its text; null when it names none. */
function goldIndex(gold: string, { labels, texts }: Options): number | null {
  const bare = gold
    .trim()
    .replace(/^\(?(?<label>[A-Za-z0-9]+)\)?\.?$/, '$<label>')
    .toUpperCase();
  for (let index = 0; index < labels.count; index++) if (labelName(labels, index) === bare) return index;
  const index = texts.indexOf(normalise(gold));
  return index === -1 ? null : index;
}

/** The cascade of the item's benchmark: the policy `official`, else `data.official`, else MMLU-Pro's. */
function cascadeOf({ policy, data, options }: GradeInput): (text: string) => Found<string> {
  const named = data?.['official'];
  const asked = policy?.['official'] ?? (cascades.some((name) => name === named) ? named : undefined);
  switch (choicePolicy({ official: asked ?? cascades[0] }, 'official', cascades)) {
    case 'mmlu-pro':
      return findOfficial;
    case 'supergpqa':
      return (text) => findSuperGpqa(text, options ?? []);
    case 'gpqa':
      return findGpqa;
  }
}

const cascades = ['mmlu-pro', 'supergpqa', 'gpqa'] as const;

function gradeOfficial(input: GradeInput) {
  return decideOfficial<string>(input, {
    find: cascadeOf(input),
    compare: (letter) => ({ correct: letter === input.gold, reason: null, flags: [] }),
    goldProblem: null,
  });
}
