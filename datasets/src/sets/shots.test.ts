import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import { afterAll, describe, expect, test } from 'vitest';
import { loadDataset } from '../catalogue.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-shots-'));
afterAll(() => rmSync(root, { recursive: true }));

const write = (name: string, records: readonly object[]) =>
  writeFileSync(join(root, name), records.map((record) => `${JSON.stringify(record)}\n`).join(''));

const sums = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    question: `What is q${from + i}?`,
    answer: `easy\n#### ${from + i}`,
  }));

const gsm8k = (path: string, shots: string | undefined, more: Record<string, unknown> = {}, seed = 1) =>
  loadDataset(
    {
      kind: 'gsm8k',
      options: { path, prompt: 'official', ...(shots === undefined ? {} : { shots }), ...more },
    },
    { root, seed },
  );

const asked = (prompt: string) =>
  [...prompt.matchAll(/Question: What is q(\d+)\?/g)].map(([, n]) => Number(n));

describe('worked examples', () => {
  test('the official prompt has five, solved, from the other file', async () => {
    write('test.jsonl', sums(0, 3));
    write('train.jsonl', sums(100, 30));
    const { items, prompt } = await gsm8k('test.jsonl', 'train.jsonl');
    expect(prompt).toMatchObject({
      id: 'gsm8k/official@1',
      shots: 5,
      shots_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const [first] = items;
    expect(asked(first!.prompt)).toHaveLength(6);
    expect(first!.prompt).toMatch(/^Question: What is q1\d\d\?\nAnswer: easy\n#### 1\d\d\n\nQuestion: /);
    expect(first!.prompt.endsWith('\n\nQuestion: What is q0?\nAnswer:')).toBe(true);
  });

  test('the seed chooses them: the same for all questions, others for another seed', async () => {
    write('test.jsonl', sums(0, 3));
    write('train.jsonl', sums(100, 200));
    const of = async (seed: number) =>
      (await gsm8k('test.jsonl', 'train.jsonl', {}, seed)).items.map((i) => asked(i.prompt).slice(0, 5));
    const [a, b] = [await of(1), await of(2)];
    expect(a[1]).toEqual(a[0]);
    expect(await of(1)).toEqual(a);
    expect(b).not.toEqual(a);
  });

  property.prop(
    [fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1000 })],
    { numRuns: 25, seed: 3 },
  )('a question is never among its own, and never has fewer than the others', async (count, more, seed) => {
    const size = count + 1 + more;
    write('same.jsonl', sums(0, size));
    const { items } = await gsm8k('same.jsonl', 'same.jsonl', { shot_count: count }, seed);
    expect(items).toHaveLength(size);
    for (const [own, { prompt }] of items.entries()) {
      const shown = asked(prompt);
      expect(shown.at(-1)).toBe(own);
      expect(new Set(shown).size).toBe(count + 1);
    }
  });

  test('nor is a copy of it that differs in blanks and case', async () => {
    write('test.jsonl', [{ question: 'What is q1?', answer: '#### 1' }]);
    write('train.jsonl', [{ question: ' what  IS q1? ', answer: '#### 1' }, ...sums(2, 1)]);
    const { items } = await gsm8k('test.jsonl', 'train.jsonl', { shot_count: 1 });
    expect(asked(items[0]!.prompt)).toEqual([2, 1]);
  });

  test('too few are an error that says how many there are', async () => {
    write('test.jsonl', sums(0, 1));
    write('train.jsonl', sums(100, 3));
    await expect(gsm8k('test.jsonl', 'train.jsonl')).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message:
        'test.jsonl line 1: train.jsonl has 3 worked examples beside the question itself, the prompt asks for 5',
    });
  });

  test('none are asked for with a count of 0; without a file that is an error', async () => {
    write('test.jsonl', sums(0, 1));
    const { items, prompt } = await gsm8k('test.jsonl', undefined, { shot_count: 0 });
    expect(items[0]?.prompt).toBe('Question: What is q0?\nAnswer:');
    expect(prompt).toMatchObject({ shots: 0, shots_sha256: null });
    await expect(gsm8k('test.jsonl', undefined)).rejects.toMatchObject({ code: 'DATASET_UNAVAILABLE' });
  });

  test("MMLU-Pro takes the first ones of the question's own category", async () => {
    const record = (id: number, category: string, more: object = {}) => ({
      question_id: id,
      question: `Which ${category} ${id}?`,
      options: ['x', 'y'],
      answer: 'B',
      answer_index: 1,
      category,
      ...more,
    });
    const shots = ['law', 'art'].flatMap((category, k) =>
      Array.from({ length: 7 }, (_, i) =>
        record(100 * (k + 1) + i, category, { cot_content: `A: Let's think. So ${i}.` }),
      ),
    );
    write('test.jsonl', [record(1, 'art')]);
    write('validation.jsonl', shots);
    const { items } = await loadDataset(
      { kind: 'mmlu-pro', options: { path: 'test.jsonl', prompt: 'official', shots: 'validation.jsonl' } },
      { root, seed: 1 },
    );
    const { prompt } = items[0]!;
    expect([...prompt.matchAll(/Question: Which art (\d+)\?/g)].map(([, n]) => n)).toEqual([
      '200',
      '201',
      '202',
      '203',
      '204',
      '1',
    ]);
    expect(prompt).toContain(
      "Question: Which art 200?\nOptions: A. x\nB. y\nAnswer: Let's think. So 0.\n\nQuestion: Which art 201?",
    );
    expect(prompt).toMatch(/^The following are multiple choice questions \(with answers\) about art\./);
    expect(
      prompt.endsWith("Question: Which art 1?\nOptions: A. x\nB. y\nAnswer: Let's think step by step."),
    ).toBe(true);
  });
});
