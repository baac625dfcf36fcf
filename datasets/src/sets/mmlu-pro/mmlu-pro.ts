import { optionLabel } from '../../dataset.js';
import { fieldOf, optionalText, type Row, requiredOptions, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { mmluProCard } from './card.js';

/** MMLU-Pro; options that only fill up the ten are dropped, as the official loader does. */
export const mmluPro = fileSet({
  card: mmluProCard,
  answer_tokens: 2048,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: 'The following is a multiple choice question about {subject}. Think step by step and finish with "The answer is (X)", where X is the letter of the right option.\n\nQuestion: {question}\nOptions:\n{options}',
    },
    direct: {
      version: 1,
      source: 'Perwatt',
      text: 'The following is a multiple choice question about {subject}.\n\nQuestion: {question}\nOptions:\n{options}\n\nDo not explain. Reply with one line "The answer is (X)", where X is the letter of the right option.',
    },
    official: {
      version: 1,
      source: 'evaluate_from_api.py of TIGER-AI-Lab/MMLU-Pro',
      text: 'The following are multiple choice questions (with answers) about {subject}. Think step by step and then output the answer in the format of "The answer is (X)" at the end.\n\n{shots}Question: {question}\nOptions: {options}\nAnswer: Let\'s think step by step.',
      shots: {
        split: 'validation',
        count: 5,
        pick: 'first',
        by_subject: true,
        text: 'Question: {question}\nOptions: {options}\nAnswer: {reasoning}\n\n',
      },
    },
  },
  read(row) {
    const question = requiredText(row, 'question');
    const listed = requiredOptions(row, 'options');
    const key = listed[keyIndex(row, listed)];
    const offered = listed.filter((text) => text !== 'N/A');
    if (key === undefined || !offered.includes(key))
      throw rowError(row.place, 'the right option is not among the options');
    return {
      id: requiredText(row, 'question_id'),
      question,
      gold: optionLabel(offered.indexOf(key)),
      options: offered,
      subject: requiredText(row, 'category'),
      values: { reasoning: optionalText(row, 'cot_content')?.replace(/^A: /, '') ?? null },
    };
  },
});

/** The place of the right option. Letter and index must say the same where both are given. */
function keyIndex(row: Row, listed: readonly string[]): number {
  const letter = requiredText(row, 'answer');
  const index = listed.findIndex((_, i) => optionLabel(i) === letter);
  if (index === -1)
    throw rowError(row.place, `field "answer" is "${letter}", none of the ${listed.length} options`);
  const given = fieldOf(row, 'answer_index');
  if (given !== undefined && given !== null && given !== index)
    throw rowError(row.place, `field "answer" is "${letter}" but "answer_index" is ${JSON.stringify(given)}`);
  return index;
}
