import { optionalText, type Row, requiredText, rowError } from '../../rows.js';
import { fileSet, nameOf } from '../file-set.js';
import type { ItemParts } from '../item-parts.js';
import { lastBox } from '../last-box.js';
import { mathCard } from './card.js';
import { mathPrompts } from './math-prompts.js';

/** MATH, from the hub's tables or the folder of the original distribution. */
export const math = fileSet({
  card: mathCard,
  answer_tokens: 2048,
  prompts: mathPrompts,
  read: (row) => mathParts(row),
});

/** A record of MATH or of a subset of it; an `answer` of its own comes before the box of the solution. */
export function mathParts(row: Row): ItemParts {
  const question = requiredText(row, 'problem');
  const solution = requiredText(row, 'solution');
  const gold = optionalText(row, 'answer') ?? lastBox(solution);
  if (gold === null)
    throw rowError(row.place, 'field "solution" has no \\boxed{} that closes, and there is no "answer"');
  const subject = optionalText(row, 'subject') ?? optionalText(row, 'type');
  const level = optionalText(row, 'level');
  return {
    id: optionalText(row, 'unique_id') ?? row.file ?? `math-${nameOf(question)}`,
    question,
    gold,
    subject,
    ...(level !== null && { data: { kind: 'facts', level: level.replace(/^Level /, '') } }),
    values: { solution },
  };
}
