import { optionalText, type Row, requiredText } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { cruxevalCard } from './card.js';

/** CRUXEval's output task, from its own records or from those of ZeroEval. */
export const cruxeval = fileSet({
  card: cruxevalCard,
  answer_tokens: 1024,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: '{question}\n\nWork out step by step what stands in the place of ??. Finish with a line "Answer: X", where X is that Python literal and nothing else.',
    },
    official: {
      version: 1,
      source: 'ZeroEval, crux',
      text: 'Please answer this question by first reasoning and then providing your answer. Present your reasoning and solution in the following json format. Please show your final answer in the `answer` field.\n\n{question}\n\n{"reasoning": "___", "answer": "___"}',
    },
  },
  read: (row) => ({
    id: requiredText(row, 'id'),
    question: optionalText(row, 'question') ?? questionOf(row),
    gold: optionalText(row, 'answer') ?? requiredText(row, 'output'),
    data: { kind: 'literal', language: 'python' },
  }),
});

const questionOf = (row: Row) =>
  `Here is a Python function and an assertion on a call of it. Complete the assertion with the literal that the call returns.\n\n[PYTHON]\n${requiredText(row, 'code')}\nassert f(${requiredText(row, 'input')}) == ??\n[/PYTHON]`;
