import { optionLabel } from '../../dataset.js';
import { isRecord } from '../../options.js';
import { fieldOf, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { choiceOurs } from '../shared-prompts.js';
import { arcCard } from './card.js';

/** ARC, from the official JSON Lines or the hub's tables. */
export const arc = fileSet({
  card: arcCard,
  answer_tokens: 1024,
  prompts: {
    ours: choiceOurs,
    official: {
      version: 1,
      source: 'after lm-evaluation-harness, arc_challenge_chat, for any number of options',
      text: 'Given the following question and candidate answers, choose the best answer.\nQuestion: {question}\n{options}\nYour response should end with "The best answer is [the_answer_letter]" where the [the_answer_letter] is one of the letters of the candidate answers.',
    },
  },
  read(row) {
    const stem = fieldOf(row, 'question.stem') === undefined ? 'question' : 'question.stem';
    const { texts, labels } = choicesOf(row);
    const key = requiredText(row, 'answerKey');
    const at = labels.indexOf(key);
    if (at === -1) throw rowError(row.place, `field "answerKey" is "${key}", none of ${labels.join(', ')}`);
    return {
      id: requiredText(row, 'id'),
      question: requiredText(row, stem),
      gold: optionLabel(at),
      options: texts,
    };
  },
});

function choicesOf(row: Row): { readonly texts: string[]; readonly labels: string[] } {
  const found = fieldOf(row, 'question.choices') ?? fieldOf(row, 'choices');
  const columns = isRecord(found) ? found : columnsOf(found);
  const [texts, labels] = [columns['text'], columns['label']];
  if (isTexts(texts) && isTexts(labels) && texts.length >= 2 && texts.length === labels.length)
    return { texts, labels };
  throw rowError(row.place, 'field "choices" has no texts and labels of two options or more');
}

const columnsOf = (list: unknown): Readonly<Record<string, unknown>> => {
  const entries = (Array.isArray(list) ? list : []).filter(isRecord);
  return { text: entries.map((e) => e['text']), label: entries.map((e) => e['label']) };
};

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
