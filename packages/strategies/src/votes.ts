import type { Answers, CallResult, Candidate, Outcome } from '@perwatt/core';
import { failureOf } from './attempt.js';
import { plurality } from './plurality.js';

/** What a vote is held over. */
export interface Ballot {
  readonly results: readonly CallResult[];
  /** One for each result, in the same order. */
  readonly candidates: readonly Candidate[];
  readonly answers: Answers;
}

/**
 * The outcome of a plurality vote: the whole text of the first call that gave the winning answer, so that it is graded like any
 * other.
 */
export function voteOutcome({ results, candidates, answers }: Ballot): Outcome {
  const vote = plurality(
    candidates.map((c) => c.answer),
    answers.same,
  );
  if (vote.status === 'empty') return withoutAnswer(results, candidates);
  const voters = candidates.filter((c) => c.answer !== null).length;
  const silent = candidates.length - voters;
  const decision = `"${vote.answer}" has ${vote.votes} of ${voters} votes, ${silent} attempts did not vote`;
  const tie = vote.tied > 1 ? [`${vote.tied} answers tied, the one given first wins`] : [];
  return answeredBy(vote.answer, { results, candidates, answers }, [decision, ...tie]);
}

/** The outcome in which `answer` won: the text of the first call that gave it. */
export function answeredBy(
  answer: string,
  { results, candidates, answers }: Ballot,
  decisions: readonly string[],
): Outcome {
  const winner = candidates.find((c) => c.answer !== null && answers.same(answer, c.answer));
  const text = results.find((r) => r.id === winner?.call_id)?.text ?? answer;
  return { status: 'answered', answer: text, call_id: winner?.call_id ?? null, candidates, decisions };
}

/** The outcome of calls of which none gave an answer. */
export function withoutAnswer(results: readonly CallResult[], candidates: readonly Candidate[]): Outcome {
  if (results.every((r) => r.finish === 'error')) {
    const reasons = [...new Set(results.map(failureOf))].join(', ');
    return { status: 'failed', reason: `all ${results.length} calls failed: ${reasons}`, candidates };
  }
  const cut = results.filter((r) => r.finish === 'length').length;
  const reason = `no attempt gave an answer${cut === 0 ? '' : ` (${cut} of ${results.length} cut at the token limit)`}`;
  return { status: 'abstained', reason, candidates };
}

/** The outcome in which one call's text is the answer, or what became of it when it failed. */
export function outcomeOf(
  result: CallResult | undefined,
  candidates: readonly Candidate[],
  decisions: readonly string[] = [],
): Outcome {
  if (result === undefined) return { status: 'failed', reason: 'the call had no result', candidates };
  if (result.finish === 'error')
    return { status: 'failed', reason: `the call failed: ${failureOf(result)}`, candidates };
  return { status: 'answered', answer: result.text, call_id: result.id, candidates, decisions };
}
