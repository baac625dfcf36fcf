import type { DatasetCard } from '../card.js';

export const ipwMixedCard: DatasetCard = {
  id: 'ipw-mixed',
  title: 'intelligence-per-watt, mixed queries',
  summary: '1,000 mixed chat and reasoning queries of another suite, for a judge',
  licence: 'none stated; parts keep their own (WildChat, LMSYS-Chat, NaturalReasoning)',
  grader: 'judge',
  source: 'https://github.com/HazyResearch/intelligence-per-watt',
  splits: { all: 1000 },
  hub: null,
  how: 'It comes with the repository, as a folder with `state.json` and an Arrow file; give the path of the folder.',
  fields: ['problem', 'answer', 'subject'],
  copies: [],
  known_bad: [],
  withhold: true,
  notes: [
    'Answers of models that the records carry along are not read.',
    'A query without an answer is left out and counted.',
    'Records have no ids; an item is named after its place, counted from 0.',
  ],
};
