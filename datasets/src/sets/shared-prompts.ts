import type { PromptTemplate } from './prompt-template.js';

/** Our own way to put a multiple-choice question. */
export const choiceOurs: PromptTemplate = {
  version: 1,
  source: 'Perwatt',
  text: '{question}\n\n{options}\n\nThink step by step and finish with "The answer is (X)", where X is the letter of the right option.',
};

/** Our own way to ask for a number. */
export const numberOurs: PromptTemplate = {
  version: 1,
  source: 'Perwatt',
  text: '{question}\nWork step by step and finish with a line "#### N", where N is the answer as a number.',
};

/** Our own way to ask for a short answer; passages stand in front where there are any. */
export const shortOurs: PromptTemplate = {
  version: 1,
  source: 'Perwatt',
  text: '{passage_block}Question: {question}\nThink step by step if you need to, and finish with a line "Answer: X", where X is the answer in as few words as possible.',
};

/** LongBench's way to ask for a short answer from passages. */
export const shortLongBench: PromptTemplate = {
  version: 1,
  source: 'LongBench',
  text: 'Answer the question based on the given passages. Only give me the answer and do not output any other words.\n\nThe following are given passages.\n{passages}\n\nAnswer the question based on the given passages. Only give me the answer and do not output any other words.\n\nQuestion: {question}\nAnswer:',
};

/** The question alone, without passages. */
export const shortClosedBook: PromptTemplate = {
  version: 1,
  source: 'Perwatt',
  text: 'Question: {question}\nFinish with a line "Answer: X", where X is the answer in as few words as possible.',
};
