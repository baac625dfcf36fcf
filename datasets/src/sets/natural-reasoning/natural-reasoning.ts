import { optionalText, requiredText } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { naturalReasoningCard } from './card.js';

/** NaturalReasoning: judged against the reference; records without one are left out. */
export const naturalReasoning = fileSet({
  card: naturalReasoningCard,
  answer_tokens: 4096,
  prompts: {
    ours: { version: 1, source: 'Perwatt', text: '{question}' },
    official: { version: 1, source: 'intelligence-per-watt: the bare question', text: '{question}' },
  },
  read(row, { index }) {
    const gold = optionalText(row, 'reference_answer');
    const question = requiredText(row, 'question');
    if (gold === null) return null;
    return {
      id: `natural-reasoning-${index}`,
      question,
      gold,
      data: { kind: 'judge', way: 'reference', question },
    };
  },
});
