import type { QueryRow, TextRow } from '@perwatt/core';
import type { ShownQuery } from './results-types.js';

const EACH = 5;
const LONGEST = 700;

function cut(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}

/** A few queries of a cell to look at: the first five that are right and the first five that are not. */
export function shownQueries(queries: readonly QueryRow[], texts: readonly TextRow[]): ShownQuery[] {
  const right = queries.filter(({ verdict }) => verdict === 'correct').slice(0, EACH);
  const other = queries.filter(({ verdict }) => verdict !== 'correct').slice(0, EACH);
  const first = (query: QueryRow, kind: string) =>
    cut(
      texts.find(
        (row) => row.query_id === query.query_id && row.sitting === query.sitting && row.kind === kind,
      )?.text,
    );
  return [...right, ...other].map((query) => ({
    item_id: query.item_id,
    verdict: query.verdict,
    prompt: first(query, 'prompt'),
    completion: first(query, 'completion'),
    extracted: cut(query.extracted),
  }));
}
