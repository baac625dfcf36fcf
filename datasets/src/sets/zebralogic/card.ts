import type { DatasetCard } from '../card.js';

export const zebralogicCard: DatasetCard = {
  id: 'zebralogic',
  title: 'ZebraLogic',
  summary: 'grid puzzles of 25 sizes: who lives in which house',
  licence: 'Apache-2.0 (code); solutions on request',
  grader: 'puzzle_cells',
  source: 'https://github.com/WildEval/ZeroEval',
  splits: { test: 1000 },
  hub: {
    repo: 'allenai/ZebraLogicBench-private',
    gated: true,
    files: { test: 'grid_mode/test-*.parquet' },
  },
  how: 'The public copy, `WildEval/ZebraLogic`, has no solutions; ask for access on the page of `allenai/ZebraLogicBench-private`. Puzzles that are made here need neither.',
  fields: ['id', 'size', 'puzzle', 'solution'],
  copies: [],
  known_bad: [],
  withhold: true,
  notes: [
    'Subjects are sizes, houses by attributes.',
    'In the official prompt the worked example is one of our own.',
  ],
};
