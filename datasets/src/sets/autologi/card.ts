import type { DatasetCard } from '../card.js';

export const autologiCard: DatasetCard = {
  id: 'autologi',
  title: 'AutoLogi',
  summary: 'open-ended logic puzzles whose answers programs check, in English and Chinese',
  licence: 'none stated',
  grader: 'code',
  source: 'https://github.com/8188zq/AutoLogi',
  splits: { en: 1575, cn: 883 },
  hub: null,
  how: 'Clone the repository; its puzzles are in `testing-data/`.',
  fields: ['prompt', 'code.Inputs_Check_code', 'code.Constraint_List_code'],
  copies: [],
  known_bad: [],
  notes: ['Its checkers are Python programs: they run only where running code is switched on.'],
};
