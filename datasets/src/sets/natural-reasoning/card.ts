import type { DatasetCard } from '../card.js';

export const naturalReasoningCard: DatasetCard = {
  id: 'natural-reasoning',
  title: 'NaturalReasoning',
  summary: 'open questions with a reference answer, for a judge',
  licence: 'CC-BY-NC-4.0',
  grader: 'judge',
  source: 'https://huggingface.co/datasets/facebook/natural_reasoning',
  splits: { train: 1_145_824 },
  hub: {
    repo: 'facebook/natural_reasoning',
    gated: false,
    files: { train: 'full.jsonl' },
  },
  fields: ['question', 'reference_answer'],
  copies: [],
  known_bad: [],
  notes: [
    'Not for commercial use.',
    'About 18 % of the records have no reference answer; they are left out and counted.',
    'Records have no ids; an item is named after its place, counted from 0.',
  ],
};
