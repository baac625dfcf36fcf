// The math grader beside Math-Verify, on the same pairs in one run: verdicts with every difference judged by hand, and pairs a
// second of CPU time.
import { readFileSync } from 'node:fs';
import { math } from '@perwatt/graders';
import { mathVerifyVersion, prepareMathVerify, runMathVerify } from './math/math-verify.mjs';
import { pairSets } from './math/pairs.mjs';
import { medianOf } from './stats.mjs';

const TARGET = 50;
const ROUNDS = Number(process.env.PERWATT_BENCH_ROUNDS ?? 1);
/** Passes of ours for one of theirs: one pass takes some milliseconds. */
const PASSES = 20;

const judged = new Map(
  JSON.parse(readFileSync(new URL('./math/judged.json', import.meta.url), 'utf8')).map((row) => [
    `${row.gold} ⇆ ${row.answer}`,
    row,
  ]),
);
const judgementOf = ({ gold, name }) => judged.get(`${gold.replace(/^\\boxed\{(.*)\}$/s, '$1')} ⇆ ${name}`);

/** With `long`, all 45,150 pairs of distinct MATH-500 answers instead of every 50th. */
export async function run({ long = false } = {}) {
  const version = mathVerifyVersion();
  const missing = prepareMathVerify();
  if (missing !== null) return { passed: true, lines: [`skipped: no Math-Verify ${version}: ${missing}`] };
  const { sets, problem } = pairSets({ step: long ? 1 : 50 });
  const found = Object.entries(sets).map(([name, pairs]) => compare(name, pairs));
  const differing = found.flatMap(({ name, differences }) =>
    differences.map((row) => ({ set: name, ...row })),
  );
  const total = totalOf(found);
  const unjudged = differing.filter(({ right }) => right === null);
  const falsely = differing.filter(({ ours, right }) => ours && right === false);
  const passed = unjudged.length === 0 && falsely.length === 0 && total.ratio >= TARGET;
  const lines = [...table([...found, total]), '', ...differenceLines(differing)];
  if (problem !== null) lines.push(problem);
  return { passed, lines, data: { version, sets: found, total, differing } };
}

function compare(name, pairs) {
  const theirs = runMathVerify(pairs, ROUNDS);
  const ours = runOurs(pairs);
  const differences = pairs.flatMap((pair, i) => {
    if (ours.verdicts[i] === (theirs.verdicts[i] === true)) return [];
    const { right = null, why = 'not judged yet' } = judgementOf(pair) ?? {};
    const side = { ours: ours.verdicts[i], theirs: theirs.verdicts[i] };
    return [{ gold: pair.gold, answer: pair.name, ...side, right, why }];
  });
  const raised = theirs.verdicts.filter((verdict) => verdict === null).length;
  const cpu = { ours_s: medianOf(ours.cpu_s), theirs_s: medianOf(theirs.cpu_s) };
  return figures({ name, pairs: pairs.length, raised, ...cpu, differences });
}

function runOurs(pairs) {
  const isRight = ({ gold, answer }) => math.grade({ gold, prediction: answer }).verdict === 'correct';
  const verdicts = pairs.map(isRight);
  const pass = () => {
    for (const pair of pairs) isRight(pair);
  };
  for (let i = 0; i < PASSES; i++) pass();
  const cpu_s = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < PASSES; i++) pass();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6 / PASSES;
  });
  return { verdicts, cpu_s };
}

const figures = (row) => ({ ...row, ratio: row.theirs_s / row.ours_s });

function totalOf(found) {
  const sum = (value) => found.reduce((total, row) => total + value(row), 0);
  return figures({
    name: 'all',
    pairs: sum(({ pairs }) => pairs),
    raised: sum(({ raised }) => raised),
    ours_s: sum(({ ours_s }) => ours_s),
    theirs_s: sum(({ theirs_s }) => theirs_s),
    differences: found.flatMap(({ differences }) => differences),
  });
}

function table(rows) {
  const rate = (pairs, s) => Math.round(pairs / s).toLocaleString('en-US');
  return [
    '| pairs | | same verdict | ours right | Math-Verify right | ours: pairs / CPU-s | Math-Verify | ratio |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.map(({ name, pairs, ours_s, theirs_s, ratio, differences }) => {
      const rightly = differences.filter(({ ours, right }) => right !== null && ours === right).length;
      const wrongly = differences.filter(({ ours, right }) => right !== null && ours !== right).length;
      const counts = [pairs, pairs - differences.length, rightly, wrongly].map((n) =>
        n.toLocaleString('en-US'),
      );
      return `| ${[name, ...counts, rate(pairs, ours_s), rate(pairs, theirs_s), `${ratio.toFixed(0)}×`].join(' | ')} |`;
    }),
  ];
}

const differenceLines = (differing) => [
  '| gold | answer | ours | Math-Verify | right | why |',
  '|---|---|---|---|---|---|',
  ...differing.map(({ gold, answer, ours, theirs, right, why }) => {
    const said = [ours, theirs, right].map((verdict) =>
      verdict === null ? '–' : verdict ? 'equal' : 'not equal',
    );
    return `| \`${gold}\` | \`${answer}\` | ${said.join(' | ')} | ${why} |`;
  }),
];
