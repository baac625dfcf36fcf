import type { Grade, GradeInput, Grader, GradingAccount, LateGrader } from '@perwatt/core';
import { decide, type Found } from './decide.js';
import { type Asked, createAsker, type JudgeModel } from './judge/ask-judge.js';
import {
  pairPrompt,
  pairTokens,
  referencePrompt,
  referenceTokens,
  rubricPrompt,
} from './judge/judge-prompts.js';
import { type JudgeTask, judgeTaskOf } from './judge/judge-task.js';
import { readCriteria, readToken } from './judge/read-reply.js';
import { plainGrade } from './plain-grade.js';
import { prepare } from './prepare.js';

const id = 'judge';
const version = 1;

const whole = (text: string): Found<string> => {
  const value = text.trim();
  const start = text.indexOf(value);
  return { status: 'found', value, start, end: start + value.length, rule: 'judge.answer', flags: [] };
};

/** A grade as far as it goes without asking anybody: `incorrect` stands for an answer that still has to be judged. */
function before(input: GradeInput, task: JudgeTask | string): Grade {
  if (input.mode === 'official')
    return plainGrade(input, 'unscored', { reason: 'there is no official form of this judging' });
  return decide(input, {
    find: whole,
    firstAnswerEnd: () => null,
    compare: () => ({ correct: false, reason: null, flags: [] }),
    goldProblem: typeof task === 'string' ? task : null,
  });
}

/** Says what can be said of an answer without a judge: the rest is `unscored`. */
export const judge: Grader = {
  id,
  version,
  grade(input) {
    const grade = before(input, judgeTaskOf(input));
    return grade.verdict === 'incorrect'
      ? { ...grade, verdict: 'unscored', score: null, reason: 'no judge was asked' }
      : grade;
  },
  extract: (text) => prepare(text).text.trim() || null,
  same: (a, b) => a.trim() === b.trim(),
};

/** A judge that is a model, with the account of what it took. */
export interface ModelJudge extends LateGrader {
  account(): GradingAccount;
}

/**
 * Grades by a model, as `data.way` of the item says. `reference`: does the answer say what the gold says? `rubric`: which of `data.rubric` does it
 * meet? The share is the score, `correct` is all of them. `pairwise`: is it better than the gold reply, in both orders? Levels
 * 1, 0.75, 0.5, 0.25, 0, the mean of both orders is the score; only orders that agree make it `correct`, a tie is `incorrect` with the flag
 * `tie`, orders that contradict each other are a tie with the flag `order-flip`. A reply that can't be read, and a call that
 * fails, make the grade `unscored`.
 */
export function judgeGrader(model: JudgeModel): ModelJudge {
  const asker = createAsker(model, 'judge');
  const count = { pairs: 0, order_flips: 0 };
  const ask = (task: JudgeTask, answer: string, signal: AbortSignal | undefined): Promise<Judged> => {
    switch (task.way) {
      case 'reference':
        return byReference(task, answer, (question) => asker.ask(question, signal));
      case 'rubric':
        return byRubric(task, answer, (question) => asker.ask(question, signal));
      case 'pairwise':
        return byPair(task, answer, (question) => asker.ask(question, signal));
    }
  };
  return {
    id,
    version,
    async gradeLater(input, { signal }) {
      const task = judgeTaskOf(input);
      const grade = before(input, task);
      if (grade.verdict !== 'incorrect' || typeof task === 'string') return grade;
      const judged = await ask(task, prepare(input.prediction).text.trim(), signal);
      if (task.way === 'pairwise' && judged.score !== null) count.pairs += 1;
      if (judged.flags.includes('order-flip')) count.order_flips += 1;
      return { ...grade, ...judged, extracted: null, span: null, rule: `judge.${task.way}` };
    },
    account: () => ({ ...asker.account(), ...count }),
  };
}

type Judged = Pick<Grade, 'verdict' | 'score' | 'reason' | 'flags'>;
type Ask = <T>(question: {
  readonly messages: ReturnType<typeof referencePrompt>;
  readonly read: (reply: string) => T | null;
  readonly form: string;
}) => Promise<Asked<T>>;

const unscored = (reason: string): Judged => ({
  verdict: 'unscored',
  score: null,
  reason: `judge: ${reason}`,
  flags: [],
});
const judgedAs = (correct: boolean, score: number, reason: string, ...flags: readonly string[]): Judged => ({
  verdict: correct ? 'correct' : 'incorrect',
  score,
  reason,
  flags,
});

async function byReference(
  task: JudgeTask & { readonly way: 'reference' },
  answer: string,
  ask: Ask,
): Promise<Judged> {
  const said = await ask({
    messages: referencePrompt({ ...task, answer }),
    read: (reply) => readToken(reply, referenceTokens),
    form: '"VERDICT: CORRECT" or "VERDICT: INCORRECT"',
  });
  if (said.status !== 'read') return unscored(said.reason);
  const correct = said.value === 'CORRECT';
  return judgedAs(correct, correct ? 1 : 0, `the judge says ${said.value}`);
}

async function byRubric(
  task: JudgeTask & { readonly way: 'rubric' },
  answer: string,
  ask: Ask,
): Promise<Judged> {
  const { rubric } = task;
  const said = await ask({
    messages: rubricPrompt({ ...task, answer, rubric: rubric.map(({ text }) => text) }),
    read: (reply) => readCriteria(reply, rubric.length),
    form: 'the lines "CRITERION n: MET" or "CRITERION n: UNMET", one for each criterion',
  });
  if (said.status !== 'read') return unscored(said.reason);
  const all = rubric.reduce((sum, { weight }) => sum + weight, 0);
  const met = rubric.reduce((sum, { weight }, i) => sum + (said.value[i] === true ? weight : 0), 0);
  const missed = said.value.flatMap((each, i) => (each ? [] : [i + 1]));
  return missed.length === 0
    ? judgedAs(true, 1, 'every criterion is met')
    : judgedAs(false, met / all, `criteria not met: ${missed.join(', ')}`);
}

const LEVELS: Readonly<Record<string, number>> = {
  'A>>B': 1,
  'A>B': 0.75,
  'A=B': 0.5,
  'B>A': 0.25,
  'B>>A': 0,
};

async function byPair(
  task: JudgeTask & { readonly way: 'pairwise' },
  answer: string,
  ask: Ask,
): Promise<Judged> {
  const order = (first: string, second: string) =>
    ask({
      messages: pairPrompt({ ...task, first, second }),
      read: (reply) => readToken(reply, pairTokens),
      form: '"VERDICT: A>>B", "VERDICT: A>B", "VERDICT: A=B", "VERDICT: B>A" or "VERDICT: B>>A"',
    });
  const [one, two] = await Promise.all([order(answer, task.other), order(task.other, answer)]);
  if (one.status !== 'read') return unscored(one.reason);
  if (two.status !== 'read') return unscored(two.reason);
  const [ahead, behind] = [LEVELS[one.value] ?? 0.5, 1 - (LEVELS[two.value] ?? 0.5)];
  const score = (ahead + behind) / 2;
  const said = `first ${one.value}, second ${two.value}`;
  if (ahead > 0.5 && behind > 0.5) return judgedAs(true, score, `better in both orders: ${said}`);
  if (ahead < 0.5 && behind < 0.5) return judgedAs(false, score, `worse in both orders: ${said}`);
  const flipped = (ahead - 0.5) * (behind - 0.5) < 0;
  return judgedAs(false, score, `a tie: ${said}`, 'tie', ...(flipped ? ['order-flip'] : []));
}
