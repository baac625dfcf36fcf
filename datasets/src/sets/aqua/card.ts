import type { DatasetCard } from '../card.js';

export const aquaCard: DatasetCard = {
  id: 'aqua',
  title: 'AQuA-RAT',
  summary: 'algebraic word problems with five options',
  licence: 'Apache-2.0',
  grader: 'choice',
  source: 'https://github.com/google-deepmind/AQuA',
  splits: { test: 254, validation: 254, train: null },
  hub: {
    repo: 'deepmind/aqua_rat',
    gated: false,
    files: {
      test: 'raw/test-*.parquet',
      validation: 'raw/validation-*.parquet',
      train: 'raw/train-*.parquet',
    },
  },
  fields: ['question', 'options', 'correct'],
  copies: [
    {
      name: 'test split',
      rows: 254,
      sha256: '9bca3344ed3995a8947399165ccec1954b45e18ab551af0af0b053f424457be2',
    },
  ],
  known_bad: [
    {
      question: 'eecedac8b03ec1bf',
      kind: 'duplicate-option',
      why: 'record 117: the right text stands at A or C',
    },
    {
      question: '3b9f463853a0553f',
      kind: 'duplicate-option',
      why: 'record 124: the right text stands at B or E',
    },
    {
      question: 'c74a26a7536cfa4d',
      kind: 'duplicate-option',
      why: 'record 126: the right text stands at B or D',
    },
    {
      question: '82a58708a76330f3',
      kind: 'duplicate-option',
      why: 'record 193: the right text stands at C or D',
    },
  ],
  notes: [
    'Where the text of the right option stands twice, the other letter is an alias of the gold.',
    'Records have no ids; an item is named after its place, counted from 0.',
  ],
};
