import type { Grade, GradeInput, GradeRow, Grader, GraderMode, Item, TextRow } from '@perwatt/core';

/** Both modes, in which every answer is graded. */
export const graderModes: readonly GraderMode[] = ['robust', 'official'];

/** Status and parts of an `answer` row. */
export interface AnswerDetail {
  readonly status: 'answered' | 'abstained' | 'failed';
  /** Call whose text is the answer; its finish reason counts. */
  readonly call_id?: string | null;
  readonly reason?: string;
  readonly candidates?: readonly { readonly call_id: string }[];
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
  const { status, reason } = detailOf(answer);
  if (status === 'abstained') return abstained(judging.mode, reason ?? null);
  return gradeText(answer.text ?? '', { ...judging, failed: status === 'failed' });
}

/** The grade of a text as an answer to the item. */
export function gradeText(
  prediction: string,
  { grader, mode, item, finish_reason, policy, failed }: Judging & { readonly failed: boolean },
): Grade {
  return grader.grade({
    prediction,
    gold: item.gold,
    options: item.options,
    ...(item.aliases === undefined ? {} : { aliases: item.aliases }),
    ...(item.data === undefined ? {} : { data: item.data }),
    ...(policy === undefined ? {} : { policy }),
    finish_reason,
    failed,
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
  readonly item: Item;
  readonly pass: number;
  readonly grader: Grader;
  readonly known_bad: boolean;
}

/** The `grades` row of one grade, its class left open. */
export function gradeRow(answer: TextRow, grade: Grade, owner: GradeOwner): GradeRow {
  const { grader, item, ...rest } = owner;
  return {
    ...rest,
    query_id: answer.query_id,
    item_id: item.id,
    sitting: answer.sitting,
    call_id: null,
    answer: votedAnswer(answer, grade, { grader, item }),
    answer_class: null,
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

/** What of an answer votes: its canonical form in robust mode, the extracted text in official mode; null where nothing was judged. */
function votedAnswer(
  { text }: TextRow,
  { verdict, mode, extracted }: Grade,
  { grader, item }: Pick<GradeOwner, 'grader' | 'item'>,
): string | null {
  if (verdict !== 'correct' && verdict !== 'incorrect') return null;
  return mode === 'official' ? extracted : (grader.extract(text ?? '', item) ?? extracted);
}

/**
 * Numbers the different answers of every item, greedily in order: an answer joins the first class whose first member is the
 * same answer. `earlier` rows come first, those without a number are left out.
 */
export function answerClasses(
  grader: Pick<Grader, 'same'>,
  earlier: readonly GradeRow[],
): (row: GradeRow) => GradeRow {
  const firsts = new Map<string, string[]>();
  const listOf = ({ mode, item_id }: GradeRow) => {
    const key = `${mode}/${item_id}`;
    const known = firsts.get(key) ?? [];
    firsts.set(key, known);
    return known;
  };
  for (const row of earlier) {
    const list = listOf(row);
    if (row.answer !== null && row.answer_class === list.length) list.push(row.answer);
  }
  return (row) => {
    const { answer, mode } = row;
    if (answer === null) return row;
    const list = listOf(row);
    const same = (first: string) => first === answer || (mode === 'robust' && grader.same(first, answer));
    const at = list.findIndex(same);
    if (at < 0) list.push(answer);
    return { ...row, answer_class: at < 0 ? list.length - 1 : at };
  };
}
