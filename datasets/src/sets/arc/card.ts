import type { DatasetCard } from '../card.js';

export const arcCard: DatasetCard = {
  id: 'arc',
  title: 'ARC',
  summary: 'science questions of school tests with three to five options',
  licence: 'CC-BY-SA-4.0',
  grader: 'choice',
  source: 'https://allenai.org/data/arc',
  splits: {
    'challenge-test': 1172,
    'challenge-train': 1119,
    'easy-test': 2376,
    'easy-train': 2251,
  },
  hub: {
    repo: 'allenai/ai2_arc',
    gated: false,
    files: {
      'challenge-test': 'ARC-Challenge/test-*.parquet',
      'challenge-train': 'ARC-Challenge/train-*.parquet',
      'easy-test': 'ARC-Easy/test-*.parquet',
      'easy-train': 'ARC-Easy/train-*.parquet',
    },
  },
  fields: ['id', 'question', 'answerKey'],
  copies: [],
  known_bad: [],
  notes: ['Some records label their options 1 to 4; they are shown as A to D.'],
};
