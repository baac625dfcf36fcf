import { optionLabel } from '../../dataset.js';
import { requiredOptions, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { choiceOurs } from '../shared-prompts.js';
import { aquaCard } from './card.js';

/** AQuA-RAT; options lose the label that is written into them. */
export const aqua = fileSet({
  card: aquaCard,
  answer_tokens: 1024,
  prompts: {
    ours: choiceOurs,
    official: {
      version: 1,
      source: 'Qwen2.5-Math, without its chat frame',
      labels: '(A) ',
      text: '{question} Answer Choices: {options}\nPlease reason step by step, and put your final answer within \\boxed{}.',
    },
  },
  read(row, { index, options: reader }) {
    const options = requiredOptions(row, 'options').map((text) =>
      text.replace(/^(?:[A-J]\s?\)\s*)+/, '').trim(),
    );
    const gold = requiredText(row, 'correct').trim();
    const at = options.findIndex((_, i) => optionLabel(i) === gold);
    if (at === -1)
      throw rowError(row.place, `field "correct" is "${gold}", none of the ${options.length} options`);
    return {
      id: `aqua-${reader.text('split') ?? 'test'}-${index}`,
      question: requiredText(row, 'question'),
      gold,
      options,
      aliases: options.flatMap((text, i) => (i !== at && text === options[at] ? [optionLabel(i)] : [])),
    };
  },
});
