import type { DatasetCard } from '../card.js';

export const mmluProCard: DatasetCard = {
  id: 'mmlu-pro',
  title: 'MMLU-Pro',
  summary: 'multiple choice with up to ten options in 14 categories',
  licence: 'MIT',
  grader: 'choice',
  source: 'https://github.com/TIGER-AI-Lab/MMLU-Pro',
  splits: { test: 12_032, validation: 70 },
  hub: {
    repo: 'TIGER-Lab/MMLU-Pro',
    gated: false,
    files: { test: 'data/test-*.parquet', validation: 'data/validation-*.parquet' },
  },
  fields: ['question_id', 'question', 'options', 'answer', 'category'],
  copies: [
    {
      name: 'test split, 100 of each category',
      rows: 1400,
      sha256: '4e63e808499cb7f6dbb3710ac8fa7a07a10b42e55a4b8236ec95044310572f19',
    },
    {
      name: 'test split, first rows',
      rows: 1398,
      sha256: '96f0ee92de6d07230e0b8be4282fc504a4c2b6de94824e8f8d3e2defd0357cee',
    },
  ],
  known_bad: [
    { id: '1492', kind: 'duplicate-row', why: 'the same question as 1491' },
    { id: '6042', kind: 'duplicate-row', why: 'the same question as 6041' },
    { id: '6804', kind: 'duplicate-row', why: 'the same question as 6803' },
  ],
  notes: [
    'The licence is that of the data set card; the repository is Apache-2.0.',
    'About 159 questions of health and law stand in it twice; `perwatt datasets verify` lists them.',
  ],
};
