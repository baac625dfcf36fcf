import type { DatasetCard } from '../card.js';

export const aime2025Card: DatasetCard = {
  id: 'aime-2025',
  title: 'AIME 2025',
  summary: '30 competition problems with whole-number answers from 0 to 999',
  licence: 'problems © Mathematical Association of America',
  grader: 'numeric',
  source: 'https://maa.org',
  splits: { test: 30 },
  hub: { repo: 'math-ai/aime25', gated: false, files: { test: 'test.jsonl' } },
  fields: [
    ['problem', 'Problem', 'question'],
    ['answer', 'Answer'],
  ],
  copies: [],
  known_bad: [],
  notes: [
    'Thirty items: one is 3.3 points, so ask each many times and report avg@k and pass@k.',
    'Copies with the answer inside the text of three problems went around; pin the sha256 of yours.',
  ],
};
