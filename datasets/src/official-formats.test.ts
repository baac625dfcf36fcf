import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { datasetCatalogue, loadDataset } from './catalogue.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-official-'));
afterAll(() => rmSync(root, { recursive: true }));

function load(kind: string, content: string, options: Record<string, unknown> = {}) {
  writeFileSync(join(root, 'data'), content);
  return loadDataset({ kind, options: { path: 'data', ...options } }, { root, seed: 1 });
}

const row = (fields: object) => `${JSON.stringify(fields)}\n`;

describe('gsm8k', () => {
  test('the gold is what stands behind the mark, without commas', async () => {
    const content =
      row({ question: 'How many?', answer: '2*600=<<2*600=1200>>1,200\n#### 1,200' }) +
      row({ question: 'And?', answer: '#### -3' });
    const { items, ...facts } = await load('gsm8k', content);
    expect(facts).toMatchObject({ id: 'gsm8k', grader: 'numeric', licence: 'MIT', guess_rate: 0 });
    expect(items).toMatchObject([
      { id: 'gsm8k-0', gold: '1200', subject: null },
      { id: 'gsm8k-1', gold: '-3' },
    ]);
    expect(items[0]?.prompt).toMatch(/^How many\?\n.*"#### N"/);
  });

  // biome-ignore format: a table is read in columns
  test.each<readonly [fields: object, message: string, why: string]>([
    [{ question: 'x', answer: 'so 5' },   'data line 1: field "answer" does not end in "#### N"', 'no mark'],
    [{ question: 'x' },                   'data line 1: not a record of "gsm8k": missing "answer"; found "question"', 'no answer'],
    [{ answer: '#### 5' },                'data line 1: not a record of "gsm8k": missing "question"; found "answer"', 'no question'],
  ])('%j is an error: %s (%s)', async (fields, message) => {
    await expect(load('gsm8k', row(fields))).rejects.toMatchObject({ code: 'DATASET_ROW_INVALID', message });
  });
});

describe('mmlu-pro', () => {
  const question = {
    question_id: 7,
    question: 'Red?',
    options: ['sky', 'blood', 'N/A'],
    answer: 'B',
    answer_index: 1,
    category: 'colour',
  };

  test('options that say N/A are dropped, and the key keeps its text', async () => {
    const shifted = {
      ...question,
      question_id: 8,
      options: ['N/A', 'sky', 'blood'],
      answer: 'C',
      answer_index: 2,
    };
    const { items, ...facts } = await load('mmlu-pro', row(question) + row(shifted));
    expect(facts).toMatchObject({
      id: 'mmlu-pro',
      grader: 'choice',
      licence: 'MIT',
      guess_rate: 0.5,
      answer_tokens: 2048,
    });
    expect(items).toMatchObject([
      { id: '7', gold: 'B', options: ['sky', 'blood'], subject: 'colour' },
      { id: '8', gold: 'B', options: ['sky', 'blood'] },
    ]);
    expect(items[0]?.prompt).toContain('The answer is (X)');
    expect(items[0]?.prompt).toContain('Question: Red?\nOptions:\nA. sky\nB. blood');
  });

  test('a JSON list of rows is the same as JSONL', async () => {
    const lines = await load('mmlu-pro', row(question));
    const list = await load('mmlu-pro', JSON.stringify([question]));
    expect({ ...list, files: [] }).toEqual({ ...lines, files: [] });
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [row({ ...question, answer: 'D' }),               'data line 1: field "answer" is "D", none of the 3 options',       'a letter beyond the options'],
    [row({ ...question, answer_index: 0 }),           'data line 1: field "answer" is "B" but "answer_index" is 0',      'letter and index differ'],
    [row({ ...question, category: '' }),              'data line 1: field "category" is missing or empty',               'no category'],
    [row({ ...question, answer: 'C', answer_index: 2 }), 'data line 1: the right option is not among the options',       'the key is an option that says N/A'],
    [JSON.stringify([question, { ...question, question_id: null }]), 'data entry 2: field "question_id" is missing or empty', 'a list: the entry is named'],
    [`[${row(question)}`,                             'data: the JSON array is not closed',                              'a cut list'],
    [row(question) + row(question),                   'data line 2: id "7" is already that of data line 1',              'an id twice'],
  ])('%s is an error: %s (%s)', async (content, message) => {
    await expect(load('mmlu-pro', content)).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringContaining(message),
    });
  });
});

describe('datasetCatalogue', () => {
  test('names are unique, and an unknown one is one error with the nearest', async () => {
    const ids = datasetCatalogue().map((e) => e.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['arithmetic', 'choice-basic', 'gsm8k', 'jsonl', 'csv']));
    await expect(loadDataset({ kind: 'gsm-8k', options: {} }, { root, seed: 1 })).rejects.toMatchObject({
      code: 'DATASET_UNKNOWN',
      message: 'unknown data set "gsm-8k"; did you mean "gsm8k"?',
    });
  });
});
