import { isRecord } from '../options.js';
import { fieldOf, optionalText, type Row, requiredText, rowError } from '../rows.js';
import type { DatasetCard } from './card.js';
import { fileSet } from './file-set.js';
import type { ItemParts, RowContext } from './item-parts.js';

interface Turn {
  readonly role: string;
  readonly content: string;
}

export interface ChatSet {
  readonly card: DatasetCard;
  /** Field with the id of a conversation. */
  readonly idField: string;
  /** Whether a record is marked as not fit to be used. */
  readonly flagged: (row: Row) => boolean;
}

/**
 * Recorded conversations as a chat workload: the user's first turn is the question, and the recorded reply to it is the other
 * reply of a pairwise judge.
 */
export const chatSet = ({ card, idField, flagged }: ChatSet) =>
  fileSet({
    card,
    answer_tokens: 2048,
    prompts: {
      ours: { version: 1, source: 'Perwatt', text: '{question}' },
      official: { version: 1, source: 'the turn as it was written', text: '{question}' },
    },
    options: [
      { name: 'language', summary: 'only conversations in this language, for example English' },
      { name: 'flagged', summary: '"drop" (default) or "keep" conversations that are marked as harmful' },
    ],
    read: (row, context) => partsOf(row, context, { card, idField, flagged }),
  });

function partsOf(row: Row, { options }: RowContext, { card, idField, flagged }: ChatSet): ItemParts | null {
  const turns = turnsOf(row);
  const id = requiredText(row, idField);
  const language = optionalText(row, 'language');
  const wanted = options.text('language');
  if (wanted !== undefined && language !== wanted) return null;
  if ((options.oneOf('flagged', ['drop', 'keep']) ?? 'drop') === 'drop' && flagged(row)) return null;
  const at = turns.findIndex(({ role }) => role === 'user');
  const [question = '', reply] = [turns[at]?.content, turns[at + 1]];
  if (question.trim() === '' || reply?.role !== 'assistant' || reply.content.trim() === '') return null;
  const model = optionalText(row, 'model');
  return {
    id: `${card.id}-${id}`,
    question,
    gold: reply.content,
    subject: language,
    data: {
      kind: 'judge',
      way: 'pairwise',
      question,
      facts: { turns: `${turns.length}`, ...(model !== null && { model }) },
    },
  };
}

function turnsOf(row: Row): Turn[] {
  const turns = fieldOf(row, 'conversation');
  if (!Array.isArray(turns)) throw rowError(row.place, 'field "conversation" is no list of turns');
  return turns.map((turn: unknown) => {
    const [role, content] = isRecord(turn) ? [turn['role'], turn['content']] : [];
    if (typeof role !== 'string') throw rowError(row.place, 'field "conversation" has a turn without a role');
    return { role, content: typeof content === 'string' ? content : '' };
  });
}
