import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { graderById } from './graders.js';

const root = resolve(import.meta.dirname, '../../..');
const shared = resolve(root, process.env['PERWATT_SHARED'] ?? '../shared');
const corpora = join(shared, 'data/corpora');

beforeEach(({ skip }) => skip(!existsSync(shared), `no reference data in ${shared}; set PERWATT_SHARED`));

const lines = <T>(file: string): T[] =>
  readFileSync(join(corpora, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly prediction: string;
  readonly gold: string;
  readonly verdict: readonly string[];
  readonly optionCount?: number;
  readonly mustNotExtract?: string;
  readonly finishReason?: string;
  readonly policy?: Record<string, unknown>;
  readonly value?: number;
}

const graderOf: Readonly<Record<string, string>> = {
  mcq: 'choice',
  'mcq-noanswer': 'choice',
  number: 'numeric',
  f1: 'em_f1',
  math: 'math',
  timeout: 'math',
};

test('public reports of grading faults have the right verdicts', () => {
  const { cases } = JSON.parse(readFileSync(join(shared, 'reference/grader-cases.json'), 'utf8')) as {
    cases: Case[];
  };
  const ours = cases.filter((c) => c.kind in graderOf);
  expect(ours.length).toBeGreaterThanOrEqual(40);
  for (const c of ours) {
    const grade = graderById(graderOf[c.kind]!).grade({
      prediction: c.prediction,
      gold: c.gold,
      option_count: c.optionCount ?? null,
      finish_reason: c.finishReason ?? null,
      ...(c.policy === undefined ? {} : { policy: c.policy }),
    });
    expect(c.verdict, `${c.id}: ${JSON.stringify(grade)}`).toContain(grade.verdict);
    if (c.value !== undefined) expect(grade.score, c.id).toBeCloseTo(c.value, 4);
    if (c.mustNotExtract !== undefined) expect(grade.extracted, c.id).not.toBe(c.mustNotExtract);
  }
});

describe('stored MMLU-Pro outputs', () => {
  interface Output {
    readonly output: string;
    readonly options: readonly string[];
    readonly answer: string;
    readonly officialCascade: string | null;
    readonly cascadeLevel: number;
  }
  const levels = [null, 'mmlu_pro.answer_is', 'mmlu_pro.answer_colon', 'mmlu_pro.last_letter'];
  const outputs = () => lines<Output>('mmlu-pro/extraction-cases.jsonl');
  const input = ({ output, options, answer }: Output) => ({ prediction: output, gold: answer, options });

  test('official mode reads the same letter at the same step', () => {
    const rows = outputs();
    expect(rows.length).toBe(351);
    for (const [i, row] of rows.entries()) {
      const grade = graderById('choice').grade({ ...input(row), mode: 'official' });
      const expected = { extracted: row.officialCascade, rule: levels[row.cascadeLevel] };
      expect({ extracted: grade.extracted, rule: grade.rule }, `row ${i}`).toEqual(expected);
    }
  });

  test('robust mode agrees where the official first step is sound, and never takes what it cannot stand by', () => {
    const grades = outputs().map((row) => ({ row, grade: graderById('choice').grade(input(row)) }));
    const first = grades.filter(({ row }) => row.cascadeLevel === 1);
    const agreeing = first.filter(({ row, grade }) => grade.extracted === row.officialCascade);
    expect(agreeing.length / first.length).toBeGreaterThan(0.9);
    for (const { row, grade } of grades)
      if (grade.span !== null) expect(row.output.slice(...grade.span)).toBe(grade.extracted);
    const none = grades.filter(({ row }) => row.cascadeLevel === 0);
    expect(none.every(({ grade }) => grade.rule === null || grade.rule === 'choice.text')).toBe(true);
  });
});

describe('GSM8K', () => {
  const goldOf = (answer: string) =>
    answer
      .split(/####|\nA:/)
      .at(-1)!
      .trim();

  test('labelled solutions of four models are judged as their labels say', () => {
    type Solutions = Record<string, { solution: string; is_correct: boolean }> & { ground_truth: string };
    const models = ['6b_finetuning', '6b_verification', '175b_finetuning', '175b_verification'];
    let judged = 0;
    for (const row of lines<Solutions>('gsm8k/example_model_solutions.first300.jsonl'))
      for (const model of models) {
        const { solution, is_correct } = row[model]!;
        const grade = graderById('numeric').grade({ prediction: solution, gold: goldOf(row.ground_truth) });
        expect(grade.verdict === 'correct', `${model}: ${solution}`).toBe(is_correct);
        judged += 1;
      }
    expect(judged).toBe(1200);
  });

  test.each(['robust', 'official'] as const)(
    'every official answer is right for its own gold, %s',
    (mode) => {
      for (const { answer } of lines<{ answer: string }>('gsm8k/test.jsonl')) {
        const grade = graderById('numeric').grade({ prediction: answer, gold: goldOf(answer), mode });
        expect(grade.verdict, answer).toBe('correct');
      }
    },
  );
});

test('every GSM8K-like and MMLU-Pro-like gold is right for itself', () => {
  for (const { answer, options } of lines<{ answer: string; options: string[] }>(
    'mmlu-pro/test.stratified.jsonl',
  )) {
    const grade = graderById('choice').grade({
      prediction: `The answer is (${answer}).`,
      gold: answer,
      options,
    });
    expect(grade.verdict).toBe('correct');
  }
});
