import type { Grade, GradeInput, Grader, LateGrader } from '@perwatt/core';
import { codeOfReply } from './code/code-of-reply.js';
import { type CodeTask, codeTaskOf, officialProgramOf, programOf } from './code/program-of.js';
import type { CodeOutcome } from './code/run-sandboxed.js';
import type { CodeLimits, Sandbox } from './code/sandbox.js';
import { decide, decideOfficial, type Found } from './decide.js';
import { plainGrade } from './plain-grade.js';
import type { Range } from './reasoning.js';
import { turns } from './turns.js';

const id = 'code';
const version = 1;

/** The grade as far as it goes without running anything: `incorrect` stands for code that still has to be run. */
function readCode(input: GradeInput): Grade {
  const task = codeTaskOf(input.data);
  const judge = {
    find: (text: string): Found<string> => {
      const found = input.mode === 'official' ? whole(text) : codeOfReply(text, taskName(task));
      if (found === null) return { status: 'none', reason: 'no code in the answer', flags: [] };
      const [start, end] = found.span;
      return { status: 'found', value: text.slice(start, end), start, end, rule: found.rule, flags: [] };
    },
    firstAnswerEnd: () => null,
    compare: () => ({ correct: false, reason: null, flags: [] }),
    goldProblem: typeof task === 'string' ? task : null,
  };
  return input.mode === 'official' ? decideOfficial(input, judge) : decide(input, judge);
}

const whole = (text: string): { readonly span: Range; readonly rule: string } => ({
  span: [0, text.length],
  rule: 'human_eval.completion',
});

const taskName = (task: CodeTask | string): string => (typeof task === 'string' ? '' : task.entry_point);

/**
 * Reads code and does not run it: answers with code in them are `unscored`. `codeGrader` runs them, where that is allowed. Votes compare the code
 * as text.
 */
export const code: Grader = {
  id,
  version,
  grade(input) {
    const read = readCode(input);
    return read.verdict === 'incorrect'
      ? { ...read, verdict: 'unscored', score: null, reason: 'code is not run unless it is allowed' }
      : read;
  },
  extract(text) {
    const found = codeOfReply(text, '');
    return found === null ? null : text.slice(...found.span).trimEnd();
  },
  same: (a, b) => a.trim() === b.trim(),
};

export interface CodeGraderOptions {
  readonly sandbox: Sandbox;
  readonly limits?: Partial<CodeLimits>;
  /** Programs that run side by side. */
  readonly workers: number;
}

/**
 * Grades code by running it with the item's tests (`data`: `prompt`, `entry_point`, `test`) in a sandbox: `correct` when all of them pass, `incorrect`
 * when not, also when time or memory ends it. A sandbox that breaks makes the grade `error`.
 */
export function codeGrader({ sandbox, limits, workers }: CodeGraderOptions): LateGrader {
  const turn = turns(workers);
  return {
    id,
    version,
    async gradeLater(input, { signal }) {
      const read = readCode(input);
      const task = codeTaskOf(input.data);
      if (read.verdict !== 'incorrect' || typeof task === 'string') return read;
      const found = read.extracted ?? '';
      const program = input.mode === 'official' ? officialProgramOf(found, task) : programOf(found, task);
      const options = { ...(limits && { limits }), ...(signal && { signal }) };
      return judged(input, read, await turn(() => sandbox.run(program, options)));
    },
  };
}

function judged(input: GradeInput, read: Grade, outcome: CodeOutcome): Grade {
  if (outcome.status === 'passed')
    return { ...read, verdict: 'correct', score: 1, reason: 'all tests passed' };
  if (outcome.status === 'broken')
    return plainGrade(input, 'error', { reason: `the sandbox broke: ${outcome.reason}` });
  return { ...read, reason: `${outcome.status.replace('_', ' ')}: ${outcome.reason}` };
}
