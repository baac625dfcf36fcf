import type { DatasetCard } from '../card.js';

export const math500Card: DatasetCard = {
  id: 'math-500',
  title: 'MATH-500',
  summary: '500 problems of MATH with LaTeX answers',
  licence: 'MIT',
  grader: 'math',
  source: 'https://github.com/openai/prm800k',
  splits: { test: 500 },
  hub: {
    repo: 'HuggingFaceH4/MATH-500',
    gated: false,
    files: { test: 'test.jsonl' },
  },
  fields: ['problem', 'solution', ['answer', 'type'], ['subject', 'type'], 'level'],
  copies: [
    {
      name: 'prm800k/math_splits/test.jsonl',
      rows: 500,
      sha256: '35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132',
    },
  ],
  known_bad: [],
  notes: ['Worked examples come from the train split of MATH: give its file as `shots`.'],
};
