import type { DatasetCard } from '../card.js';

export const arBenchCard: DatasetCard = {
  id: 'ar-bench',
  title: 'AR-Bench',
  summary: 'active reasoning: detective cases, situation puzzles, guessed numbers',
  licence: 'none stated',
  grader: 'by task: choice, judge, exact',
  source: 'https://github.com/tmlr-group/AR-Bench',
  splits: { dc: 100, sp: 100, gn: 100 },
  hub: null,
  how: 'Clone the repository; each task has a JSON file with its test cases.',
  fields: [['initial_information', 'surface', 'value']],
  copies: [],
  known_bad: [],
  notes: [
    'Its tasks are played in turns; asked in one turn they measure what can be guessed from the opening.',
    'The label of a detective case counts along `initial_information.suspect`, not along `suspects`.',
  ],
};
