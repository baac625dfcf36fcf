import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { verifyCommand } from './datasets-verify.js';

const repo = fileURLToPath(new URL('../../../..', import.meta.url));
const corpora = join(resolve(repo, process.env['PERWATT_SHARED'] ?? '../shared'), 'data/corpora');
beforeEach(({ skip }) => skip(!existsSync(corpora), `no reference data in ${corpora}; set PERWATT_SHARED`));

// biome-ignore format: a table is read in columns
test.each([
  ['gsm8k',           'gsm8k/test.jsonl',                          1319],
  ['svamp',           'svamp/test.jsonl',                          1000],
  ['aqua',            'aqua/test.jsonl',                           254],
  ['math-500',        'math500/test.jsonl',                        500],
  ['mmlu-pro',        'mmlu-pro/test.stratified.jsonl',            1400],
  ['cruxeval',        'cruxeval-o/zeroeval_gpt4.first300.jsonl',   300],
  ['planbench',       'planbench/blocksworld.task1_prompts.jsonl', 500],
  ['musique',         'musique/qa-only.500.jsonl',                 500],
  ['2wikimultihopqa', '2wikimultihopqa/qa-only.500.jsonl',         500],
])('every gold of %s is right by its own grader', async (name, file, n) => {
  const { io, result } = recordedIo({ cwd: corpora });
  await verifyCommand(io).parseAsync([name, '--path', file, '--json'], { from: 'user' });
  const checks: { check: string; state: string; detail: string }[] = JSON.parse(result.out.join('\n'));
  expect(checks.find(({ check }) => check === 'gold against gold')).toMatchObject({ state: 'ok', detail: `${n} of ${n} right` });
  expect(checks.find(({ check }) => check === 'files')).toMatchObject({ state: 'ok', detail: expect.stringContaining('(') });
  expect(result.code).toBe(0);
});
