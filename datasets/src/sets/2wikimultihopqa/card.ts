import type { DatasetCard } from '../card.js';

export const twoWikiCard: DatasetCard = {
  id: '2wikimultihopqa',
  title: '2WikiMultiHopQA',
  summary: 'questions over two to four Wikipedia passages, short answers',
  licence: 'Apache-2.0',
  grader: 'em_f1',
  source: 'https://github.com/Alab-NII/2wikimultihop',
  splits: { dev: 12_576, train: 167_454 },
  hub: null,
  how: 'Its repository links an archive; unpack it and give the path of `dev.json`.',
  fields: [
    ['question', 'Question'],
    ['answer', 'Answer'],
  ],
  copies: [
    {
      name: 'dev, questions and answers only',
      rows: 1000,
      sha256: 'd8065978d1a708bd9c43bb3b8e6a771bb2518eec01de61f9d476773edf621724',
    },
    {
      name: 'questions and answers only',
      rows: 500,
      sha256: 'c7a1a2d410f81afb9c738cd5a7bb1941a17fc136e981fceaee36e6c7d4d7c763',
    },
  ],
  known_bad: [],
  notes: ['An answer may be a list of names of which each is right; it gives the gold and its aliases.'],
};
