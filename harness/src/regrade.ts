import {
  type CallRow,
  type Dataset,
  type GradeInput,
  type GradeRow,
  type Grader,
  type GraderMode,
  PerwattError,
  type QueryRow,
  type TextRow,
} from '@perwatt/core';
import {
  type CellFile,
  type CellPoint,
  type GradingFacts,
  parseQueryId,
  type RunFolder,
  SegmentWriter,
} from '@perwatt/records';
import { answerClasses, detailOf, gradeAnswer, gradeRow } from './grade-answer.js';
import { attemptRows, completionKey, completionsOf } from './grade-attempts.js';

/** How stored answers are graded again. */
export interface RegradeSpec {
  readonly grader: Grader;
  readonly modes: readonly GraderMode[];
  readonly policy: NonNullable<GradeInput['policy']>;
  /** Of the Perwatt that grades. */
  readonly perwatt_version: string;
  /** Grades and compares, and writes nothing. */
  readonly dry_run: boolean;
}

/** A verdict with what it rests on. */
export interface GradeSide {
  readonly verdict: string;
  readonly score: number | null;
  readonly extracted: string | null;
  readonly rule: string | null;
  readonly grader: string;
  readonly grader_version: number;
}

/** An answer whose verdict or score another grading changed. */
export interface ChangedGrade {
  readonly query_id: string;
  readonly item_id: string;
  readonly repeat: number;
  readonly mode: GraderMode;
  readonly before: GradeSide;
  readonly after: GradeSide;
  /** The part of the answer around what was found, or its end; null without a text. */
  readonly excerpt: string | null;
}

/** What grading one cell again came to. */
export interface RegradedCell {
  readonly cell_id: string;
  readonly point: CellPoint;
  /** Number of this grading; null when nothing was written. */
  readonly pass: number | null;
  readonly grader: string;
  readonly grader_version: number;
  readonly answers: number;
  readonly modes: readonly ModeChange[];
  readonly changed: readonly ChangedGrade[];
}

/** Accuracy in one mode before and after, over the scored answers; null without any. `before` is null where no such grade was kept. */
export interface ModeChange {
  readonly mode: GraderMode;
  readonly before: number | null;
  readonly after: number | null;
  readonly compared: number;
  readonly changed: number;
}

/**
 * Grades the stored answers of a cell again, as a pure function of texts, calls and items, and compares with the last finished
 * grading in each mode. The grades go into a segment of their own; nothing that was there is touched. Null for a cell
 * without answers. Throws `DATASET_CHANGED` when the items are not those that were asked.
 */
export function regradeCell(
  run: RunFolder,
  cell: CellFile,
  { dataset, ...spec }: RegradeSpec & { readonly dataset: Dataset },
): RegradedCell | null {
  checkItems(cell, dataset);
  const written = run.readTexts(cell.cell_id).rows;
  const answers = firstAnswers(written);
  if (answers.length === 0) return null;
  const earlier = run.readGrades(cell.cell_id).rows;
  const pass = Math.max(0, ...earlier.map((row) => row.pass), ...gradingsOf(cell).map((own) => own.pass)) + 1;
  const rows = gradesOf(answers, { run, cell, dataset, spec, pass, texts: completionsOf(written, answers) });
  const before = lastGrades(run, cell, earlier);
  const texts = new Map(answers.map(({ query_id, text }) => [query_id, text]));
  const changed = rows
    .filter(ofAnswer)
    .flatMap((row) => changeOf(row, before.get(key(row)), texts.get(row.query_id) ?? null));
  if (!spec.dry_run) writeGrading(run, cell, { rows, pass, spec });
  return {
    cell_id: cell.cell_id,
    point: cell.point,
    pass: spec.dry_run ? null : pass,
    grader: spec.grader.id,
    grader_version: spec.grader.version,
    answers: answers.length,
    modes: spec.modes.map((mode) => modeChange(mode, { rows, before, changed })),
    changed,
  };
}

const gradingsOf = ({ gradings = [] }: CellFile): readonly GradingFacts[] => gradings;

function checkItems({ cell_id, provenance }: CellFile, dataset: Dataset): void {
  const asked = provenance?.dataset.digest;
  if (asked === undefined || asked === dataset.digest) return;
  throw new PerwattError(
    'DATASET_CHANGED',
    `data set "${dataset.id}" has digest ${dataset.digest.slice(0, 16)}, but cell ${cell_id} was asked ${asked.slice(0, 16)}`,
    { hint: 'Give the file that the run was made of, and the version of Perwatt that prompted it.' },
  );
}

/** The first answer of each query counts, as for a resume. */
function firstAnswers(rows: readonly TextRow[]): TextRow[] {
  const first = new Map<string, TextRow>();
  for (const row of rows) if (row.kind === 'answer' && !first.has(row.query_id)) first.set(row.query_id, row);
  return [...first.values()];
}

interface Grading {
  readonly run: RunFolder;
  readonly cell: CellFile;
  readonly dataset: Dataset;
  readonly spec: RegradeSpec;
  readonly pass: number;
  readonly texts: ReturnType<typeof completionsOf>;
}

function gradesOf(
  answers: readonly TextRow[],
  { run, cell, dataset, spec, pass, texts }: Grading,
): GradeRow[] {
  const items = new Map(dataset.items.map((item) => [item.id, item]));
  const bad = new Set(dataset.known_bad ?? []);
  const calls = callsByQuery(run.readCalls(cell.cell_id).rows);
  const { grader, policy } = spec;
  const classed = answerClasses(grader, []);
  return answers.flatMap((answer) => {
    const item = items.get(parseQueryId(answer.query_id)?.item_id ?? '');
    if (item === undefined)
      throw new PerwattError(
        'DATASET_CHANGED',
        `data set "${dataset.id}" has no item of query ${answer.query_id}`,
      );
    const own = calls.get(completionKey(answer)) ?? [];
    const finish_reason =
      own.find(({ call_id }) => call_id === detailOf(answer).call_id)?.finish_reason ?? null;
    const known_bad = bad.has(item.id);
    const owner = { run_id: cell.run_id, cell_id: cell.cell_id, item, pass, grader, known_bad };
    const graded = spec.modes.map((mode) => {
      const grade = gradeAnswer(answer, { grader, mode, item, finish_reason, policy });
      return gradeRow(answer, { ...grade, mode }, owner);
    });
    const attempts = { calls: own, texts: texts.get(completionKey(answer)) ?? new Map(), owner, policy };
    return [...graded, ...attemptRows(answer, { ...attempts, modes: spec.modes })].map(classed);
  });
}

/** The measured calls of every query in each sitting. */
function callsByQuery(calls: readonly CallRow[]): Map<string, CallRow[]> {
  const groups = new Map<string, CallRow[]>();
  for (const call of calls) {
    if (call.phase !== 'measure') continue;
    const group = groups.get(completionKey(call));
    if (group === undefined) groups.set(completionKey(call), [call]);
    else group.push(call);
  }
  return groups;
}

/** Rows of whole answers, not of single attempts. */
const ofAnswer = ({ call_id }: GradeRow): boolean => call_id === null;

const key = ({ mode, query_id }: Pick<GradeRow, 'mode' | 'query_id'>): string => `${mode}/${query_id}`;

/** The grade of the last finished grading of every answer and mode; of older runs the verdicts of `queries`. */
function lastGrades(run: RunFolder, cell: CellFile, grades: readonly GradeRow[]): Map<string, GradeSide> {
  const headline = cell.provenance?.grader.mode ?? 'robust';
  const finished = new Set([0, ...gradingsOf(cell).map(({ pass }) => pass)]);
  const last = new Map<string, GradeSide>();
  const queries: readonly QueryRow[] = run.readQueries(cell.cell_id).rows;
  for (const row of queries) last.set(key({ ...row, mode: headline }), sideOf(row));
  for (const row of grades
    .filter((own) => ofAnswer(own) && finished.has(own.pass))
    .sort((a, b) => a.pass - b.pass))
    last.set(key(row), sideOf(row));
  return last;
}

const sideOf = ({ verdict, score, extracted, rule, grader, grader_version }: GradeSide): GradeSide => ({
  verdict,
  score,
  extracted,
  rule,
  grader,
  grader_version,
});

function changeOf(row: GradeRow, before: GradeSide | undefined, text: string | null): ChangedGrade[] {
  if (before === undefined || (before.verdict === row.verdict && before.score === row.score)) return [];
  const { query_id, item_id } = row;
  return [
    {
      query_id,
      item_id,
      repeat: parseQueryId(query_id)?.repeat ?? 0,
      mode: row.mode === 'official' ? 'official' : 'robust',
      before,
      after: sideOf(row),
      excerpt: text === null ? null : excerptOf(text, row.span_start),
    },
  ];
}

const EXCERPT = 120;

function excerptOf(text: string, at: number | null): string {
  const start = Math.max(0, at === null ? text.length - EXCERPT : at - EXCERPT / 2);
  const part = text.slice(start, start + EXCERPT);
  return `${start > 0 ? '…' : ''}${part}${start + EXCERPT < text.length ? '…' : ''}`;
}

interface Compared {
  readonly rows: readonly GradeRow[];
  readonly before: ReadonlyMap<string, GradeSide>;
  readonly changed: readonly ChangedGrade[];
}

function modeChange(mode: GraderMode, { rows, before, changed }: Compared): ModeChange {
  const own = rows.filter((row) => ofAnswer(row) && row.mode === mode);
  const earlier = own.flatMap((row) => before.get(key(row)) ?? []);
  return {
    mode,
    before: meanScore(earlier),
    after: meanScore(own),
    compared: earlier.length,
    changed: changed.filter((change) => change.mode === mode).length,
  };
}

function meanScore(rows: readonly Pick<GradeSide, 'score'>[]): number | null {
  const scores = rows.flatMap(({ score }) => score ?? []);
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

interface Writing {
  readonly rows: readonly GradeRow[];
  readonly pass: number;
  readonly spec: RegradeSpec;
}

/** A new segment, and then the cell's word that it is whole. */
function writeGrading(run: RunFolder, cell: CellFile, { rows, pass, spec }: Writing): void {
  const folder = run.cellFolder(cell.cell_id);
  const writer = SegmentWriter.create({
    folder,
    file: `grades-${run.nextSegment(folder, 'grades')}.arrows`,
    table: 'grades',
    sitting: 0,
    metadata: { run_id: cell.run_id, cell_id: cell.cell_id },
  });
  writer.append(rows);
  const segment = writer.close();
  const { grader, modes, policy, perwatt_version } = spec;
  const facts: GradingFacts = {
    pass,
    grader: grader.id,
    grader_version: grader.version,
    modes,
    policy,
    file: segment.file,
    perwatt_version,
  };
  run.writeCell({
    ...cell,
    segments: [...cell.segments, segment],
    gradings: [...gradingsOf(cell), facts],
  });
}
