import type { DatasetCard } from '../card.js';

export const planbenchCard: DatasetCard = {
  id: 'planbench',
  title: 'PlanBench, Blocksworld',
  summary: 'plans that stack blocks into a goal, told in plain English',
  licence: 'MIT',
  grader: 'plan',
  source: 'https://github.com/karthikv792/LLMs-Planning',
  splits: { blocksworld: 500, 'blocksworld-3': 100, 'mystery-blocksworld': 500 },
  hub: null,
  how: 'Clone the repository; the file is `plan-bench/prompts/blocksworld/task_1_plan_generation.json`.',
  fields: ['instance_id', 'query', 'ground_truth_plan'],
  copies: [
    {
      name: 'blocksworld, plan generation, one record a line',
      rows: 500,
      sha256: '9f6b6ca6e9c80ed6e12e21d74da172a7cbc41edc6d8c4f77c23d005ee7e4a146',
    },
    {
      name: 'blocksworld with 3 blocks, plan generation, one record a line',
      rows: 100,
      sha256: 'd9e6e04b62ac46073b6ffe1cbe9e9d3f3310ca47181aa1a055bda59c4c84fa3a',
    },
    {
      name: 'mystery blocksworld, plan generation, first records, one a line',
      rows: 200,
      sha256: 'd81ac3b956daf008525b8eeaff9387148951573e996b3080fa14ddc56e3b39a1',
    },
  ],
  known_bad: [
    {
      id: 'blocksworld-31',
      kind: 'wrong-verdict',
      why: 'the published verdict on one model\'s plan is wrong, as its parser drops "put the blue block down"; the problem itself is sound',
    },
  ],
  notes: ["The official prompt is the record's own, with one worked example in it."],
};
