import { optionalText, requiredText } from '../../rows.js';
import { fileSet } from '../file-set.js';
import { autologiCard } from './card.js';

/** AutoLogi: no gold, but a checker with each puzzle. */
export const autologi = fileSet({
  card: autologiCard,
  answer_tokens: 4096,
  prompts: {
    ours: {
      version: 1,
      source: 'Perwatt',
      text: '{question}\n\nFinish with the answer as one fenced JSON block and nothing after it.',
    },
    official: { version: 1, source: 'AutoLogi: the prompt of the record', text: '{question}' },
  },
  read(row, { index, options }) {
    const lang = optionalText(row, 'lang');
    return {
      id: `autologi-${options.text('split') ?? lang ?? 'en'}-${optionalText(row, 'idx') ?? index}`,
      question: requiredText(row, 'prompt'),
      gold: '',
      subject: lang,
      data: {
        kind: 'verifier',
        language: 'python',
        inputs_check: requiredText(row, 'code.Inputs_Check_code'),
        constraints: requiredText(row, 'code.Constraint_List_code'),
        traverse: optionalText(row, 'code.Traverse_code'),
      },
    };
  },
});
