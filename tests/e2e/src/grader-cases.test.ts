import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDataset, worldOf } from '@perwatt/datasets';
import { environmentGrader, graderById, readToken } from '@perwatt/graders';
import { passAtK } from '@perwatt/metrics';
import { sharedFolder } from '@perwatt/test-kit';
import { afterAll, describe, expect, test } from 'vitest';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly prediction: string;
  readonly gold: string;
  readonly correct: boolean | null;
  readonly verdict: readonly string[] | null;
  readonly optionCount?: number;
  readonly mustNotExtract?: string;
  readonly finishReason?: string;
  readonly policy?: Record<string, unknown>;
  readonly value?: number;
  readonly tolerance?: number;
}

const shared = sharedFolder();
const file = join(shared, 'reference/grader-cases.json');
const absent = `no reference data in ${shared}; set PERWATT_SHARED`;
const cases = (): readonly Case[] =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: Case[] }).cases : [];

const root = mkdtempSync(join(tmpdir(), 'perwatt-cases-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** By the grader that the kind is graded with. */
const graded = (grader: string) => (c: Case) => {
  const grade = graderById(grader).grade({
    prediction: c.prediction,
    gold: c.gold,
    option_count: c.optionCount ?? null,
    finish_reason: c.finishReason ?? null,
    ...(c.policy !== undefined && { policy: c.policy }),
  });
  expect(c.verdict, JSON.stringify(grade)).toContain(grade.verdict);
  if (c.value !== undefined) expect(grade.score).toBeCloseTo(c.value, 4);
  if (c.mustNotExtract !== undefined) expect(grade.extracted).not.toBe(c.mustNotExtract);
};

/** The reply of a judge, read for the grade that `gold` names in the form that it has. */
function judged({ prediction, gold, verdict }: Case): void {
  const wanted = gold.split(' ').at(-1) ?? gold;
  const read = readToken(prediction, wanted.length === 1 ? [...'ABCDE'] : ['CORRECT', 'INCORRECT']);
  const found = read === null ? 'unscored' : read === wanted ? 'correct' : 'incorrect';
  expect(verdict).toContain(found);
}

function formula({ prediction, gold, tolerance = 1e-12 }: Case): void {
  const [n, c, k] = [...prediction.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  expect(Math.abs(passAtK(n!, c!, k!)! - Number(gold))).toBeLessThanOrEqual(tolerance);
}

/** An episode that is over after its last step, and not won. */
async function episode({ verdict }: Case): Promise<void> {
  const { items } = await loadDataset({ kind: 'household', options: {}, limit: 1 }, { root, seed: 1 });
  const [item] = items;
  const world = worldOf(item!)!;
  const steps = world.open(item!).max_steps;
  const grader = environmentGrader(worldOf);
  const grade = (prediction: string) => grader.grade({ prediction, gold: '', data: item!.data! });
  expect(verdict).toContain(grade('look\n'.repeat(steps)).verdict);
  expect(grade(world.solve(item!)!.join('\n'))).toMatchObject({ verdict: 'correct', score: 1 });
}

/** A copy with other bytes than those that were pinned, and a gold that is known to be wrong. */
async function dataSet({ id, prediction, gold }: Case): Promise<void> {
  if (gold === '-') {
    const path = join(root, `${id}.jsonl`);
    writeFileSync(path, `${JSON.stringify({ problem: `What is 1 + 1? (${prediction})`, answer: 2 })}\n`);
    const options = { path, sha256: 'ab'.repeat(32) };
    await expect(loadDataset({ kind: 'aime-2024', options }, { root, seed: 1 })).rejects.toThrow(/sha256/);
    return;
  }
  const options = { path: join(shared, 'data/corpora/gsm8k/test.jsonl') };
  const { items, known_bad = [] } = await loadDataset({ kind: 'gsm8k', options }, { root, seed: 1 });
  const bad = items.filter((item) => known_bad.includes(item.id));
  expect(bad.map((item) => [items.indexOf(item), item.gold])).toEqual([[368, gold]]);
}

/** Shots drawn from the very file that is asked never hold the question itself. */
async function fewShot(): Promise<void> {
  const path = join(root, 'shots.jsonl');
  const rows = [1, 2, 3].map((n) => ({ question: `What is ${n} + ${n}?`, answer: `Easy.\n#### ${2 * n}` }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const options = { path, shots: path, prompt: 'official', shot_count: 2 };
  const { items } = await loadDataset({ kind: 'gsm8k', options }, { root, seed: 1 });
  for (const [i, { prompt }] of items.entries()) expect(prompt.split(rows[i]!.question)).toHaveLength(2);
}

const kinds: Readonly<Record<string, (c: Case) => void | Promise<void>>> = {
  mcq: graded('choice'),
  'mcq-noanswer': graded('choice'),
  number: graded('numeric'),
  math: graded('math'),
  timeout: graded('math'),
  f1: graded('em_f1'),
  judge: judged,
  'pass@k': formula,
  episode,
  dataset: dataSet,
  fewshot: fewShot,
};

describe('public reports of grading faults', () => {
  test('are all there, each of a kind that is checked', ({ skip }) => {
    skip(!existsSync(file), absent);
    expect(cases()).toHaveLength(48);
    expect(cases().filter(({ kind }) => kinds[kind] === undefined)).toEqual([]);
  });

  test.each(cases().map((c) => [c.id, c.kind, c] as const))(
    '%s (%s) has the right verdict',
    async (_, kind, c) => {
      await kinds[kind]!(c);
    },
  );
});
