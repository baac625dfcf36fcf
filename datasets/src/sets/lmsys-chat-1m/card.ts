import type { DatasetCard } from '../card.js';

export const lmsysCard: DatasetCard = {
  id: 'lmsys-chat-1m',
  title: 'LMSYS-Chat-1M',
  summary: 'first turns of real conversations with 25 models, for a pairwise judge',
  licence: 'LMSYS-Chat-1M licence agreement',
  grader: 'judge',
  source: 'https://huggingface.co/datasets/lmsys/lmsys-chat-1m',
  splits: { train: 1_000_000 },
  hub: {
    repo: 'lmsys/lmsys-chat-1m',
    gated: true,
    files: { train: 'data/train-*.parquet' },
  },
  how: 'Accept the agreement on the page of `lmsys/lmsys-chat-1m`.',
  fields: ['conversation_id', 'conversation', 'language'],
  copies: [],
  known_bad: [],
  withhold: true,
  notes: [
    "The agreement forbids to pass the conversations on: don't publish runs with their texts.",
    'Conversations flagged by the moderation or redacted are left out unless `flagged: keep`.',
  ],
};
