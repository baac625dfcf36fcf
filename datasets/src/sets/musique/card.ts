import type { DatasetCard } from '../card.js';

export const musiqueCard: DatasetCard = {
  id: 'musique',
  title: 'MuSiQue-Ans',
  summary: 'questions of two to four hops over twenty paragraphs, short answers',
  licence: 'CC-BY-4.0',
  grader: 'em_f1',
  source: 'https://github.com/StonyBrookNLP/musique',
  splits: { dev: 2417, train: 19_938 },
  hub: null,
  how: 'Its repository links an archive; unpack it and give the path of `musique_ans_v1.0_dev.jsonl`.',
  fields: [['question', 'Question'], 'answer', 'id'],
  copies: [
    {
      name: 'dev, first records',
      rows: 100,
      sha256: 'c59a3ce71771d01a227fc4f23227dd363ff776daf0f4f3e61b10dfedcdc65af5',
    },
    {
      name: 'questions and answers only',
      rows: 500,
      sha256: 'ba6bc6f4b91bb9ff15df58825721bfef4fc64186074440a5b24832d3d30d260f',
    },
  ],
  known_bad: [],
  notes: ['Subjects are numbers of hops.'],
};
