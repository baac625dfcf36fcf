import type { Readable } from 'node:stream';
import { type Grade, type GradeInput, type GraderMode, messageOf, PerwattError } from '@perwatt/core';
import { Command, Option } from 'commander';
import { allGraders, type GradingWorld, graderOf, gradingOf } from '../grading-world.js';
import type { Io } from '../io.js';
import { stdinOf } from '../stdin.js';
import { type GradeRunFlags, gradeRun } from './grade-run.js';
import { judgeCheck } from './judge-check.js';

interface GradeFlags extends GradeRunFlags {
  readonly allowCode?: boolean;
  readonly judgeEndpoint?: string;
  readonly judgeModel?: string;
  readonly judgeKeyEnv?: string;
  readonly judgeCheck?: boolean;
  readonly labels?: string;
}

const examples = `
Graders: ${allGraders()
  .map((g) => `${g.id} (version ${g.version})`)
  .join(', ')}

Of a run the stored answers are graded again: the grades go into new segments beside those that are there, and the verdicts
that changed are listed. The data sets are read again and must hold the same items.

Each line of standard input is a JSON object:
  prediction    the answer to judge
  gold          the right answer
  id            repeated in the output
  aliases       further right answers
  data          what a checker needs: a grid, tests of a program, a judge's question
  options       option texts of a choice question; or
  optionCount   their number
  policy        named policies, such as {"percent": "strict"}
  finishReason  why the model stopped: "length", "content_filter", …

Examples:
  perwatt grade runs/20261129-101500Z-accuracy
  perwatt grade runs/20261129-101500Z-accuracy --dataset gsm8k --grader math --mode robust --dry-run --json
  echo '{"prediction": "The total is $29.00.", "gold": "29"}' | perwatt grade --grader numeric --json
  perwatt grade --grader choice --mode official < answers.jsonl
  perwatt grade --grader code --allow-code < answers.jsonl
  perwatt grade --grader judge --judge-endpoint http://127.0.0.1:8080/v1 --judge-model m < answers.jsonl
  perwatt grade --grader judge --judge-endpoint http://127.0.0.1:8080/v1 --judge-model m --judge-check

Code is only run with --allow-code, in a sandbox of Linux namespaces. --judge-check holds the judge against 36 labelled answers of
our own, or those of --labels: JSON lines with way, question, prediction, gold and label ("correct" or "incorrect").`;

/** `perwatt grade`: grades the answers of a run again, or answers from standard input, a line each, as they come. */
export const gradeCommand = (io: Io, version: string): Command =>
  new Command('grade')
    .description('Grade the answers of a run again, or judge answers from standard input')
    .argument('[run]', 'run folder; without it standard input is read, a JSON object a line')
    .option('--grader <name>', `who judges: ${names()}; default for a run: the grader it was graded with`)
    .addOption(
      new Option(
        '--mode <mode>',
        'robust extraction, or a port of the official evaluation; default: both for a run, else robust',
      ).choices(['robust', 'official']),
    )
    .option('--dataset <name>', 'only cells of this data set of the run; may be given several times', collect)
    .option('--path <dataset=file>', 'where a file of the run is now; may be given several times', collect)
    .option('--policy <name=value>', 'named policy of the grader, such as percent=strict', collect)
    .option('--dry-run', 'compare with the grades of a run, and write nothing')
    .option('--allow-code', 'run the code of answers, in a sandbox')
    .option('--judge-endpoint <url>', 'server of the model that grades, for the graders judge and verifier')
    .option('--judge-model <name>', 'that model, as its server knows it')
    .option('--judge-key-env <name>', 'environment variable that holds the key of that server')
    .option('--judge-check', 'measure how far the judge agrees with labelled answers')
    .option('--labels <file>', 'labelled answers for --judge-check')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', examples)
    .action(async (run: string | undefined, flags: GradeFlags) => {
      const grading = gradingOf(gradingFlags(flags), io);
      if (run !== undefined) return gradeRun(run, flags, { io, version, grading });
      const alone = (['dataset', 'path', 'policy', 'dryRun'] as const).find(
        (name) => flags[name] !== undefined,
      );
      if (alone !== undefined)
        throw new PerwattError('USAGE', `--${alone === 'dryRun' ? 'dry-run' : alone} needs a run`);
      if (flags.grader === undefined) throw new PerwattError('USAGE', `no --grader was given: ${names()}`);
      await grading.prepare(flags.grader);
      if (flags.judgeCheck) return checkJudge(flags, grading, io);
      await gradeLines(flags.grader, { flags, grading, io });
    });

const names = () =>
  allGraders()
    .map(({ id }) => id)
    .join(', ');

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** What the flags say of judges and code, as a matrix would. */
function gradingFlags(flags: GradeFlags): Parameters<typeof gradingOf>[0] {
  const { allowCode = false, judgeEndpoint: url, judgeModel: model, judgeKeyEnv } = flags;
  if ((url === undefined) !== (model === undefined))
    throw new PerwattError('USAGE', '--judge-endpoint and --judge-model belong together');
  if (url === undefined || model === undefined) return { grading: { allow_code: allowCode } };
  const rater = { endpoint: 'judge', model };
  const key = judgeKeyEnv === undefined ? {} : { api_key_env: judgeKeyEnv };
  const judge = { url, api: 'chat', headers_timeout_s: 600, idle_timeout_s: 120, ...key } as const;
  return { grading: { allow_code: allowCode, judge: rater, verifier: rater }, endpoints: { judge } };
}

async function checkJudge(flags: GradeFlags, grading: GradingWorld, io: Io): Promise<void> {
  const judge = flags.grader === 'judge' ? grading.late('judge') : null;
  if (judge === null)
    throw new PerwattError('USAGE', '--judge-check needs --grader judge, --judge-endpoint and --judge-model');
  const { labels, json = false } = flags;
  await judgeCheck(judge, { io, json, ...(labels !== undefined && { labels }) });
}

interface Lines {
  readonly flags: GradeFlags;
  readonly grading: GradingWorld;
  readonly io: Io;
}

async function gradeLines(name: string, { flags, grading, io }: Lines): Promise<void> {
  const [grader, late] = [graderOf(name), grading.late(name)];
  const grade = (input: GradeInput) =>
    late === null ? grader.grade(input) : late.gradeLater(input, { signal: io.signal });
  const tally = new Map<string, number>();
  if (!flags.json) io.print(tableLine(['id', 'verdict', 'extracted', 'span', 'rule', 'notes']));
  for await (const line of linesOf(stdinOf(io))) {
    const task = parseTask(line);
    const found = await gradeTask(grade, task, flags.mode ?? 'robust', line.number);
    tally.set(found.verdict, (tally.get(found.verdict) ?? 0) + 1);
    io.print(flags.json ? jsonLine(task.id, found) : tableLine(cells(task.id ?? line.number, found)));
  }
  if (!flags.json) io.print(summary(tally));
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Lines that are not blank, ended by LF or CRLF only: other separators may stand inside JSON strings. */
async function* linesOf(input: Readable): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let number = 1;
  for await (const chunk of input) {
    const pieces = decoder
      .decode(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, { stream: true })
      .split('\n');
    for (const [i, piece] of pieces.entries()) {
      rest.push(piece);
      if (i === pieces.length - 1) break;
      const text = rest.join('');
      rest = [];
      if (text.trim() !== '') yield { number, text };
      number += 1;
    }
  }
  const text = rest.join('') + decoder.decode();
  if (text.trim() !== '') yield { number, text };
}

type Id = string | number;

interface Task {
  readonly id: Id | null;
  readonly input: Omit<GradeInput, 'mode'>;
}

function parseTask(line: Line): Task {
  const fields = parseObject(line);
  const field = <T>(
    names: readonly string[],
    wanted: string,
    accept: (value: unknown) => value is T,
  ): T | null => {
    const name = names.find((n) => fields[n] !== undefined && fields[n] !== null);
    if (name === undefined) return null;
    const value = fields[name];
    if (accept(value)) return value;
    throw invalid(line.number, `"${name}" is ${JSON.stringify(value)?.slice(0, 60)}, not ${wanted}`);
  };
  const required = (name: string) => {
    const value = field([name], 'a text', isTextual);
    if (value === null) throw invalid(line.number, `"${name}" is missing`);
    return `${value}`;
  };
  return {
    id: field(['id'], 'a text or number', isTextual),
    input: {
      prediction: required('prediction'),
      gold: required('gold'),
      options: field(['options'], 'a list of texts', isTexts),
      option_count: field(['optionCount', 'option_count'], 'a whole number of at least 1', isCount),
      finish_reason: field(['finishReason', 'finish_reason'], 'a text', isText),
      policy: field(['policy'], 'an object', isObject) ?? {},
      aliases: field(['aliases'], 'a list of texts', isTexts) ?? [],
      data: field(['data'], 'an object', isObject) ?? {},
    },
  };
}

function parseObject(line: Line): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line.text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw invalid(line.number, `not JSON (${messageOf(cause)})`, cause);
  }
  if (!isObject(value)) throw invalid(line.number, 'not a JSON object');
  return value;
}

async function gradeTask(
  grade: (input: GradeInput) => Grade | Promise<Grade>,
  task: Task,
  mode: GraderMode,
  line: number,
): Promise<Grade> {
  try {
    return await grade({ ...task.input, mode });
  } catch (cause) {
    if (cause instanceof PerwattError) throw invalid(line, cause.message, cause);
    throw cause;
  }
}

const invalid = (line: number, message: string, cause?: unknown) =>
  new PerwattError('INPUT_INVALID', `standard input line ${line}: ${message}`, { cause });

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextual = (value: unknown): value is Id => typeof value === 'string' || typeof value === 'number';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 1;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function jsonLine(id: Id | null, grade: Grade): string {
  const { verdict, span, rule, extracted, score, flags, reason, salvaged, mode } = grade;
  const named = id === null ? {} : { id };
  return JSON.stringify({ ...named, verdict, span, rule, extracted, score, flags, reason, salvaged, mode });
}

function cells(id: Id, grade: Grade): readonly string[] {
  const notes = [...grade.flags, ...(grade.reason === null ? [] : [grade.reason])].join(', ');
  const extracted = grade.extracted ?? '–';
  return [`${id}`, grade.verdict, extracted, grade.span?.join('–') ?? '–', grade.rule ?? '–', notes];
}

const WIDTHS = [12, 10, 20, 11, 22, 0] as const;

const tableLine = (row: readonly string[]) =>
  row
    .map((cell, i) => clip(cell.replaceAll(/\s+/g, ' '), WIDTHS[i] ?? 0))
    .join(' ')
    .trimEnd();

const clip = (cell: string, width: number) =>
  width === 0 || cell.length <= width ? cell.padEnd(width) : `${cell.slice(0, width - 1)}…`;

function summary(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, n) => sum + n, 0);
  const parts = [...tally].map(([verdict, n]) => `${n} ${verdict}`);
  return `${total} graded${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}
