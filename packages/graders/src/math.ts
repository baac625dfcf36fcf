import type { GradeInput, Grader } from '@perwatt/core';
import { decide, decideOfficial } from './decide.js';
import { compareAnswers } from './math/compare.js';
import { type Candidate, findMath, firstMathEnd } from './math/extract.js';
import { gradeHendrycks } from './math/hendrycks.js';
import { limits } from './math/limits.js';
import { parseAnswer } from './math/parse-value.js';
import { mathPolicy } from './math/policy.js';
import type { Answer } from './math/value.js';
import { checkPolicies } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import { findBoxes } from './wrappers.js';

/**
 * Grades answers that are mathematics: numbers, expressions, sets, intervals, tuples, matrices, equations, relations, words. Both
 * sides are parsed to bounded trees and compared by structure, exact rationals, residues and seeded points, under named
 * policies. Official mode is the string comparison that comes with the MATH data set.
 */
export const math: Grader = {
  id: 'math',
  version: 2,
  grade(input) {
    checkPolicies(input.policy);
    const policy = mathPolicy(input.policy);
    if (input.mode === 'official') return gradeHendrycks(input, decideOfficial);
    const golds = [input.gold, ...(input.aliases ?? [])].map(goldAnswer);
    return decide<Candidate>(bounded(input), {
      find: findMath,
      firstAnswerEnd: firstMathEnd,
      compare(candidate) {
        const found = parseAnswer(candidate.text);
        for (const gold of golds) {
          const match = compareAnswers(gold, found, policy);
          if (match !== null) return { correct: true, reason: match.rule, flags: match.flags };
        }
        return { correct: false, reason: unlike(found), flags: [] };
      },
      goldProblem: golds[0]?.canonical === '' ? 'the gold answer is empty' : null,
    });
  },
  extract(text) {
    const prepared = prepare(text.slice(-limits.completion_chars));
    if (prepared.unclosed) return null;
    const found = findMath(cutNextQuestion(prepared.text, firstMathEnd(prepared.text)));
    return found.status === 'found' ? found.value.text : null;
  },
  same(a, b) {
    const policy = mathPolicy(undefined);
    const [left, right] = [parseAnswer(prepare(a).text), parseAnswer(prepare(b).text)];
    if (a === b) return true;
    return compareAnswers(left, right, policy) !== null && compareAnswers(right, left, policy) !== null;
  },
};

const unlike = (found: Answer): string =>
  found.value.kind === 'raw' ? 'the answer is no mathematics that can be read' : 'not the same answer';

/** Of a longer completion than can be looked at, its end; offsets stay those of the whole. */
function bounded(input: GradeInput): GradeInput {
  const over = input.prediction.length - limits.completion_chars;
  return over <= 0 ? input : { ...input, prediction: `${' '.repeat(over)}${input.prediction.slice(over)}` };
}

/** A gold may come in delimiters or in a box. */
function goldAnswer(gold: string): Answer {
  const text = prepare(gold).text;
  const boxes = findBoxes(text);
  if (boxes.length > 0) return parseAnswer(candidateOf(text));
  return parseAnswer(/^\s*(?:\$|\\\(|\\\[)/.test(text) ? undelimited(text) : text);
}

const candidateOf = (text: string): string => {
  const found = findMath(text);
  return found.status === 'found' ? found.value.text : text;
};

function undelimited(text: string): string {
  const trimmed = text.trim();
  for (const [open, close] of [
    ['$$', '$$'],
    ['$', '$'],
    ['\\(', '\\)'],
    ['\\[', '\\]'],
  ] as const) {
    const whole =
      trimmed.length > open.length + close.length && trimmed.startsWith(open) && trimmed.endsWith(close);
    const inner = trimmed.slice(open.length, -close.length);
    if (whole && !inner.includes(close)) return inner;
  }
  return text;
}
