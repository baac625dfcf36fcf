import type { CallRow, GradeInput, GradeRow, GraderMode, TextRow } from '@perwatt/core';
import { detailOf, type GradeOwner, gradeAnswer, gradeRow } from './grade-answer.js';

export interface AttemptsInput {
  /** Calls of the query in the sitting that answered it. */
  readonly calls: readonly CallRow[];
  /** Completions of the query by call, in that sitting. */
  readonly texts: ReadonlyMap<string, string | null>;
  readonly owner: GradeOwner;
  readonly modes: readonly GraderMode[];
  readonly policy?: GradeInput['policy'];
}

/**
 * The grades of the attempts of a query, a row each: what each call's own text is worth, where several of them made the answer.
 * None where the grader can't judge a text at once.
 */
export function attemptRows(
  answer: TextRow,
  { calls, texts, owner, modes, policy }: AttemptsInput,
): GradeRow[] {
  const ids = candidateCalls(answer);
  if (ids.length < 2) return [];
  const called = new Map(calls.map((call) => [call.call_id, call]));
  return ids.flatMap((call_id) => {
    const call = called.get(call_id);
    if (call === undefined) return [];
    const status = call.status === 'ok' ? 'answered' : 'failed';
    const own: TextRow = {
      ...answer,
      call_id,
      text: texts.get(call_id) ?? null,
      detail: JSON.stringify({ status, call_id }),
    };
    const { grader, item } = owner;
    const judging = { grader, item, finish_reason: call.finish_reason, ...(policy && { policy }) };
    return modes.flatMap((mode) => {
      const grade = gradeAnswer(own, { ...judging, mode });
      return grade.verdict === 'unscored' ? [] : [{ ...gradeRow(own, { ...grade, mode }, owner), call_id }];
    });
  });
}

/** The calls whose texts stood for election. */
function candidateCalls(answer: TextRow): string[] {
  const { candidates } = detailOf(answer);
  return [...new Set((candidates ?? []).map(({ call_id }) => call_id))];
}

/** Completions by query and call; empty unless an answer has several candidates. */
export function completionsOf(
  rows: readonly TextRow[],
  answers: readonly TextRow[],
): ReadonlyMap<string, ReadonlyMap<string, string | null>> {
  const wanted = new Set(answers.filter((answer) => candidateCalls(answer).length > 1).map(completionKey));
  const found = new Map<string, Map<string, string | null>>();
  for (const row of rows) {
    if (row.kind !== 'completion' || row.call_id === null || !wanted.has(completionKey(row))) continue;
    const own = found.get(completionKey(row)) ?? new Map<string, string | null>();
    found.set(completionKey(row), own.set(row.call_id, row.text));
  }
  return found;
}

/** What completions are kept by: a query in one sitting. */
export const completionKey = ({ sitting, query_id }: Pick<TextRow, 'sitting' | 'query_id'>): string =>
  `${sitting}/${query_id}`;
