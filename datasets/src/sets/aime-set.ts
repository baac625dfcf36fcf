import { optionalText, rowError } from '../rows.js';
import type { DatasetCard } from './card.js';
import { fileSet } from './file-set.js';
import { firstText } from './first-text.js';

/** A year of AIME: copies write their field names with and without capitals. */
export const aimeSet = (card: DatasetCard) =>
  fileSet({
    card,
    answer_tokens: 32_768,
    prompts: {
      ours: {
        version: 1,
        source: 'Perwatt',
        text: '{question}\nWork step by step and finish with a line "The answer is \\boxed{N}", where N is a whole number from 0 to 999.',
      },
      official: {
        version: 1,
        source: 'lm-evaluation-harness, aime',
        text: 'Question: {question}\nAnswer:',
      },
    },
    read(row, { index }) {
      const answer = firstText(row, ['answer', 'Answer']);
      if (!/^\d{1,3}$/.test(answer))
        throw rowError(row.place, `the answer is "${answer.slice(0, 40)}", not a whole number from 0 to 999`);
      const id = optionalText(row, 'id') ?? optionalText(row, 'ID') ?? `${index}`;
      return {
        id: `${card.id}-${id}`,
        question: firstText(row, ['problem', 'Problem', 'question']),
        gold: `${Number(answer)}`,
      };
    },
  });
