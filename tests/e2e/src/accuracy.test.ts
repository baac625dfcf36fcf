import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ggufFixture } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { folderWith, onlyRun, repository, runCli } from './cli.js';
import { reportText } from './report-text.js';

const evil = '<script>window.broken=1</script>';
const questions = Array.from({ length: 6 }, (_, i) => ({
  question: `${evil} What is ${i} + 1?`,
  answer: `It is ${i + 1}.\n#### ${i + 1}`,
}));
const gsm8k = questions.map((row) => `${JSON.stringify(row)}\n`).join('');
const mmluPro = questions
  .map((_, i) => ({
    question_id: i,
    question: `What is ${i}?`,
    options: ['a', 'b', 'c'],
    answer: 'B',
    answer_index: 1,
    category: i < 3 ? 'law' : 'math',
    cot_content: '',
  }))
  .map((row) => `${JSON.stringify(row)}\n`)
  .join('');

const matrix = `
name: accuracy
protocol: quick
repeats: 2
axes:
  model: [{ id: tiny, path: tiny.gguf }]
  dataset:
    - { id: maths, kind: gsm8k, max_tokens: 8, grading: official }
    - { id: choices, kind: mmlu-pro, path: mmlu.jsonl, prompt: direct, max_tokens: 8 }
`;

test('pulled questions are asked, graded in both modes, reported, and graded again beside what was there', async () => {
  const cwd = folderWith({ 'gsm8k.jsonl': gsm8k, 'mmlu.jsonl': mmluPro, 'matrix.yaml': matrix });
  writeFileSync(join(cwd, 'tiny.gguf'), ggufFixture());
  const options = { cwd, env: { PERWATT_CACHE: join(cwd, 'cache') } };
  const pulled = await runCli(['datasets', 'pull', 'gsm8k', '--from', 'gsm8k.jsonl'], options);
  expect(pulled).toMatchObject({ code: 0 });
  const ran = await runCli(['run', 'matrix.yaml', '--power', 'none', '--quiet'], options);
  expect(ran.stderr).not.toContain('error[');
  const run = onlyRun(join(cwd, 'runs'));
  const page = reportText(run);
  expect(page).toContain('How answers were graded');
  expect(page).toMatch(/Unparsed: \d+/);
  expect(page).not.toContain('<script>window.broken');
  expect(page).toContain('2 subjects');
  const { cells } = JSON.parse(readFileSync(join(run, 'report/results.json'), 'utf8'));
  const maths = cells.find((cell: { point: { dataset: string } }) => cell.point.dataset === 'maths');
  expect(maths.grading).toMatchObject({
    headline: 'official',
    figures: [
      { mode: 'official', pass: 0, attempts: { k: 2, items: 6 } },
      { mode: 'robust', pass: 0 },
    ],
  });
  expect(maths.provenance.dataset).toMatchObject({
    prompt: { id: 'gsm8k/ours@1', shots: 0 },
    files: [{ path: 'gsm8k/test/gsm8k.jsonl' }],
  });
  const regraded = await runCli(['grade', run, '--dataset', 'maths', '--grader', 'exact', '--json'], options);
  expect(JSON.parse(regraded.stdout).cells).toMatchObject([{ pass: 1, grader: 'exact', answers: 12 }]);
  const counted = await runCli(
    ['query', run, 'SELECT pass, count(*) AS n FROM grades GROUP BY pass ORDER BY pass', '--json'],
    options,
  );
  expect(
    counted.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { pass: 0, n: 48 },
    { pass: 1, n: 24 },
  ]);
  expect((await runCli(['verify', run], options)).code).toBe(0);
});

test('the example of published questions is a plan once its files are there', async () => {
  const cwd = folderWith({ 'data/gsm8k/test.jsonl': gsm8k, 'data/mmlu-pro/test.jsonl': mmluPro });
  mkdirSync(join(cwd, 'examples'));
  writeFileSync(
    join(cwd, 'examples/accuracy.yaml'),
    readFileSync(join(repository, 'examples/accuracy.yaml')),
  );
  const { code, stdout } = await runCli(['run', 'examples/accuracy.yaml', '--dry-run', '--power', 'none'], {
    cwd,
  });
  expect(code).toBe(0);
  expect(stdout).toContain('4 cells, 24 queries');
});
