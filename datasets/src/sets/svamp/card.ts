import type { DatasetCard } from '../card.js';

export const svampCard: DatasetCard = {
  id: 'svamp',
  title: 'SVAMP',
  summary: 'word problems of one or two steps, made by varying older ones',
  licence: 'MIT',
  grader: 'numeric',
  source: 'https://github.com/arkilpatel/SVAMP',
  splits: { all: 1000 },
  hub: {
    repo: 'ChilleD/SVAMP',
    gated: false,
    files: { all: 'data/*.parquet' },
  },
  fields: ['ID', 'Body', 'Question', 'Answer'],
  copies: [
    {
      name: 'all records, one a line',
      rows: 1000,
      sha256: '3a51bbe416c452ad8955e286099a64aa90942c0950f5de4a5918b7de472b86a0',
    },
  ],
  known_bad: [
    { id: 'chal-680', kind: 'wrong-gold', why: '4 - 2 + 3 is 5, as its own equation says; the gold is 1' },
  ],
  notes: [],
};
