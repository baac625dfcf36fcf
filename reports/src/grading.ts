import { type GraderMode, type Verdict, verdicts } from '@perwatt/core';
import { type Accuracy, accuracyOf, scoreSums } from '@perwatt/metrics';
import { type CellFile, type ColumnContent, type RunFolder, readCellColumns } from '@perwatt/records';
import { type Attempt, type AttemptFigures, attemptFigures } from './grading-attempts.js';
import { createTextIndex } from './text-index.js';

/** A share 0…1 with its 95 % interval and the queries behind it; null where there are none. */
export type Share = Pick<Accuracy, 'value' | 'lo' | 'hi' | 'n'>;

/** What one grading in one mode comes to. */
export interface ModeFigures {
  /** 0 by the run itself, then one more with each later grading. */
  readonly pass: number;
  readonly mode: GraderMode;
  readonly grader: string;
  readonly grader_version: number;
  readonly accuracy: Share;
  /** Queries whose item is on the list of known bad golds left out. */
  readonly without_known_bad: Share;
  /** Only answers in the demanded form count as right; null in official mode, whose rules are all of one kind. */
  readonly strict: Share | null;
  /** Over queries whose answer was judged right or wrong. */
  readonly answered_only: Share;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Over repeats of items and the attempts of strategies that make several; null where no item has two. */
  readonly attempts: AttemptFigures | null;
}

/** The grades of a cell: the headline's, the other mode's, and those of later gradings. */
export interface Grading {
  /** Whose verdicts the figures of the cell are made of. */
  readonly headline: GraderMode;
  readonly figures: readonly ModeFigures[];
  /** Queries that the two modes of the run itself judge differently. */
  readonly differing: number;
  readonly known_bad_queries: number;
}

const names = [
  'query_id',
  'item_id',
  'call_id',
  'pass',
  'grader',
  'grader_version',
  'mode',
  'verdict',
  'score',
  'rule',
  'answer_class',
  'known_bad',
] as const;
type GradeArrays = ColumnContent<'grades', (typeof names)[number]>['columns'];

/** The grades of a cell, counted; null where it has none, as in older and simulated runs. */
export function gradingOf(run: RunFolder, cell: CellFile): Grading | null {
  const { columns, rows } = readCellColumns(run, { cell, table: 'grades' }, names);
  if (rows === 0) return null;
  const passes = new Set([0, ...(cell.gradings ?? []).map(({ pass }) => pass)]);
  const groups = new Map<string, RowGroup>();
  for (let row = 0; row < rows; row++) {
    const pass = columns.pass.values[row] ?? 0;
    if (!passes.has(pass)) continue;
    const key = `${pass}/${nameAt(columns.mode, row)}/${nameAt(columns.grader, row)}`;
    const group = groups.get(key) ?? { answers: [], attempts: [] };
    groups.set(key, group);
    (isAttempt(columns, row) ? group.attempts : group.answers).push(row);
  }
  const items = createTextIndex(columns.item_id);
  const table = { columns, item: items.addAll(), items: items.size(), seed: cell.seed };
  const headline = cell.provenance?.grader.mode ?? 'robust';
  const figures = [...groups.values()]
    .map((own) => figuresOf(table, own))
    .sort((a, b) => a.pass - b.pass || Number(b.mode === headline) - Number(a.mode === headline));
  return { headline, figures, ...comparedModes(columns, rows) };
}

/** Rows of one grading in one mode. */
interface RowGroup {
  readonly answers: number[];
  /** Of the single calls behind answers that several made. */
  readonly attempts: number[];
}

const isAttempt = ({ call_id }: GradeArrays, row: number): boolean => call_id.valid?.[row] !== 0;

interface Names {
  readonly indices: Uint8Array | Uint16Array;
  readonly names: readonly string[];
}

const nameAt = ({ indices, names: own }: Names, row: number): string => own[indices[row] ?? 0] ?? '';

interface GradeTable {
  readonly columns: GradeArrays;
  readonly item: Int32Array;
  readonly items: number;
  readonly seed: number;
}

function figuresOf(table: GradeTable, { answers: rows, attempts }: RowGroup): ModeFigures {
  const { columns, items, seed } = table;
  const [first = 0] = rows;
  const item = Int32Array.from(rows, (row) => table.item[row] ?? 0);
  const verdict = rows.map((row) => nameAt(columns.verdict, row));
  const scoreAt = (row: number) =>
    columns.score.valid?.[row] === 0 ? Number.NaN : (columns.score.values[row] ?? 0);
  const raw = Float64Array.from(rows, scoreAt);
  const share = (score: Float64Array, keep?: (at: number) => boolean): Share => {
    const { value, lo, hi, n } = accuracyOf(
      scoreSums({ length: rows.length, item, items, score }, keep),
      seed,
    );
    return { value, lo, hi, n };
  };
  const mode = nameAt(columns.mode, first) === 'official' ? 'official' : 'robust';
  const inForm = (at: number) =>
    columns.rule.valid?.[rows[at] ?? 0] !== 0 && nameAt(columns.rule, rows[at] ?? 0).endsWith('.format');
  return {
    pass: columns.pass.values[first] ?? 0,
    mode,
    grader: nameAt(columns.grader, first),
    grader_version: columns.grader_version.values[first] ?? 0,
    accuracy: share(raw),
    without_known_bad: share(raw, (at) => columns.known_bad.values[rows[at] ?? 0] === 0),
    strict:
      mode === 'official'
        ? null
        : share(raw.map((score, at) => (inForm(at) || Number.isNaN(score) ? score : 0))),
    answered_only: share(raw, (at) => verdict[at] === 'correct' || verdict[at] === 'incorrect'),
    verdicts: counted(verdict),
    attempts: attemptsOf(table, attempts.length > 0 ? attempts : rows, scoreAt),
  };
}

function counted(found: readonly string[]): Record<Verdict, number> {
  const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<Verdict, number>;
  const known = new Set<string>(verdicts);
  for (const verdict of found) counts[known.has(verdict) ? (verdict as Verdict) : 'unscored'] += 1;
  return counts;
}

function attemptsOf(
  { columns, item, seed }: GradeTable,
  rows: readonly number[],
  scoreAt: (row: number) => number,
): AttemptFigures | null {
  const byItem = new Map<number, Attempt[]>();
  for (const row of rows) {
    const own = scoreAt(row);
    if (Number.isNaN(own)) continue;
    const list = byItem.get(item[row] ?? 0) ?? [];
    const valid = columns.answer_class.valid;
    const answer_class = valid?.[row] === 0 ? null : (columns.answer_class.values[row] ?? null);
    list.push({ score: own, answer_class });
    byItem.set(item[row] ?? 0, list);
  }
  return attemptFigures([...byItem.values()], seed);
}

/** How the two modes of the run itself stand to each other, by query. */
function comparedModes(columns: GradeArrays, rows: number): Pick<Grading, 'differing' | 'known_bad_queries'> {
  const queries = createTextIndex(columns.query_id);
  const verdictOf = new Map<number, string>();
  let [differing, known_bad_queries] = [0, 0];
  for (let row = 0; row < rows; row++) {
    if (columns.pass.values[row] !== 0 || isAttempt(columns, row)) continue;
    const query = queries.add(row);
    const verdict = nameAt(columns.verdict, row);
    const other = verdictOf.get(query);
    if (other === undefined) {
      verdictOf.set(query, verdict);
      known_bad_queries += columns.known_bad.values[row] === 0 ? 0 : 1;
    } else if (other !== verdict) differing += 1;
  }
  return { differing, known_bad_queries };
}
