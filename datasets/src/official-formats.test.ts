import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
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
    [{ question: 'x' },                   'data line 1: field "answer" is missing or empty',      'no answer'],
    [{ answer: '#### 5' },                'data line 1: field "question" is missing or empty',    'no question'],
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
    expect(await load('mmlu-pro', JSON.stringify([question]))).toEqual(lines);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [row({ ...question, answer: 'D' }),               'data line 1: field "answer" is "D", none of the 3 options',       'a letter beyond the options'],
    [row({ ...question, answer_index: 0 }),           'data line 1: field "answer" is "B" but "answer_index" is 0',      'letter and index differ'],
    [row({ ...question, category: '' }),              'data line 1: field "category" is missing or empty',               'no category'],
    [row({ ...question, answer: 'C', answer_index: 2 }), 'data line 1: the right option is not among the options',       'the key is an option that says N/A'],
    [JSON.stringify([question, { ...question, question_id: null }]), 'data entry 2: field "question_id" is missing or empty', 'a list: the entry is named'],
    [`[${row(question)}`,                             'data: not JSON (',                                                'a cut list'],
    [row(question) + row(question),                   'data line 2: id "7" is already that of data line 1',              'an id twice'],
  ])('%s is an error: %s (%s)', async (content, message) => {
    await expect(load('mmlu-pro', content)).rejects.toMatchObject({
      code: 'DATASET_ROW_INVALID',
      message: expect.stringContaining(message),
    });
  });
});

describe('the official files', () => {
  const shared = resolve(import.meta.dirname, '../..', process.env['PERWATT_SHARED'] ?? '../shared');
  const corpora = join(shared, 'data/corpora');
  beforeEach(({ skip }) => skip(!existsSync(corpora), `no reference data in ${corpora}; set PERWATT_SHARED`));
  const read = (kind: string, path: string) =>
    loadDataset({ kind, options: { path } }, { root: corpora, seed: 1 });

  test('GSM8K loads whole: every gold is a whole number, one is known to be bad', async () => {
    const { items } = await read('gsm8k', 'gsm8k/test.jsonl');
    expect(items).toHaveLength(1319);
    expect(items.every((i) => /^-?\d+$/.test(i.gold))).toBe(true);
    expect(items.filter((i) => i.gold.startsWith('-'))).toHaveLength(2);
    expect(items.filter((i) => i.subject === 'known-bad').map((i) => i.id)).toEqual(['gsm8k-368']);
  });

  test.each([
    ['mmlu-pro/test.stratified.jsonl', 1400, 14],
    ['mmlu-pro/test.first.jsonl', 1398, 2],
  ])('%s loads whole', async (path, rows, categories) => {
    const { items, guess_rate } = await read('mmlu-pro', path);
    expect(items).toHaveLength(rows);
    expect(new Set(items.map((i) => i.subject)).size).toBe(categories);
    expect(guess_rate).toBeGreaterThan(0.1);
    expect(guess_rate).toBeLessThan(0.15);
    for (const { gold, options } of items) expect(gold.charCodeAt(0) - 65).toBeLessThan(options!.length);
  });
});

describe('datasetCatalogue', () => {
  test('every entry can be loaded by its name, and an unknown name is one error with the nearest', async () => {
    expect(datasetCatalogue().map((e) => e.id)).toEqual([
      'arithmetic',
      'choice-basic',
      'gsm8k',
      'mmlu-pro',
      'jsonl',
      'csv',
    ]);
    await expect(loadDataset({ kind: 'gsm-8k', options: {} }, { root, seed: 1 })).rejects.toMatchObject({
      code: 'DATASET_UNKNOWN',
      message: 'unknown data set "gsm-8k"; did you mean "gsm8k"?',
    });
  });
});
