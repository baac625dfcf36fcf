import type { TextRow } from '@perwatt/core';
import type { QueryArrays } from './cell-columns.js';
import type { ShownQuery } from './results-types.js';
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

/**
 * A few queries of a cell to look at: the first five that are right and the first five that are not. `textsOf` gives the
 * texts of queries by their ids: no others are asked for.
 */
export function shownQueries(
  queries: QueryArrays,
  textsOf: (ids: ReadonlySet<string>) => readonly TextRow[],
): ShownQuery[] {
  const { columns } = queries;
  const rows = shownRows(queries).map((row) => ({ row, query_id: textAt(columns.query_id, row) }));
  const texts = textsOf(new Set(rows.map(({ query_id }) => query_id)));
  return rows.map(({ row, query_id }) => {
    const first = (kind: string) =>
      cut(
        texts.find(
          (own) =>
            own.query_id === query_id && own.sitting === columns.sitting.values[row] && own.kind === kind,
        )?.text,
      );
    const extracted = columns.extracted.valid?.[row] === 0 ? null : textAt(columns.extracted, row);
    return {
      item_id: textAt(columns.item_id, row),
      verdict: columns.verdict.names[columns.verdict.indices[row] ?? -1] ?? '',
      prompt: first('prompt'),
      completion: first('completion'),
      extracted: cut(extracted),
    };
  });
}
