import type { DatasetCard } from '../card.js';

export const mathCard: DatasetCard = {
  id: 'math',
  title: 'MATH',
  summary: 'competition problems with LaTeX answers, seven subjects, five levels',
  licence: 'MIT',
  grader: 'math',
  source: 'https://github.com/hendrycks/math',
  splits: { test: 5000, train: 7500 },
  hub: {
    repo: 'EleutherAI/hendrycks_math',
    gated: false,
    files: { test: '*/test-*.parquet', train: '*/train-*.parquet' },
  },
  fields: ['problem', 'solution', ['type', 'subject'], 'level'],
  copies: [],
  known_bad: [],
  notes: [
    'The gold is what stands in the last box of the solution.',
    'A folder of the original distribution is read as it is; items are then named after their files.',
  ],
};
