import { PerwattError, type World } from '@perwatt/core';
import { episodeOf, type Turn } from '../episode.js';
import { type DataReader, MAX_STEPS, worldData } from '../world-data.js';
import { parseProgram } from './parse.js';
import { type ProgramResult, runProgram } from './run.js';
import type { Program } from './syntax.js';
import { inputText } from './tasks.js';
import { type ProgramValue, parseValues, sameValue, writeValue } from './value.js';

export const PROGRAM_VERSION = 1;

/** Absolute Zero's three kinds of tasks: what a program returns, what it was given, which program it is. */
export const programKinds = ['code_o', 'code_i', 'code_f'] as const;
export type ProgramKind = (typeof programKinds)[number];

const skills: Readonly<Record<ProgramKind, string>> = {
  code_o: 'Write down every name with its value, statement by statement, and lists element by element.',
  code_i:
    'Go backwards from the output: what each statement must have had for its result. Then run what you found forwards.',
  code_f:
    'Compare inputs that differ in little. Look for sums, counts, largest ones, remainders and filters; try a guess on every pair.',
};

interface Tries {
  readonly used: number;
  readonly won: boolean;
}

/** What came of an answer: null when it holds none, else whether it is right, and what to say. */
type Judged = { readonly right: boolean; readonly says: string } | null;

interface Task {
  readonly kind: ProgramKind;
  readonly judge: (answer: string) => Judged;
  readonly solution: string;
  readonly opening: string;
  readonly tries: number;
  readonly max_steps: number;
}

/**
 * Program tasks, judged by running: an action is an answer. For `code_i` any arguments that give the output are right; for `code_f`
 * any program that gives all outputs, those that weren't shown too. What holds no answer is an invalid action and no try.
 */
export const programWorld: World = {
  id: 'program',
  version: PROGRAM_VERSION,
  open(item) {
    const { kind, judge, opening, tries, max_steps } = taskOf(worldData(item, 'program', PROGRAM_VERSION));
    return episodeOf<Tries>(
      {
        take(state, _action, written): Turn<Tries> {
          const judged = judge(written);
          if (judged === null)
            return { state, observation: 'That holds no answer of the form asked for.', valid: false };
          return {
            state: { used: state.used + 1, won: judged.right },
            observation: judged.says,
            valid: true,
          };
        },
        admissible: () => null,
        won: ({ won }) => won,
        lost: ({ used, won }) => !won && used >= tries,
      },
      { state: { used: 0, won: false }, opening, max_steps, skills: `- ${skills[kind]}` },
    );
  },
  solve(item) {
    return [taskOf(worldData(item, 'program', PROGRAM_VERSION)).solution];
  },
};

const MAX_PAIRS = 100;

function taskOf(data: DataReader): Task {
  const named = data.text('task');
  const kind = programKinds.find((each) => each === named);
  if (kind === undefined) throw data.fail(`there is no program task "${named}"`);
  const pairs = data.lists('pairs', 2).map(([input = '', output = '']): Pair => [input, output]);
  if (pairs.length === 0 || pairs.length > MAX_PAIRS)
    throw data.fail(`it has ${pairs.length} pairs, not 1 to ${MAX_PAIRS}`);
  const shared = {
    kind,
    opening: data.text('question'),
    tries: data.whole('tries', { min: 1, max: MAX_STEPS }),
    max_steps: data.whole('max_steps', { min: 1, max: MAX_STEPS }),
  };
  try {
    return { ...shared, ...judgeOf(kind, data.text('program'), pairs) };
  } catch (error) {
    throw error instanceof PerwattError ? data.fail(error.message) : error;
  }
}

type Pair = readonly [input: string, output: string];

function judgeOf(
  kind: ProgramKind,
  program: string,
  pairs: readonly Pair[],
): Pick<Task, 'judge' | 'solution'> {
  const [[input, output] = ['', '']] = pairs;
  switch (kind) {
    case 'code_o':
      return { solution: `Answer: ${output}`, judge: judgeOutput(singleValue(output)) };
    case 'code_i':
      return { solution: `Answer: ${input}`, judge: judgeInput(parseProgram(program), singleValue(output)) };
    case 'code_f':
      return {
        solution: program,
        judge: judgeProgram(pairs.map(([args, wanted]) => [parseValues(args), singleValue(wanted)])),
      };
  }
}

function singleValue(text: string): ProgramValue {
  const [value, ...more] = parseValues(text);
  if (value === undefined || more.length > 0)
    throw new PerwattError('INPUT_INVALID', `"${text}" is not one value`);
  return value;
}

/** The values behind the last `Answer:`, without a call around them; null when there are none. */
function answered(text: string): ProgramValue[] | null {
  const line = text.split('\n').findLast((each) => ANSWER.test(each));
  if (line === undefined) return null;
  const bare = line.replace(ANSWER, '').replaceAll(/[`*]/g, '').trim().replace(/\.$/, '');
  return valuesIn(/^(?:f\s*)?\((?<inner>.*)\)$/.exec(bare)?.groups?.['inner'] ?? bare);
}

const ANSWER = /^.*answer\s*\**\s*:/i;

function valuesIn(text: string): ProgramValue[] | null {
  if (text.trim() === '') return null;
  try {
    return parseValues(text);
  } catch (error) {
    if (error instanceof PerwattError) return null;
    throw error;
  }
}

const judgeOutput =
  (wanted: ProgramValue) =>
  (text: string): Judged => {
    const values = answered(text);
    const [value] = values ?? [];
    if (values === null || value === undefined) return null;
    const right = values.length === 1 && sameValue(value, wanted);
    return { right, says: right ? 'That is right.' : 'That is not what it returns.' };
  };

const judgeInput =
  (program: Program, wanted: ProgramValue) =>
  (text: string): Judged => {
    const values = answered(text);
    if (values === null) return null;
    const result = runProgram(program, values);
    const right = result.status === 'returned' && sameValue(result.value, wanted);
    return { right, says: right ? 'That is right.' : `f(${inputText(values)}) ${cameOf(result)}` };
  };

const cameOf = (result: ProgramResult) =>
  result.status === 'returned' ? `returns ${writeValue(result.value)}.` : `fails: ${result.reason}.`;

const judgeProgram =
  (pairs: readonly (readonly [args: readonly ProgramValue[], wanted: ProgramValue])[]) =>
  (text: string): Judged => {
    const program = programIn(text);
    if (program === null) return null;
    const right = pairs.filter(([args, wanted]) => {
      const result = runProgram(program, args);
      return result.status === 'returned' && sameValue(result.value, wanted);
    }).length;
    const all = right === pairs.length;
    return {
      right: all,
      says: all ? 'That is right.' : `It is right on ${right} of ${pairs.length} inputs.`,
    };
  };

const MAX_TEXT = 100_000;

/** The last program in a text: from `def` to a fence, or to the end; its first line alone where the rest is something else. */
function programIn(text: string): Program | null {
  const at = text.slice(-MAX_TEXT).lastIndexOf('def ');
  if (at === -1) return null;
  const rest = text.slice(-MAX_TEXT).slice(at).split('```')[0] ?? '';
  return programOf(rest) ?? programOf(rest.split('\n')[0] ?? '');
}

function programOf(text: string): Program | null {
  try {
    return parseProgram(text.replace(/[\s`*]+$/, ''));
  } catch (error) {
    if (error instanceof PerwattError) return null;
    throw error;
  }
}
