import type { DatasetCard } from '../card.js';

export const hotpotqaCard: DatasetCard = {
  id: 'hotpotqa',
  title: 'HotpotQA',
  summary: 'questions over two Wikipedia passages among ten, short answers',
  licence: 'CC-BY-SA-4.0',
  grader: 'em_f1',
  source: 'https://hotpotqa.github.io',
  splits: { validation: 7405, train: 90_447 },
  hub: {
    repo: 'hotpotqa/hotpot_qa',
    gated: false,
    files: { validation: 'distractor/validation-*.parquet', train: 'distractor/train-*.parquet' },
  },
  fields: [['_id', 'id'], 'question', 'answer'],
  copies: [],
  known_bad: [],
  notes: ['The setting with ten passages of which two matter.'],
};
