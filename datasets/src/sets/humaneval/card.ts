import type { DatasetCard } from '../card.js';

export const humanevalCard: DatasetCard = {
  id: 'humaneval',
  title: 'HumanEval',
  summary: 'Python functions to be completed, judged by unit tests',
  licence: 'MIT',
  grader: 'code',
  source: 'https://github.com/openai/human-eval',
  splits: { test: 164 },
  hub: {
    repo: 'openai/openai_humaneval',
    gated: false,
    files: { test: 'openai_humaneval/test-*.parquet' },
  },
  fields: ['task_id', 'prompt', 'entry_point', 'canonical_solution', 'test'],
  copies: [
    {
      name: 'HumanEval.jsonl',
      rows: 164,
      sha256: '621ff099e7d6a9b630619acd3568aef441dec51a8c84f881a9dd1f2d2ed15914',
    },
  ],
  known_bad: [
    {
      id: 'HumanEval/47',
      kind: 'wrong-example',
      why: 'the example in the docstring says that a median is 15.0 which is 8.0; the tests are right',
    },
  ],
  notes: ['Answers are run only where running code is switched on.'],
};
