import type { GradeRow } from '@perwatt/core';
import { type CellFile, SegmentWriter } from '@perwatt/records';
import { syntheticRun } from './synthetic-run.fixture.js';

/** Verdicts of some items: item, repeat, verdict, and what else differs. */
export type Verdicts = readonly (readonly [
  item: string,
  repeat: number,
  verdict: string,
  change?: Partial<GradeRow>,
])[];

/** Rows of the table of grades. */
export const gradeRows = (cell: CellFile, verdicts: Verdicts, same: Partial<GradeRow>): GradeRow[] =>
  verdicts.map(([item_id, repeat, verdict, change]) => ({
    run_id: cell.run_id,
    cell_id: cell.cell_id,
    query_id: `${cell.cell_id}/${item_id}/${repeat}`,
    item_id,
    sitting: 0,
    pass: 0,
    grader: 'numeric',
    grader_version: 1,
    mode: 'robust',
    verdict,
    score: verdict === 'unscored' ? null : verdict === 'correct' ? 1 : 0,
    extracted: null,
    span_start: null,
    span_end: null,
    rule: 'numeric.format',
    call_id: null,
    answer: null,
    answer_class: null,
    salvaged: null,
    reason: null,
    flags: null,
    known_bad: item_id === 'bad',
    ...same,
    ...change,
  }));

/** A run in `folder` of one model, with strategy `single` and four items, whose first cell has these grades. */
export function gradedRun(
  folder: string,
  gradesOf: (cell: CellFile) => readonly GradeRow[],
  change: Partial<CellFile> = {},
) {
  const run = syntheticRun({ root: folder, items: 4, models: ['m'], strategies: ['single'] });
  const [cell] = run.cells();
  const writer = SegmentWriter.create({
    folder: run.cellFolder(cell!.cell_id),
    file: 'grades-0.arrows',
    table: 'grades',
    sitting: 0,
    metadata: {},
  });
  writer.append(gradesOf(cell!));
  run.writeCell({ ...cell!, segments: [...cell!.segments, writer.close()], ...change });
  return { run, cell_id: cell!.cell_id };
}
