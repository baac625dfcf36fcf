import type { DatasetCard } from '../card.js';

export const truthfulqaCard: DatasetCard = {
  id: 'truthfulqa-mc',
  title: 'TruthfulQA, multiple choice',
  summary: 'questions that people often answer wrongly, one true option',
  licence: 'Apache-2.0',
  grader: 'choice',
  source: 'https://github.com/sylinrl/TruthfulQA',
  splits: { validation: 817 },
  hub: {
    repo: 'truthfulqa/truthful_qa',
    gated: false,
    files: { validation: 'multiple_choice/validation-*.parquet' },
  },
  fields: ['question', 'mc1_targets'],
  copies: [],
  known_bad: [],
  notes: [
    'In the records the true option stands first; options are put in an order by the seed, which is kept with each item.',
    'The official score compares likelihoods of options; here a letter is asked for.',
  ],
};
