import { requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { gsm8kCard } from './card.js';

/** GSM8K: the gold is what stands behind the mark at the end of the worked solution. */
export const gsm8k = fileSet({
  card: gsm8kCard,
  answer_tokens: 512,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: '{question}\nWork step by step and finish with a line "#### N", where N is the answer as a number.',
    },
    direct: {
      version: 1,
      source: 'Perwatt',
      text: '{question}\nDo not explain. Reply with one line "#### N", where N is the answer as a number.',
    },
    official: {
      version: 1,
      source: 'lm-evaluation-harness, gsm8k',
      text: '{shots}Question: {question}\nAnswer:',
      shots: {
        split: 'train',
        count: 5,
        pick: 'drawn',
        text: 'Question: {question}\nAnswer: {solution}\n\n',
      },
    },
  },
  read(row, { index }) {
    const question = requiredText(row, 'question');
    const solution = requiredText(row, 'answer');
    const gold = /#### *(?<gold>-?[0-9][0-9.,]*)\s*$/.exec(solution)?.groups?.['gold'];
    if (gold === undefined) throw rowError(row.place, 'field "answer" does not end in "#### N"');
    return { id: `gsm8k-${index}`, question, gold: gold.replaceAll(',', ''), values: { solution } };
  },
});
