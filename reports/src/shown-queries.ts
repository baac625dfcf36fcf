import type { TextRow } from '@perwatt/core';
import type { QueryArrays } from './cell-columns.js';
import type { ShownQuery, UnparsedAnswer } from './results-types.js';
import { textAt } from './text-index.js';

const EACH = 5;
const LONGEST = 700;

function cut(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

/** Rows of the first five queries that are right and of the first five that are not. */
function shownRows({ columns: { verdict }, rows }: QueryArrays): number[] {
  const correct = verdict.names.indexOf('correct');
  const [right, other]: [number[], number[]] = [[], []];
  for (let row = 0; row < rows && (right.length < EACH || other.length < EACH); row++) {
    const list = verdict.indices[row] === correct ? right : other;
    if (list.length < EACH) list.push(row);
  }
  return [...right, ...other];
}

interface ShowOptions {
  /** The authors of the data set ask not to show its questions. */
  readonly withheld: boolean;
}

/** A few queries of a cell to look at: the first five that are right and the first five that are not. */
export function shownQueries(
  queries: QueryArrays,
  texts: readonly TextRow[],
  { withheld }: ShowOptions,
): ShownQuery[] {
  const { columns } = queries;
  return shownRows(queries).map((row) => {
    const query_id = textAt(columns.query_id, row);
    const first = (kind: string) =>
      cut(
        texts.find(
          (own) =>
            own.query_id === query_id && own.sitting === columns.sitting.values[row] && own.kind === kind,
        )?.text,
      );
    const extracted =
      withheld || columns.extracted.valid?.[row] === 0 ? null : textAt(columns.extracted, row);
    return {
      item_id: textAt(columns.item_id, row),
      verdict: columns.verdict.names[columns.verdict.indices[row] ?? -1] ?? '',
      prompt: first('prompt'),
      completion: first('completion'),
      extracted: cut(extracted),
    };
  });
}

const UNPARSED = 100;
const TAIL = 240;

function unparsedRows({ columns: { verdict }, rows }: QueryArrays): number[] {
  const wanted = verdict.names.indexOf('unparsed');
  const found: number[] = [];
  for (let row = 0; row < rows && found.length < UNPARSED && wanted >= 0; row++)
    if (verdict.indices[row] === wanted) found.push(row);
  return found;
}

/** Ids of all queries whose texts are shown in part, so that they are read once. */
export const shownIds = (queries: QueryArrays): ReadonlySet<string> =>
  new Set(
    [...shownRows(queries), ...unparsedRows(queries)].map((row) => textAt(queries.columns.query_id, row)),
  );

/** The first hundred queries in whose answers nothing was found, each with the end of what came. */
export function unparsedAnswers(queries: QueryArrays, texts: readonly TextRow[]): UnparsedAnswer[] {
  const { query_id, item_id, sitting, repeat } = queries.columns;
  const key = (id: string, of: number | undefined) => `${of}/${id}`;
  const answers = new Map(
    texts.filter(({ kind }) => kind === 'answer').map((own) => [key(own.query_id, own.sitting), own.text]),
  );
  return unparsedRows(queries).map((row) => {
    const text = answers.get(key(textAt(query_id, row), sitting.values[row])) ?? null;
    const end = text === null || text.length <= TAIL ? text : `… ${text.slice(-TAIL)}`;
    return { item_id: textAt(item_id, row), repeat: repeat.values[row] ?? 0, end };
  });
}
