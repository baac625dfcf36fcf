import type { Readable } from 'node:stream';
import {
  type Grade,
  type GradeInput,
  type Grader,
  type GraderMode,
  messageOf,
  PerwattError,
} from '@perwatt/core';
import { graderById, graders } from '@perwatt/graders';
import { Command, Option } from 'commander';
import type { Io } from '../io.js';
import { stdinOf } from '../stdin.js';
import { type GradeRunFlags, gradeRun } from './grade-run.js';

type GradeFlags = GradeRunFlags;

const examples = `
Graders: ${graders()
  .map((g) => `${g.id} (version ${g.version})`)
  .join(', ')}

Of a run the stored answers are graded again: the grades go into new segments beside those that are there, and the verdicts
that changed are listed. The data sets are read again and must hold the same items.

Each line of standard input is a JSON object:
  prediction    the answer to judge
  gold          the right answer
  id            repeated in the output
  options       option texts of a choice question; or
  optionCount   their number
  policy        named policies, such as {"percent": "strict"}
  finishReason  why the model stopped: "length", "content_filter", …

Examples:
  perwatt grade runs/20261129-101500Z-accuracy
  perwatt grade runs/20261129-101500Z-accuracy --dataset gsm8k --grader math --mode robust --dry-run --json
  echo '{"prediction": "The total is $29.00.", "gold": "29"}' | perwatt grade --grader numeric --json
  perwatt grade --grader choice --mode official < answers.jsonl`;

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
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', examples)
    .action(async (run: string | undefined, flags: GradeFlags) => {
      if (run !== undefined) return gradeRun(run, flags, { io, version });
      const alone = (['dataset', 'path', 'policy', 'dryRun'] as const).find(
        (name) => flags[name] !== undefined,
      );
      if (alone !== undefined)
        throw new PerwattError('USAGE', `--${alone === 'dryRun' ? 'dry-run' : alone} needs a run`);
      if (flags.grader === undefined) throw new PerwattError('USAGE', `no --grader was given: ${names()}`);
      await gradeLines(graderById(flags.grader), flags, io);
    });

const names = () =>
  graders()
    .map(({ id }) => id)
    .join(', ');

const collect = (value: string, before: readonly string[] = []) => [...before, value];

async function gradeLines(grader: Grader, flags: GradeFlags, io: Io): Promise<void> {
  const tally = new Map<string, number>();
  if (!flags.json) io.print(tableLine(['id', 'verdict', 'extracted', 'span', 'rule', 'notes']));
  for await (const line of linesOf(stdinOf(io))) {
    const task = parseTask(line);
    const grade = gradeTask(grader, task, flags.mode ?? 'robust', line.number);
    tally.set(grade.verdict, (tally.get(grade.verdict) ?? 0) + 1);
    io.print(flags.json ? jsonLine(task.id, grade) : tableLine(cells(task.id ?? line.number, grade)));
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

function gradeTask(grader: Grader, task: Task, mode: GraderMode, line: number): Grade {
  try {
    return grader.grade({ ...task.input, mode });
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
