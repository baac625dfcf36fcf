import type { Grade, GradeInput, GradeRow, Grader, GraderMode, Item, TextRow } from '@perwatt/core';

/** Both modes, in which every answer is graded. */
export const graderModes: readonly GraderMode[] = ['robust', 'official'];

/** Status and parts of an `answer` row. */
export interface AnswerDetail {
  readonly status: 'answered' | 'abstained' | 'failed';
  /** Call whose text is the answer; its finish reason counts. */
  readonly call_id?: string | null;
  readonly reason?: string;
}

/** The detail of an answer; one that can't be read counts as failed. */
export function detailOf({ detail }: Pick<TextRow, 'detail'>): AnswerDetail {
  try {
    const value = JSON.parse(detail ?? '') as Partial<AnswerDetail> | null;
    return { ...value, status: value?.status ?? 'failed' };
  } catch {
    return { status: 'failed' };
  }
}

/** What judges an answer, and against what. */
export interface Judging {
  readonly grader: Grader;
  readonly mode: GraderMode;
  readonly item: Item;
  /** Of the call that gave the answer. */
  readonly finish_reason: string | null;
  readonly policy?: GradeInput['policy'];
}

/** The grade of one recorded answer: a pure function of what is on disk and of the item. */
export function gradeAnswer(answer: TextRow, judging: Judging): Grade {
  const { grader, mode, item, finish_reason, policy } = judging;
  const { status, reason } = detailOf(answer);
  if (status === 'abstained') return abstained(mode, reason ?? null);
  return grader.grade({
    prediction: answer.text ?? '',
    gold: item.gold,
    options: item.options,
    ...(item.aliases === undefined ? {} : { aliases: item.aliases }),
    ...(item.data === undefined ? {} : { data: item.data }),
    ...(policy === undefined ? {} : { policy }),
    finish_reason,
    failed: status === 'failed',
    mode,
  });
}

const abstained = (mode: GraderMode, reason: string | null): Grade => ({
  verdict: 'unparsed',
  score: 0,
  extracted: null,
  span: null,
  rule: null,
  salvaged: null,
  reason,
  flags: [],
  mode,
});

/** What of a row its grade does not say. */
export interface GradeOwner {
  readonly run_id: string;
  readonly cell_id: string;
  readonly item_id: string;
  readonly pass: number;
  readonly grader: Pick<Grader, 'id' | 'version'>;
  readonly known_bad: boolean;
}

/** The `grades` row of one grade. */
export function gradeRow(answer: TextRow, grade: Grade, owner: GradeOwner): GradeRow {
  const { grader, ...rest } = owner;
  return {
    ...rest,
    query_id: answer.query_id,
    sitting: answer.sitting,
    grader: grader.id,
    grader_version: grader.version,
    mode: grade.mode,
    verdict: grade.verdict,
    score: grade.score,
    extracted: grade.extracted,
    span_start: grade.span?.[0] ?? null,
    span_end: grade.span?.[1] ?? null,
    rule: grade.rule,
    salvaged: grade.salvaged,
    reason: grade.reason,
    flags: grade.flags.length === 0 ? null : grade.flags.join(' '),
  };
}
