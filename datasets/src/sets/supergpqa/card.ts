import type { DatasetCard } from '../card.js';

export const supergpqaCard: DatasetCard = {
  id: 'supergpqa',
  title: 'SuperGPQA',
  summary: 'graduate-level multiple choice with four to ten options in 285 fields',
  licence: 'ODC-BY-1.0',
  grader: 'choice',
  source: 'https://github.com/SuperGPQA/SuperGPQA',
  splits: { train: 26_529 },
  hub: {
    repo: 'm-a-p/SuperGPQA',
    gated: false,
    files: { train: 'SuperGPQA-all.jsonl' },
  },
  fields: ['uuid', 'question', 'options', 'answer_letter', 'discipline'],
  copies: [],
  known_bad: [],
  notes: ['The licence is that of the collection; its parts keep their own.'],
};
