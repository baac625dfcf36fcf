import type { Item } from '@perwatt/core';
import { type Loader, optionLabel, optionLines } from './dataset.js';
import { fileDataset } from './file-loaders.js';
import { collect } from './items.js';
import { type OptionInfo, readOptions } from './options.js';
import { fieldOf, jsonRows, type Row, requiredOptions, requiredText, rowError } from './rows.js';
import { readText } from './text-file.js';

const options: readonly OptionInfo[] = [
  { name: 'path', summary: 'rows of TIGER-Lab/MMLU-Pro as JSON or JSONL; required' },
  { name: 'sha256', summary: 'sha256 of the file, checked when given' },
  { name: 'answer_tokens', summary: 'longest answer that makes sense, default 2048' },
];

/** MMLU-Pro in its official format: up to ten options, asked without worked examples. */
export const mmluPro: Loader = {
  entry: {
    id: 'mmlu-pro',
    kind: 'file',
    grader: 'choice',
    licence: 'MIT',
    summary: 'MMLU-Pro multiple choice from a file in the official format',
    options,
  },
  async load(spec, context) {
    const reader = readOptions('mmlu-pro', { answer_tokens: 2048, ...spec.options }, options);
    const path = reader.required('path');
    const file = await readText(path, context, reader.text('sha256'));
    const items = collect(jsonRows(file), spec.limit, itemOf);
    if (items.length === 0) throw rowError(path, 'the file has no rows');
    return { ...fileDataset('mmlu-pro', items, { grader: 'choice', reader }), licence: 'MIT' };
  },
};

function itemOf(row: Row): Item {
  const question = requiredText(row, 'question');
  const listed = requiredOptions(row, 'options');
  const key = listed[keyIndex(row, listed)];
  const offered = listed.filter((text) => text !== 'N/A');
  if (key === undefined || !offered.includes(key))
    throw rowError(row.place, 'the right option is not among the options');
  const category = requiredText(row, 'category');
  return {
    id: requiredText(row, 'question_id'),
    prompt: [
      `The following is a multiple choice question about ${category}. Think step by step and finish with "The answer is (X)", where X is the letter of the right option.`,
      `Question: ${question}\nOptions:\n${optionLines(offered)}`,
    ].join('\n\n'),
    gold: optionLabel(offered.indexOf(key)),
    options: offered,
    subject: category,
  };
}

/** The place of the right option. Letter and index must say the same where both are given. */
function keyIndex(row: Row, listed: readonly string[]): number {
  const letter = requiredText(row, 'answer');
  const index = listed.findIndex((_, i) => optionLabel(i) === letter);
  if (index === -1)
    throw rowError(row.place, `field "answer" is "${letter}", none of the ${listed.length} options`);
  const given = fieldOf(row, 'answer_index');
  if (given !== undefined && given !== null && given !== index)
    throw rowError(row.place, `field "answer" is "${letter}" but "answer_index" is ${JSON.stringify(given)}`);
  return index;
}
