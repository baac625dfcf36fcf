import { fieldOf } from '../../rows.js';
import { chatSet } from '../chat-set.js';
import { wildchatCard } from './card.js';

/** WildChat-1M. */
export const wildchat = chatSet({
  card: wildchatCard,
  idField: 'conversation_hash',
  flagged: (row) => fieldOf(row, 'toxic') === true || fieldOf(row, 'redacted') === true,
});
