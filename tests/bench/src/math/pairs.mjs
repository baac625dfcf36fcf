import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const corpus = new URL('../../../../packages/graders/dist/math.fixture.js', import.meta.url);
const { mathPairs, missed } = await import(corpus.href);

const shared = process.env.PERWATT_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));
const math500 = `${shared}/data/corpora/math500/test.jsonl`;

const boxed = (answer) => (answer.includes('\\boxed') ? answer : `\\boxed{${answer}}`);
const pair = (gold, answer, name = answer) => ({ gold: boxed(gold), answer, name });

/**
 * Pairs by set, every answer in a box as a model writes it: `gold`, `answer`, and a `name` that stands for a long answer. Of the 45,150
 * pairs of distinct MATH-500 answers every `step`-th. `problem` says what is left out.
 */
export function pairSets({ step }) {
  const own = [...Object.values(mathPairs).flat(), ...missed];
  const sets = { 'own corpus': own.map(([gold, answer]) => pair(gold, boxed(answer), answer)) };
  if (!existsSync(math500)) return { sets, problem: `MATH-500 left out: no ${math500}` };
  const rows = readFileSync(math500, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  sets['MATH-500 solutions'] = rows.map((row) =>
    pair(row.answer, row.solution, `solution of ${row.unique_id}`),
  );
  const distinct = [...new Set(rows.map(({ answer }) => answer))];
  const every = distinct.flatMap((a, i) => distinct.slice(i + 1).map((b) => pair(a, boxed(b), b)));
  sets[step === 1 ? 'MATH-500 answers, all pairs' : `MATH-500 answers, every ${step}th pair`] = every.filter(
    (_, i) => i % step === 0,
  );
  return { sets, problem: null };
}
