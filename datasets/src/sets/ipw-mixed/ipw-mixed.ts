import { messageOf } from '@perwatt/core';
import { isRecord } from '../../options.js';
import { fieldOf, optionalText, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { ipwMixedCard } from './card.js';

/** The mixed queries: chats are judged in pairs with the recorded answer, everything else against it. */
export const ipwMixed = fileSet({
  card: ipwMixedCard,
  answer_tokens: 4096,
  prompts: {
    ours: { version: 1, source: 'Perwatt', text: '{question}' },
    official: { version: 1, source: 'intelligence-per-watt: the bare query', text: '{question}' },
  },
  read(row, { index }) {
    const question = requiredText(row, 'problem');
    const [gold, subject] = [optionalText(row, 'answer'), optionalText(row, 'subject')];
    if (gold === null) return null;
    const facts = factsOf(row);
    const origin = [subject ?? '', ...Object.values(facts)].join(' ');
    const way = /wildchat|lmsys|\bchat\b/i.test(origin) ? 'pairwise' : 'reference';
    return {
      id: `ipw-${index}`,
      question,
      gold,
      subject,
      data: { kind: 'judge', way, question, ...(Object.keys(facts).length > 0 && { facts }) },
    };
  },
});

/** The record's short texts on itself, which it keeps as a struct, as pairs, or as JSON. */
function factsOf(row: Row): Record<string, string> {
  const value = fieldOf(row, 'dataset_metadata');
  const metadata = typeof value === 'string' ? parsed(value, row.place) : value;
  const entries = isRecord(metadata) ? Object.entries(metadata) : [];
  return Object.fromEntries(
    entries.filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 200,
    ),
  );
}

function parsed(text: string, place: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw rowError(place, `field "dataset_metadata" is not JSON (${messageOf(cause)})`, cause);
  }
}
