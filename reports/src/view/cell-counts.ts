import type { ColumnBatch } from '@perwatt/records';
import { plus, type RateTally } from './rate-tally.js';
import type { WatchedCell } from './watch-types.js';

type Counts = Pick<
  WatchedCell,
  'calls' | 'failed' | 'tokens' | 'queries' | 'accuracy' | 'energy_per_query_j'
>;

/** Adds up what a cell's rows say, batch by batch. */
export function createCellCounts(rates: RateTally) {
  const calls = { count: 0, failed: 0, tokens: 0 as number | null };
  const queries = { count: 0, scored: 0, score: 0, gross_j: 0 as number | null };
  return {
    takeCalls(batch: ColumnBatch): void {
      const [phase, status] = [batch.text('phase'), batch.text('status')];
      const [end, tokens] = [batch.stamp('end_ns'), batch.number('completion_tokens')];
      for (let row = 0; row < batch.rows; row++) {
        if (phase(row) !== 'measure') continue;
        const own = tokens(row);
        calls.count += 1;
        calls.failed += status(row) === 'ok' ? 0 : 1;
        calls.tokens = plus(calls.tokens, own);
        rates.add(end(row) ?? 0n, own);
      }
    },
    takeQueries(batch: ColumnBatch): void {
      const [score, gross] = [batch.number('score'), batch.number('energy_gross_j')];
      queries.count += batch.rows;
      for (let row = 0; row < batch.rows; row++) {
        const own = score(row);
        queries.scored += own === null ? 0 : 1;
        queries.score += own ?? 0;
        queries.gross_j = plus(queries.gross_j, gross(row));
      }
    },
    counts(): Counts {
      const { count, scored, score, gross_j } = queries;
      return {
        calls: calls.count,
        failed: calls.failed,
        tokens: calls.tokens,
        queries: count,
        accuracy: scored === 0 ? null : score / scored,
        energy_per_query_j: count === 0 || gross_j === null ? null : gross_j / count,
      };
    },
  };
}
