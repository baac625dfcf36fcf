import type { DatasetCard } from '../card.js';

export const gsm8kCard: DatasetCard = {
  id: 'gsm8k',
  title: 'GSM8K',
  summary: 'grade-school word problems with whole-number answers',
  licence: 'MIT',
  grader: 'numeric',
  source: 'https://github.com/openai/grade-school-math',
  splits: { test: 1319, train: 7473 },
  hub: {
    repo: 'openai/gsm8k',
    gated: false,
    files: { test: 'main/test-*.parquet', train: 'main/train-*.parquet' },
  },
  fields: ['question', 'answer'],
  copies: [
    {
      name: 'test split, non-ASCII characters written out',
      rows: 1319,
      sha256: '752adc99f23132275139f1f7be57126b08735a55daf0c56859ee6df70abafbac',
    },
  ],
  known_bad: [
    {
      question: '5efe7b03f61a0b98',
      kind: 'wrong-gold',
      why: 'three times more points than 8 is 24 points now and 10 before; the gold, 18, takes 32 (https://github.com/openai/grade-school-math/issues/25)',
    },
  ],
  notes: ['Records have no ids; an item is named after its place, counted from 0.'],
};
