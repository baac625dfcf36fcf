import type { DatasetCard } from '../card.js';

export const gpqaCard: DatasetCard = {
  id: 'gpqa',
  title: 'GPQA',
  summary: 'graduate-level multiple choice with four options, made hard to look up',
  licence: 'CC-BY-4.0',
  grader: 'choice',
  source: 'https://github.com/idavidrein/gpqa',
  splits: { diamond: 198, main: 448, extended: 546 },
  hub: {
    repo: 'Idavidrein/gpqa',
    gated: true,
    files: {
      diamond: 'gpqa_diamond.csv',
      main: 'gpqa_main.csv',
      extended: 'gpqa_extended.csv',
    },
  },
  how: 'Accept the terms on the page of `Idavidrein/gpqa`.',
  fields: ['Question', 'Correct Answer', 'Incorrect Answer 1', 'Incorrect Answer 2', 'Incorrect Answer 3'],
  copies: [],
  known_bad: [],
  withhold: true,
  notes: [
    "The authors ask not to post questions in plain text: don't publish runs with their texts.",
    'Options are put in an order by the seed, which is kept with each item.',
  ],
};
