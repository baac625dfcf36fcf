import { createHash } from 'node:crypto';
import type { Item } from '@perwatt/core';
import type { Loader } from './dataset.js';
import { fileDataset } from './file-loaders.js';
import { collect } from './items.js';
import { type OptionInfo, readOptions } from './options.js';
import { jsonlRows, type Row, requiredText, rowError } from './rows.js';
import { readText } from './text-file.js';

const options: readonly OptionInfo[] = [
  { name: 'path', summary: 'test.jsonl or train.jsonl of openai/grade-school-math; required' },
  { name: 'sha256', summary: 'sha256 of the file, checked when given' },
  { name: 'answer_tokens', summary: 'longest answer that makes sense, default 512' },
];

/** sha256 of questions whose gold answer is known to be wrong: https://github.com/openai/grade-school-math/issues/25 */
const KNOWN_BAD = new Set(['5efe7b03f61a0b98']);

/** GSM8K in its official format: word problems with whole-number answers. */
export const gsm8k: Loader = {
  entry: {
    id: 'gsm8k',
    kind: 'file',
    grader: 'numeric',
    licence: 'MIT',
    summary: 'GSM8K word problems from a file in the official format',
    options,
  },
  async load(spec, context) {
    const reader = readOptions('gsm8k', spec.options, options);
    const path = reader.required('path');
    const file = await readText(path, context, reader.text('sha256'));
    const items = collect(jsonlRows(file), spec.limit, itemOf);
    if (items.length === 0) throw rowError(path, 'the file has no rows');
    return { ...fileDataset('gsm8k', items, { grader: 'numeric', reader }), licence: 'MIT' };
  },
};

/** Rows have no ids of their own: the place counted from 0, as the lists of wrong answers do. */
function itemOf(row: Row, index: number): Item {
  const question = requiredText(row, 'question');
  const answer = requiredText(row, 'answer');
  const gold = /#### *(?<gold>-?[0-9][0-9.,]*)\s*$/.exec(answer)?.groups?.['gold'];
  if (gold === undefined) throw rowError(row.place, 'field "answer" does not end in "#### N"');
  const digest = createHash('sha256').update(question).digest('hex').slice(0, 16);
  return {
    id: `gsm8k-${index}`,
    prompt: `${question}\nWork step by step and finish with a line "#### N", where N is the answer as a number.`,
    gold: gold.replaceAll(',', ''),
    options: null,
    subject: KNOWN_BAD.has(digest) ? 'known-bad' : null,
  };
}
