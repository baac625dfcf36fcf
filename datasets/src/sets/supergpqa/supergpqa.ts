import { optionLabel } from '../../dataset.js';
import { goldLabel } from '../../items.js';
import { optionalText, requiredOptions, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { choiceOurs } from '../shared-prompts.js';
import { supergpqaCard } from './card.js';

/** SuperGPQA; the letter must be that of the option that the answer's text names. */
export const supergpqa = fileSet({
  card: supergpqaCard,
  answer_tokens: 4096,
  prompts: {
    ours: choiceOurs,
    official: {
      version: 1,
      source: 'zero-shot.yaml of SuperGPQA',
      labels: 'A) ',
      text: "Answer the following multiple choice question. There is only one correct answer. The last line of your response should be in the format 'Answer: $LETTER' (without quotes), where LETTER is one of A, B, C, D, E, F, G, H, I, or J.\n\n{question}\n{options}",
    },
  },
  read(row) {
    const options = requiredOptions(row, 'options');
    const letter = requiredText(row, 'answer_letter');
    const gold = goldLabel(letter, options, optionLabel);
    if (gold === null)
      throw rowError(
        row.place,
        `field "answer_letter" is "${letter}", none of the ${options.length} options`,
      );
    const answer = optionalText(row, 'answer')?.trim();
    const named = options[gold.charCodeAt(0) - 65]?.trim();
    if (answer !== undefined && answer !== named)
      throw rowError(row.place, `field "answer" is not the text of option ${gold}`);
    const level = optionalText(row, 'difficulty');
    return {
      id: requiredText(row, 'uuid'),
      question: requiredText(row, 'question'),
      gold,
      options,
      subject: requiredText(row, 'discipline'),
      data: { kind: 'facts', official: 'supergpqa', ...(level !== null && { level }) },
    };
  },
});
