import { isRecord } from '../../options.js';
import { fieldOf, type Row } from '../../rows.js';
import { chatSet } from '../chat-set.js';
import { lmsysCard } from './card.js';

/** LMSYS-Chat-1M. */
export const lmsysChat = chatSet({ card: lmsysCard, idField: 'conversation_id', flagged: isFlagged });

/** Redacted, or with a turn that the recorded moderation flagged. */
function isFlagged(row: Row): boolean {
  const moderation = fieldOf(row, 'openai_moderation');
  const verdicts = Array.isArray(moderation) ? moderation : [];
  return (
    fieldOf(row, 'redacted') === true ||
    verdicts.some((verdict: unknown) => isRecord(verdict) && verdict['flagged'] === true)
  );
}
