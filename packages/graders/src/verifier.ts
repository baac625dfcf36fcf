import type { Grade, GradeInput, Grader, GradingAccount, LateGrader } from '@perwatt/core';
import { decide } from './decide.js';
import { createAsker, type JudgeModel } from './judge/ask-judge.js';
import { scorePrompt } from './judge/judge-prompts.js';
import { readScore } from './judge/read-reply.js';
import { plainGrade } from './plain-grade.js';
import { prepare } from './prepare.js';

export interface VerifierOptions extends JudgeModel {
  /** Least score of a `correct` answer. Default 0.5. */
  readonly threshold?: number;
}

/** A verifier with the account of what it took. */
export interface ModelVerifier extends LateGrader {
  account(): GradingAccount;
}

/** Says what can be said of an answer without a verifier: the rest is `unscored`. */
export const verifier: Grader = {
  id: 'verifier',
  version: 1,
  grade(input) {
    const grade = before(input, questionOf(input) !== null);
    return grade.verdict === 'incorrect'
      ? plainGrade(input, 'unscored', { reason: 'no verifier was asked' })
      : grade;
  },
  extract: (text) => prepare(text).text.trim() || null,
  same: (a, b) => a.trim() === b.trim(),
};

const questionOf = ({ data }: GradeInput): string | null => {
  const question = data?.['question'];
  return typeof question === 'string' && question.trim() !== '' ? question : null;
};

/**
 * Grades by a verifier model that sees question (`data.question`) and answer, and no gold: its score from 0 to 1 is the score, `correct` from the
 * threshold on. A score is what the model believes, not whether the answer is right. A reply that can't be read, and a call that
 * fails, make the grade `unscored`.
 */
export function verifierGrader(options: VerifierOptions): ModelVerifier {
  const { threshold = 0.5 } = options;
  const asker = createAsker(options, 'verifier');
  return {
    id: 'verifier',
    version: 1,
    async gradeLater(input, { signal }) {
      const question = questionOf(input);
      const grade = before(input, question !== null);
      if (grade.verdict !== 'incorrect' || question === null) return grade;
      const said = await asker.ask(
        {
          messages: scorePrompt({ question, answer: prepare(input.prediction).text.trim() }),
          read: readScore,
          form: '"SCORE: p", where p is a number from 0 to 1',
        },
        signal,
      );
      if (said.status !== 'read')
        return plainGrade(input, 'unscored', { reason: `verifier: ${said.reason}` });
      return {
        ...grade,
        verdict: said.value >= threshold ? 'correct' : 'incorrect',
        score: said.value,
        rule: 'verifier.score',
        reason: `the verifier says ${said.value}`,
      };
    },
    account: () => ({ ...asker.account(), pairs: 0, order_flips: 0 }),
  };
}

function before(input: GradeInput, hasQuestion: boolean): Grade {
  const grade = decide(input, {
    find: (text) => ({
      status: 'found',
      value: text,
      start: 0,
      end: text.length,
      rule: 'verifier.score',
      flags: [],
    }),
    firstAnswerEnd: () => null,
    compare: () => ({ correct: false, reason: null, flags: [] }),
    goldProblem: hasQuestion ? null : 'the item has no question for a verifier',
  });
  return { ...grade, extracted: null, span: null };
}
