import type { Grader, LateGrader } from '@perwatt/core';
import { completedQueries, parseQueryId, type RunFolder } from '@perwatt/records';
import { detailOf, gradeAnswer, graderModes } from './grade-answer.js';
import { judgedAhead, unjudged } from './judged-ahead.js';
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
  const ask = (grader: Grader) => askFor({ ...cell, grader }, run, sitting);
  const options = { late, failed: unjudged, ...(signal === undefined ? {} : { signal }) };
  return { ...cell, grader: await judgedAhead(cell.grader, ask, options) };
}

/** Grades what a sitting leaves to be graded. */
function askFor({ id, dataset, grader }: Cell, run: RunFolder, sitting: number): void {
  const { settled } = completedQueries(run, id);
  const items = new Map(dataset.items.map((item) => [item.id, item]));
  const finishes = new Map(
    run
      .readCalls(id)
      .rows.filter((call) => call.sitting === sitting && call.phase === 'measure')
      .map((call) => [`${call.query_id}\n${call.call_id}`, call.finish_reason]),
  );
  for (const answer of run.readTexts(id).rows) {
    const open = answer.sitting === sitting && answer.kind === 'answer' && !settled.has(answer.query_id);
    const item = open ? items.get(parseQueryId(answer.query_id)?.item_id ?? '') : undefined;
    if (item === undefined) continue;
    const finish_reason = finishes.get(`${answer.query_id}\n${detailOf(answer).call_id}`) ?? null;
    for (const mode of graderModes) gradeAnswer(answer, { grader, mode, item, finish_reason });
  }
}
