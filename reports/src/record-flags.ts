import type { CellFile } from '@perwatt/records';
import type { ReadCell } from './cell-columns.js';

/** What the records of a cell say against its figures. */
export interface RecordFlag {
  readonly code: 'duplicate_queries' | 'unlisted_segments';
  readonly severity: 'flagged';
  readonly text: string;
}

/** Whether every sitting of the cell ended as it should: then its file lists all of its segments. */
const isClosed = ({ status, sittings }: Pick<CellFile, 'status' | 'sittings'>): boolean =>
  (status === 'done' || status === 'failed') && sittings.every(({ state }) => state === 'closed');

/** Rows that count twice, and segments with rows that nobody vouches for; both are in the figures. */
export function recordFlags(
  cell: Pick<CellFile, 'status' | 'sittings'>,
  { duplicates, unlisted }: Pick<ReadCell, 'duplicates' | 'unlisted'>,
): RecordFlag[] {
  const flags: RecordFlag[] = [];
  if (duplicates > 0)
    flags.push({
      code: 'duplicate_queries',
      severity: 'flagged',
      text: `${duplicates} ${duplicates === 1 ? 'row has' : 'rows have'} the query id of an earlier one, and every row counts`,
    });
  if (unlisted.length > 0 && isClosed(cell))
    flags.push({
      code: 'unlisted_segments',
      severity: 'flagged',
      text: `rows of ${unlisted.join(', ')} count, which the cell's file does not list`,
    });
  return flags;
}
