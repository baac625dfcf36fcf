import { requiredText } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { humanevalCard } from './card.js';

/** HumanEval. */
export const humaneval = fileSet({
  card: humanevalCard,
  answer_tokens: 1024,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: 'Complete this Python function. Reply with one fenced code block that holds the whole function, with its imports.\n\n```python\n{question}\n```',
    },
    official: { version: 1, source: 'human-eval: the prompt alone, for base models', text: '{question}' },
    instruct: {
      version: 1,
      source: 'lm-evaluation-harness, humaneval_instruct, without the prefilled reply',
      text: 'Write a solution to the following problem and make sure that it passes the tests:\n```python\n{question}\n```',
    },
  },
  read(row) {
    const prompt = requiredText(row, 'prompt');
    return {
      id: requiredText(row, 'task_id'),
      question: prompt,
      gold: requiredText(row, 'canonical_solution'),
      data: {
        kind: 'code',
        language: 'python',
        prompt,
        entry_point: requiredText(row, 'entry_point'),
        test: requiredText(row, 'test'),
      },
    };
  },
});
