import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Grade, type GradeInput, type LateGrader, messageOf, PerwattError } from '@perwatt/core';
import { type Agreement, agreementOf, type JudgeLabel, judgeLabels } from '@perwatt/graders';
import { wilson } from '@perwatt/metrics';
import type { Io } from '../io.js';
import { textTable } from '../text-table.js';

interface Judged {
  readonly label: JudgeLabel;
  readonly way: string;
  readonly grade: Grade;
}

export interface JudgeCheckOptions {
  readonly io: Io;
  /** JSON Lines of labelled answers; the set of our own where left out. */
  readonly labels?: string;
  readonly json: boolean;
}

/** Holds a judge against answers that people have judged, and prints how far they agree. */
export async function judgeCheck(judge: LateGrader, { io, labels, json }: JudgeCheckOptions): Promise<void> {
  const rows = labels === undefined ? judgeLabels() : readLabels(resolve(io.cwd, labels));
  const judged = await Promise.all(
    rows.map(async (label): Promise<Judged> => {
      const grade = await judge.gradeLater(label.input, { signal: io.signal });
      return { label, way: String(label.input.data?.['way']), grade };
    }),
  );
  const ways = [...new Set(judged.map(({ way }) => way))];
  const groups = [...ways, ...(ways.length > 1 ? ['all'] : [])].map((name) =>
    figuresOf(
      name,
      judged.filter(({ way }) => name === 'all' || way === name),
    ),
  );
  const differing = judged.filter(({ grade, label }) => isJudged(grade) && grade.verdict !== label.label);
  const account = judge.account?.() ?? null;
  if (json) {
    const disagreements = differing.map(({ label, grade }) => ({
      id: label.id,
      label: label.label,
      ...grade,
    }));
    io.print(JSON.stringify({ groups, account, disagreements }, null, 2));
    return;
  }
  for (const line of textTable(columns, groups.map(cellsOf), io.columns ?? 160)) io.print(line);
  for (const { label, grade } of differing)
    io.print(
      `${label.id}: labelled ${label.label} (${label.why}), judged ${grade.verdict}: ${grade.reason ?? '–'}`,
    );
  if (account !== null)
    io.print(
      `${account.calls} calls (${account.failed_calls} failed), ${account.cached} replies cached, ${account.unreadable} unreadable, ${account.prompt_tokens ?? '?'} + ${account.completion_tokens ?? '?'} tokens, ${account.order_flips} of ${account.pairs} pairs flipped with their order`,
    );
}

interface Figures {
  readonly way: string;
  readonly labelled: number;
  readonly unscored: number;
  readonly agreement: { readonly value: number; readonly lo: number; readonly hi: number } | null;
  readonly kappa: Agreement['kappa'];
  readonly kappa_se: Agreement['kappa_se'];
}

const isJudged = ({ verdict }: Grade): boolean => verdict === 'correct' || verdict === 'incorrect';

function figuresOf(way: string, judged: readonly Judged[]): Figures {
  const pairs = judged
    .filter(({ grade }) => isJudged(grade))
    .map(({ label, grade }) => [label.label, grade.verdict] as const);
  const { n, agreed, kappa, kappa_se } = agreementOf(pairs);
  const share = wilson(agreed, n);
  const agreement = share === null ? null : { value: share.value, lo: share.lo, hi: share.hi };
  return { way, labelled: judged.length, unscored: judged.length - n, agreement, kappa, kappa_se };
}

const columns = [
  { name: 'way', right: false },
  { name: 'labelled', right: true },
  { name: 'unscored', right: true },
  { name: 'agreement [95 %]', right: true },
  { name: 'κ ± 1.96 se', right: true },
];

const cellsOf = ({ way, labelled, unscored, agreement, kappa, kappa_se }: Figures): string[] => [
  way,
  `${labelled}`,
  `${unscored}`,
  agreement === null
    ? '–'
    : `${agreement.value.toFixed(3)} [${agreement.lo.toFixed(3)}, ${agreement.hi.toFixed(3)}]`,
  kappa === null ? '–' : `${kappa.toFixed(3)} ± ${kappa_se === null ? '?' : (1.96 * kappa_se).toFixed(3)}`,
];

/** Labelled answers of a file: `id`, `way`, `question`, `prediction`, `gold`, `label`, and `rubric` or `criteria`. Throws `INPUT_INVALID` with the line. */
function readLabels(file: string): readonly JudgeLabel[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PerwattError('FILE_UNREADABLE', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return text
    .split('\n')
    .map((line, i) => [line.trim(), i + 1] as const)
    .filter(([line]) => line !== '')
    .map(([line, number]) => labelOf(line, `${file} line ${number}`));
}

function labelOf(line: string, place: string): JudgeLabel {
  const fail = (message: string) => new PerwattError('INPUT_INVALID', `${place}: ${message}`);
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (cause) {
    throw fail(`not JSON (${messageOf(cause)})`);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw fail('not a JSON object');
  const { id = place, prediction, gold = '', label, why = '', ...data } = row as Record<string, unknown>;
  if (label !== 'correct' && label !== 'incorrect')
    throw fail(`"label" is ${JSON.stringify(label)}, not "correct" or "incorrect"`);
  if (typeof prediction !== 'string' || typeof gold !== 'string')
    throw fail('"prediction" and "gold" must be texts');
  const input: GradeInput = { prediction, gold, data };
  return { id: String(id), input, label, why: String(why) };
}
