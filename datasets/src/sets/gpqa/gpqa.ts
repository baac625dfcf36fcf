import { optionalText, requiredText } from '../../rows.js';
import { fileSet, nameOf } from '../file-set.js';
import { permuted } from '../permuted.js';
import { choiceOurs } from '../shared-prompts.js';
import { gpqaCard } from './card.js';

/** GPQA; the order of the options depends on the seed and the record alone. */
export const gpqa = fileSet({
  card: gpqaCard,
  answer_tokens: 4096,
  prompts: {
    ours: choiceOurs,
    official: {
      version: 1,
      source: 'simple-evals',
      labels: 'A) ',
      text: "Answer the following multiple choice question. The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering.\n\n{question}\n\n{options}",
    },
  },
  read(row, { rng }) {
    const question = requiredText(row, 'Question').trim();
    const id = optionalText(row, 'Record ID') ?? `gpqa-${nameOf(question)}`;
    const texts = ['Correct Answer', 'Incorrect Answer 1', 'Incorrect Answer 2', 'Incorrect Answer 3'];
    const { options, gold, data } = permuted(
      texts.map((name) => requiredText(row, name).trim()),
      rng('options', id),
    );
    const subject = optionalText(row, 'High-level domain');
    return { id, question, gold, options, data: { ...data, official: 'gpqa' }, subject };
  },
});
