import type { QueryRow } from '@perwatt/core';
import type { TornSegment } from './read-tables.js';
import type { RunFolder } from './run-folder.js';

/** How a query ended, as its `answer` row tells. */
export interface AnsweredQuery {
  readonly query_id: string;
  /** Session of work that answered it. */
  readonly sitting: number;
  /** The text to grade; null for a query that gave no answer. */
  readonly text: string | null;
  /** Status, reason, candidates and decisions as written; null where there is none or it isn't JSON. */
  readonly detail: unknown;
}

/** A row about a query that already had one; it doesn't count. */
export interface DuplicateQuery {
  readonly query_id: string;
  readonly table: 'queries' | 'texts';
  readonly kept_sitting: number;
  readonly dropped_sitting: number;
}

/** What a cell has behind it, by query id. */
export interface CompletedQueries {
  /** Queries with an answer on disk. Their calls are on disk too: calls are flushed before texts. */
  readonly answered: ReadonlyMap<string, AnsweredQuery>;
  /** Queries with a row of their own: graded and settled. */
  readonly settled: ReadonlyMap<string, QueryRow>;
  readonly duplicates: readonly DuplicateQuery[];
  readonly torn: readonly TornSegment[];
}

/** The queries of a cell that needn't be asked again. Where a query has several rows, the first written one counts. */
export function completedQueries(
  run: Pick<RunFolder, 'readQueries' | 'readTexts'>,
  cellId: string,
): CompletedQueries {
  const texts = run.readTexts(cellId);
  const queries = run.readQueries(cellId);
  const duplicates: DuplicateQuery[] = [];
  const answers = texts.rows
    .filter((row) => row.kind === 'answer')
    .map(({ query_id, sitting, text, detail }) => ({ query_id, sitting, text, detail: parsed(detail) }));
  return {
    answered: firsts('texts', answers, duplicates),
    settled: firsts('queries', queries.rows, duplicates),
    duplicates,
    torn: [...texts.torn, ...queries.torn],
  };
}

/** The first row of each query; the others are noted in `duplicates`. */
function firsts<R extends { readonly query_id: string; readonly sitting: number }>(
  table: DuplicateQuery['table'],
  rows: readonly R[],
  duplicates: DuplicateQuery[],
): Map<string, R> {
  const kept = new Map<string, R>();
  for (const row of rows) {
    const { query_id, sitting } = row;
    const first = kept.get(query_id);
    if (first === undefined) kept.set(query_id, row);
    else duplicates.push({ query_id, table, kept_sitting: first.sitting, dropped_sitting: sitting });
  }
  return kept;
}

function parsed(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}
