import { optionalText, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { numberOurs } from '../shared-prompts.js';
import { svampCard } from './card.js';

/** SVAMP; its whole answers are written as `145.0`. */
export const svamp = fileSet({
  card: svampCard,
  answer_tokens: 512,
  prompts: {
    ours: numberOurs,
    official: {
      version: 1,
      source: 'Qwen2.5-Math, without its chat frame',
      text: '{question}\nPlease reason step by step, and put your final answer within \\boxed{}.',
    },
  },
  read(row) {
    const answer = requiredText(row, 'Answer').trim();
    if (!/^-?\d+(?:\.\d+)?$/.test(answer))
      throw rowError(row.place, `field "Answer" is "${answer.slice(0, 40)}", not a number`);
    return {
      id: requiredText(row, 'ID'),
      question: `${requiredText(row, 'Body').trim()} ${requiredText(row, 'Question').trim()}`,
      gold: answer.replace(/\.0+$/, ''),
      subject: optionalText(row, 'Type')?.replace('Divison', 'Division') ?? null,
    };
  },
});
