import type { DatasetCard } from '../card.js';

export const wildchatCard: DatasetCard = {
  id: 'wildchat-1m',
  title: 'WildChat-1M',
  summary: 'first turns of real conversations, for a pairwise judge',
  licence: 'ODC-BY-1.0',
  grader: 'judge',
  source: 'https://huggingface.co/datasets/allenai/WildChat-1M',
  splits: { train: null },
  hub: {
    repo: 'allenai/WildChat-1M',
    gated: false,
    files: { train: 'data/train-*.parquet' },
  },
  fields: ['conversation_hash', 'conversation', 'language'],
  copies: [],
  known_bad: [],
  notes: [
    'Conversations marked as toxic or redacted are left out unless `flagged: keep`.',
    'Several gigabytes; set a limit, or give the path of one of its files.',
  ],
};
