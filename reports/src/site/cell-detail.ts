import type { TextRow } from '@perwatt/core';
import { type CellColumns, type SteadyFacts, steadyFacts, timesOfCalls } from '@perwatt/metrics';
import {
  type CellFile,
  type ClockZero,
  type PowerFileSeries,
  type RunFolder,
  readCellColumns,
  readTextsOf,
} from '@perwatt/records';
import { type QueryArrays, readColumnsOf } from '../cell-columns.js';
import { textAt } from '../text-index.js';
import { type CellPower, cellPower, type PhaseSpan } from './cell-power.js';
import { labelledRows, type OutlierLabel } from './outliers.js';

/** Times of a kind, sorted, ns; thinned to its quantiles where there are many. */
export interface Distribution {
  readonly name: string;
  readonly n: number;
  readonly values: readonly number[];
}

/** A query that lies far from the others, kept in every figure. */
export interface Outlier {
  readonly item_id: string;
  readonly what: 'duration' | 'energy';
  readonly label: OutlierLabel;
  /** ns or J. */
  readonly value: number;
}

/** One query to look at. */
export interface DetailQuery {
  readonly item_id: string;
  readonly repeat: number;
  readonly subject: string | null;
  readonly verdict: string;
  readonly score: number | null;
  readonly extracted: string | null;
  readonly rule: string | null;
  /** Seconds since the measured window began; null where the window isn't known. */
  readonly start_s: number | null;
  readonly duration_ns: number;
  readonly calls: number;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_j: number | null;
  readonly energy_method: string;
  readonly prompt: string | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly outlier: OutlierLabel | null;
}

/** Queries as marks of a figure: start (s), duration (s), verdict. */
export interface QueryMarks {
  readonly start_s: Float64Array;
  readonly duration_s: Float64Array;
  readonly verdict: readonly string[];
}

/** What a cell's page shows beside its results. */
export interface CellDetail {
  readonly power: CellPower | null;
  readonly steady: { readonly phases: readonly PhaseSpan[]; readonly reason: string | null };
  readonly marks: QueryMarks;
  readonly distributions: readonly Distribution[];
  readonly outliers: readonly Outlier[];
  readonly outlier_count: number;
  readonly queries: readonly DetailQuery[];
  readonly withheld: boolean;
}

const MOST_QUERIES = 100;
const MOST_OUTLIERS = 40;
const MOST_QUANTILES = 200;

const known = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

function distributionOf(name: string, times: Float64Array): Distribution[] {
  const sorted = times.filter((value) => !Number.isNaN(value)).sort();
  const n = sorted.length;
  if (n === 0) return [];
  const kept =
    n <= MOST_QUANTILES
      ? [...sorted]
      : Array.from(
          { length: MOST_QUANTILES },
          (_, i) => sorted[Math.round((i * (n - 1)) / (MOST_QUANTILES - 1))] ?? 0,
        );
  return [{ name, n, values: kept }];
}

const kinds = [
  ['First token', 'ttft_any'],
  ['Time per output token', 'tpot'],
  ['Call, to its last token', 'e2e_from_dispatch'],
  ['Call, since it was due', 'e2e_from_schedule'],
] as const;

const distributionsOf = ({ calls }: CellColumns): Distribution[] =>
  kinds.flatMap(([title, name]) => distributionOf(title, timesOfCalls(calls, name)));

const durationsOf = ({ queries }: CellColumns): Float64Array =>
  queries.end.map((end, i) => end - (queries.start[i] ?? 0));

interface FoundOutliers {
  readonly list: readonly Outlier[];
  readonly count: number;
  /** By row: of its duration or, without one, of its energy. */
  readonly labels: ReadonlyMap<number, OutlierLabel>;
}

/** Queries far from the others in duration and, where each was measured on its own, in energy. */
function outliersOf({ queries }: CellColumns, arrays: QueryArrays, durations: Float64Array): FoundOutliers {
  const { names } = queries.method;
  const isolated = names.length === 1 && names[0] === 'isolated';
  const sets: readonly (readonly [Outlier['what'], Float64Array])[] = [
    ['duration', durations],
    ...(isolated ? [['energy', queries.gross_j] as const] : []),
  ];
  const found = sets.flatMap(([what, values]) =>
    labelledRows(values).map(({ row, label }) => ({ row, label, what, value: values[row] ?? 0 })),
  );
  return {
    list: found.slice(0, MOST_OUTLIERS).map(({ row, ...rest }) => ({
      item_id: textAt(arrays.columns.item_id, row),
      ...rest,
    })),
    count: found.length,
    labels: new Map(found.toReversed().map(({ row, label }) => [row, label])),
  };
}

/** Rows spread evenly over all. */
const spreadRows = (rows: number): number[] =>
  rows <= MOST_QUERIES
    ? Array.from({ length: rows }, (_, i) => i)
    : Array.from({ length: MOST_QUERIES }, (_, i) => Math.floor((i * rows) / MOST_QUERIES));

interface ShownTexts {
  prompt: string | null;
  answer: string | null;
}
const noTexts: Readonly<ShownTexts> = { prompt: null, answer: null };

function textsByQuery(texts: readonly TextRow[]): Map<string, ShownTexts> {
  const found = new Map<string, ShownTexts>();
  for (const { query_id, sitting, kind, text } of texts) {
    const key = `${sitting}/${query_id}`;
    const own = found.get(key) ?? { prompt: null, answer: null };
    found.set(key, own);
    if (kind === 'prompt') own.prompt ??= text;
    else if (kind === 'answer') own.answer = text;
    else if (kind === 'completion') own.answer ??= text;
  }
  return found;
}

/** What calls of failed queries said, by query id. */
function errorsOf(run: RunFolder, cell: CellFile): Map<string, string> {
  const { columns, rows } = readCellColumns(run, { cell, table: 'calls' }, [
    'query_id',
    'error_kind',
    'error_message',
  ]);
  const errors = new Map<string, string>();
  for (let row = 0; row < rows; row++) {
    if (columns.error_kind.valid?.[row] === 0) continue;
    const kind = columns.error_kind.names[columns.error_kind.indices[row] ?? -1] ?? '';
    const message = columns.error_message.valid?.[row] === 0 ? '' : textAt(columns.error_message, row);
    errors.set(textAt(columns.query_id, row), [kind, message].filter((part) => part !== '').join(': '));
  }
  return errors;
}

const nameAt = (
  column: {
    readonly indices: ArrayLike<number>;
    readonly names: readonly string[];
    readonly valid?: Uint8Array | null;
  },
  row: number,
): string | null => (column.valid?.[row] === 0 ? null : (column.names[column.indices[row] ?? -1] ?? null));

const optionalText = (column: QueryArrays['columns']['extracted'], row: number): string | null =>
  column.valid?.[row] === 0 ? null : textAt(column, row);

const countsAt = (
  { queries }: CellColumns,
  row: number,
): Pick<DetailQuery, 'prompt_tokens' | 'completion_tokens' | 'energy_j'> => ({
  prompt_tokens: known(queries.prompt_tokens[row]),
  completion_tokens: known(queries.completion_tokens[row]),
  energy_j: known(queries.gross_j[row]),
});

interface Shown {
  readonly run: RunFolder;
  readonly cell: CellFile;
  readonly arrays: QueryArrays;
  readonly columns: CellColumns;
  readonly durations: Float64Array;
  readonly labels: FoundOutliers['labels'];
  readonly start_s: Float64Array;
  readonly withheld: boolean;
}

function detailQueries({
  run,
  cell,
  arrays,
  columns,
  durations,
  labels,
  start_s,
  withheld,
}: Shown): DetailQuery[] {
  const own = arrays.columns;
  const rows = spreadRows(arrays.rows);
  const ids = new Set(rows.map((row) => textAt(own.query_id, row)));
  const texts = textsByQuery(withheld ? [] : readTextsOf(run, cell.cell_id, ids));
  const errors = errorsOf(run, cell);
  const { columns: more } = readCellColumns(run, { cell, table: 'queries' }, ['rule', 'error_code']);
  return rows.map((row): DetailQuery => {
    const query_id = textAt(own.query_id, row);
    return {
      item_id: textAt(own.item_id, row),
      repeat: own.repeat.values[row] ?? 0,
      subject: nameAt(own.subject, row),
      verdict: nameAt(own.verdict, row) ?? '',
      score: known(columns.queries.score[row]),
      extracted: withheld ? null : optionalText(own.extracted, row),
      rule: nameAt(more.rule, row),
      start_s: known(start_s[row]),
      duration_ns: durations[row] ?? 0,
      calls: own.calls.values[row] ?? 0,
      ...countsAt(columns, row),
      energy_method: nameAt(own.energy_method, row) ?? 'none',
      ...(texts.get(`${own.sitting.values[row]}/${query_id}`) ?? noTexts),
      error: errors.get(query_id) ?? nameAt(more.error_code, row),
      outlier: labels.get(row) ?? null,
    };
  });
}

function steadyPhases({ reason, time }: SteadyFacts, power: CellPower | null): CellDetail['steady'] {
  if (power === null || reason !== null) return { phases: [], reason };
  const edges = time.bySitting.get(power.sitting);
  const [from, to] = [edges?.[0], edges?.[1]];
  if (from === undefined || to === undefined) return { phases: [], reason };
  const at = (since: number): number => power.secondsOf(time.origin_ns + BigInt(Math.round(since)));
  return { phases: [{ kind: 'steady window', start_s: at(from), end_s: at(to) }], reason };
}

export interface DetailSources {
  readonly run: RunFolder;
  readonly power: readonly PowerFileSeries[];
  readonly clocks: readonly ClockZero[];
}

/** What the page of a cell shows, read from the cell's rows and the samples around it. */
export function cellDetail(cell: CellFile, { run, power: samples, clocks }: DetailSources): CellDetail {
  const { columns, queries: arrays } = readColumnsOf(run, cell);
  const power = cellPower(cell, samples, clocks);
  const durations = durationsOf(columns);
  const { list, count, labels } = outliersOf(columns, arrays, durations);
  const inSitting = (row: number) => power !== null && columns.queries.sitting[row] === power.sitting;
  const origin = power === null ? 0 : power.secondsOf(columns.origin_ns);
  const start_s = columns.queries.start.map((start, row) =>
    inSitting(row) ? origin + start / 1e9 : Number.NaN,
  );
  const withheld = cell.provenance?.dataset.withhold === true;
  return {
    power,
    steady: steadyPhases(steadyFacts(columns, cell.steady ?? null), power),
    marks: {
      start_s,
      duration_s: durations.map((ns) => ns / 1e9),
      verdict: Array.from(
        columns.queries.verdict.codes,
        (code) => columns.queries.verdict.names[code] ?? 'unscored',
      ),
    },
    distributions: distributionsOf(columns),
    outliers: list,
    outlier_count: count,
    queries: detailQueries({ run, cell, arrays, columns, durations, labels, start_s, withheld }),
    withheld,
  };
}
