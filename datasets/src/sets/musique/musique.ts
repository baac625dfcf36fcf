import { isRecord } from '../../options.js';
import { fieldOf, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { firstText } from '../first-text.js';
import { answersOf, materialOf, passageValues } from '../hop-records.js';
import { shortClosedBook, shortLongBench, shortOurs } from '../shared-prompts.js';
import { musiqueCard } from './card.js';

/** MuSiQue, whole or as questions and answers alone. */
export const musique = fileSet({
  card: musiqueCard,
  answer_tokens: 512,
  prompts: { ours: shortOurs, official: shortLongBench, 'closed-book': shortClosedBook },
  read(row) {
    const id = requiredText(row, 'id');
    const [gold, ...others] = answersOf(row, 'answer');
    const listed = fieldOf(row, 'answer_aliases');
    const aliases = Array.isArray(listed) && listed.length > 0 ? answersOf(row, 'answer_aliases') : [];
    const paragraphs = paragraphsOf(row);
    const support = paragraphs.filter((p) => p.is_supporting).map((p) => [p.idx]);
    const answerable = fieldOf(row, 'answerable');
    const question = firstText(row, ['question', 'Question']);
    const passages = paragraphs.map(({ title, text }) => ({ title, sentences: [text] }));
    return {
      id,
      question,
      gold,
      aliases: [...new Set([...others, ...aliases])].filter((alias) => alias !== gold),
      subject: /^(?<hops>\d)hop/.exec(id)?.groups?.['hops']?.concat(' hops') ?? null,
      data: {
        kind: 'em_f1',
        f1: 'squad2',
        ...(typeof answerable === 'boolean' && { answerable }),
        ...(support.length > 0 && { support }),
      },
      values: passageValues(passages),
      ...materialOf(question, passages),
    };
  },
});

function paragraphsOf(row: Row) {
  const paragraphs = fieldOf(row, 'paragraphs');
  if (paragraphs === undefined || paragraphs === null) return [];
  if (!Array.isArray(paragraphs)) throw rowError(row.place, 'field "paragraphs" is no list');
  return paragraphs.map((each: unknown, i) => {
    const [idx, title, text] = isRecord(each) ? [each['idx'], each['title'], each['paragraph_text']] : [];
    if (typeof idx !== 'number' || typeof title !== 'string' || typeof text !== 'string')
      throw rowError(row.place, `paragraph ${i + 1} has no "idx", "title" and "paragraph_text"`);
    return { idx, title, text, is_supporting: isRecord(each) && each['is_supporting'] === true };
  });
}
