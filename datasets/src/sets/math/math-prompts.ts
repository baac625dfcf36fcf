import type { FileSet } from '../file-set.js';

/** The prompts of MATH and its subsets. */
export const mathPrompts: FileSet['prompts'] = {
  ours: {
    version: 1,
    source: 'Perwatt',
    text: '{question}\nWork step by step and finish with a line "The answer is \\boxed{X}", where X is the answer in LaTeX.',
  },
  official: {
    version: 1,
    source: 'Minerva, as in lm-evaluation-harness, minerva_math; worked examples drawn from the train split',
    text: '{shots}Problem:\n{question}\n\nSolution:',
    shots: {
      split: 'train',
      count: 4,
      pick: 'drawn',
      text: 'Problem:\n{question}\n\nSolution:\n{solution}\nFinal Answer: The final answer is \u0024{gold}\u0024. I hope it is correct.\n\n',
    },
  },
  hendrycks: {
    version: 1,
    source: 'lm-evaluation-harness, hendrycks_math',
    text: 'Problem: {question}\nAnswer:',
  },
};
