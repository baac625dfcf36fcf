import { type Grade, type GradeInput, type LateGrader, messageOf } from '@perwatt/core';
import { completedQueries, parseQueryId, type RunFolder } from '@perwatt/records';
import { detailOf, gradeAnswer, graderModes } from './grade-answer.js';
import type { Cell } from './plan.js';

export interface GradeAhead {
  readonly run: RunFolder;
  readonly sitting: number;
  /** What judges; null leaves it to the cell's own grader. */
  readonly late: LateGrader | null;
  readonly signal?: AbortSignal;
}

/**
 * The cell with a grader that knows its grades already: every answer of the sitting that is not settled yet is judged by `late` first, in
 * both modes. Called when nothing is being measured. A judgement that can't be had is a grade `unscored` with the reason, so
 * that what was measured can be written down all the same.
 */
export async function gradedAhead(cell: Cell, { run, sitting, late, signal }: GradeAhead): Promise<Cell> {
  if (late === null) return cell;
  const inputs = inputsOf(cell, run, sitting);
  const options = signal === undefined ? {} : { signal };
  const grades = new Map<string, Grade>();
  const judge = async ([key, input]: readonly [string, GradeInput]): Promise<void> => {
    const grade = await late.gradeLater(input, options).catch((error: unknown) => unjudged(input, error));
    grades.set(key, grade);
  };
  await Promise.all([...inputs].map(judge));
  return {
    ...cell,
    grader: { ...cell.grader, grade: (input) => grades.get(keyOf(input)) ?? cell.grader.grade(input) },
  };
}

const keyOf = (input: GradeInput): string => JSON.stringify(input);

/** What the grader would be asked when the sitting is settled, once each. */
function inputsOf(cell: Cell, run: RunFolder, sitting: number): ReadonlyMap<string, GradeInput> {
  const { settled } = completedQueries(run, cell.id);
  const items = new Map(cell.dataset.items.map((item) => [item.id, item]));
  const finishes = new Map(
    run
      .readCalls(cell.id)
      .rows.filter((call) => call.sitting === sitting && call.phase === 'measure')
      .map((call) => [`${call.query_id}\n${call.call_id}`, call.finish_reason]),
  );
  const inputs = new Map<string, GradeInput>();
  const note = (input: GradeInput): Grade => {
    inputs.set(keyOf(input), input);
    return unjudged(input, 'not judged');
  };
  const grader = { ...cell.grader, grade: note };
  for (const answer of run.readTexts(cell.id).rows) {
    const open = answer.sitting === sitting && answer.kind === 'answer' && !settled.has(answer.query_id);
    const item = open ? items.get(parseQueryId(answer.query_id)?.item_id ?? '') : undefined;
    if (item === undefined) continue;
    const finish_reason = finishes.get(`${answer.query_id}\n${detailOf(answer).call_id}`) ?? null;
    for (const mode of graderModes) gradeAnswer(answer, { grader, mode, item, finish_reason });
  }
  return inputs;
}

const unjudged = (input: GradeInput, error: unknown): Grade => ({
  verdict: 'unscored',
  score: null,
  extracted: null,
  span: null,
  rule: null,
  salvaged: null,
  reason: messageOf(error),
  flags: [],
  mode: input.mode ?? 'robust',
});
