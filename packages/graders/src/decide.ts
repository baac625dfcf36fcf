import type { Grade, GradeInput } from '@perwatt/core';
import { plainGrade as grade } from './plain-grade.js';
import { reasoningPolicy } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import type { Range } from './reasoning.js';
import { isRefusal } from './refusal.js';

/** What an extraction found: an answer with its place and rule, or why there is none. */
export type Found<T> =
  | {
      readonly status: 'found';
      readonly value: T;
      readonly start: number;
      readonly end: number;
      readonly rule: string;
      readonly flags: readonly string[];
    }
  | { readonly status: 'none'; readonly reason: string; readonly flags: readonly string[] };

export interface Comparison {
  readonly correct: boolean;
  /** Partial credit, 0…1; default 1 when correct, else 0. */
  readonly score?: number;
  readonly reason: string | null;
  readonly flags: readonly string[];
}

/** The parts of a grader that differ between graders. */
export interface Judge<T> {
  readonly find: (text: string) => Found<T>;
  /** End of the first thing in a text that could be an answer; null when there is none. */
  readonly firstAnswerEnd: (text: string) => number | null;
  readonly compare: (value: T) => Comparison;
  /** Why nothing can be compared with the gold; null when it can. */
  readonly goldProblem: string | null;
}

/** Robust mode: prepares the text, then decides in the order failed, refused, empty, truncated, unparsed, compared. */
export function decide<T>(input: GradeInput, judge: Judge<T>): Grade {
  const early = before(input, judge.goldProblem);
  if (early !== null) return early;
  const prepared = prepare(input.prediction, reasoningPolicy(input.policy));
  const cut = input.finish_reason === 'length';
  if (prepared.text.trim() === '') return grade(input, cut ? 'truncated' : 'empty', {});
  const text = cutNextQuestion(prepared.text, judge.firstAnswerEnd(prepared.text));
  const found = judge.find(text);
  const span = found.status === 'found' ? prepared.rawSpan(found.start, found.end) : null;
  if (prepared.unclosed) return truncated(input, 'the reasoning never ended', span);
  if (cut) return truncated(input, 'the answer was cut at the token limit', span);
  if (found.status === 'none' || span === null) return unparsed(input, text, found);
  return compared(input, judge.compare(found.value), { ...found, span });
}

function truncated(input: GradeInput, reason: string, span: Range | null): Grade {
  const salvaged = span === null ? null : input.prediction.slice(...span);
  return grade(input, 'truncated', { reason, salvaged, flags: salvaged === null ? [] : ['salvaged'] });
}

function unparsed<T>(input: GradeInput, text: string, found: Found<T>): Grade {
  if (isRefusal(text))
    return grade(input, 'refused', { reason: 'the answer declines to help', flags: found.flags });
  return grade(input, 'unparsed', {
    reason: found.status === 'none' ? found.reason : null,
    flags: found.flags,
  });
}

/** Official mode: the raw text goes to a ported cascade, which knows neither reasoning nor finish reasons. */
export function decideOfficial<T>(input: GradeInput, judge: Omit<Judge<T>, 'firstAnswerEnd'>): Grade {
  const early = before(input, judge.goldProblem);
  if (early !== null) return early;
  if (input.prediction.trim() === '') return grade(input, 'empty', {});
  const found = judge.find(input.prediction);
  if (found.status === 'none') return grade(input, 'unparsed', { reason: found.reason, flags: found.flags });
  return compared(input, judge.compare(found.value), { ...found, span: [found.start, found.end] });
}

function before(input: GradeInput, goldProblem: string | null): Grade | null {
  if (input.failed === true) return grade(input, 'error', { reason: 'the call failed' });
  if (goldProblem !== null) return grade(input, 'unscored', { reason: goldProblem });
  if (input.finish_reason === 'content_filter')
    return grade(input, 'refused', { reason: 'the server filtered the answer' });
  return null;
}

function compared(
  input: GradeInput,
  { correct, score = correct ? 1 : 0, reason, flags }: Comparison,
  found: { readonly span: Range; readonly rule: string; readonly flags: readonly string[] },
): Grade {
  return grade(input, correct ? 'correct' : 'incorrect', {
    score,
    extracted: input.prediction.slice(...found.span),
    span: found.span,
    rule: found.rule,
    reason,
    flags: [...new Set([...found.flags, ...flags])],
  });
}
