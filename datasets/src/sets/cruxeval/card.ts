import type { DatasetCard } from '../card.js';

export const cruxevalCard: DatasetCard = {
  id: 'cruxeval',
  title: 'CRUXEval-O',
  summary: 'what a short Python function returns, as a literal',
  licence: 'MIT',
  grader: 'literal',
  source: 'https://github.com/facebookresearch/cruxeval',
  splits: { test: 800 },
  hub: {
    repo: 'cruxeval-org/cruxeval',
    gated: false,
    files: { test: 'test.jsonl' },
  },
  fields: ['id', ['code', 'question'], ['output', 'answer']],
  copies: [
    {
      name: 'first records with stored replies of one model',
      rows: 300,
      sha256: '49eadff0f6de4caa1fd93ffaa589c2b29512713b394778383e1a7bca596b8e7b',
    },
  ],
  known_bad: [],
  notes: ['Answers are compared as text, as its harness does: `[1,2]` is not `[1, 2]`.'],
};
