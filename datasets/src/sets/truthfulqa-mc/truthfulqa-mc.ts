import { isRecord } from '../../options.js';
import { fieldOf, optionalText, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet, nameOf } from '../file-set.js';
import { permuted } from '../permuted.js';
import { choiceOurs } from '../shared-prompts.js';
import { truthfulqaCard } from './card.js';

/** TruthfulQA's single-true form (MC1), from the official JSON or the hub's tables. */
export const truthfulqaMc = fileSet({
  card: truthfulqaCard,
  answer_tokens: 512,
  prompts: {
    ours: choiceOurs,
    official: {
      version: 1,
      source:
        'TruthfulQA asks without options and compares likelihoods; here the options follow the question',
      text: 'Q: {question}\n{options}\nA:',
    },
  },
  read(row, { rng }) {
    const question = requiredText(row, 'question');
    const id = `truthfulqa-${nameOf(question)}`;
    const targets = targetsOf(row);
    const [right, ...more] = targets.filter(([, label]) => label === 1);
    if (right === undefined || more.length > 0)
      throw rowError(
        row.place,
        `field "mc1_targets" has ${more.length + (right ? 1 : 0)} true options, not one`,
      );
    const wrong = targets.filter(([, label]) => label !== 1).map(([text]) => text);
    const { options, gold, data } = permuted([right[0], ...wrong], rng('options', id));
    return { id, question, options, gold, data, subject: optionalText(row, 'category') };
  },
});

/** Options with their labels: a mapping of text to label, or a column of each. */
function targetsOf(row: Row): [string, unknown][] {
  const targets = fieldOf(row, 'mc1_targets');
  const record = isRecord(targets) ? targets : {};
  const [choices, labels] = [record['choices'], record['labels']];
  const pairs: [string, unknown][] =
    Array.isArray(choices) && Array.isArray(labels)
      ? choices.map((text: unknown, i) => [`${text}`, labels[i]])
      : Object.entries(record);
  if (pairs.length < 2) throw rowError(row.place, 'field "mc1_targets" holds no two options');
  return pairs;
}
