import { type CallRow, type Column, calls } from '@perwatt/core';
import { type CellFile, queryId } from '@perwatt/records';

interface LiveCall {
  readonly seq: number;
  readonly end_ns: bigint;
  readonly tokens: number | null;
}

const blanks: Readonly<Record<string, unknown>> = {
  name: '',
  text: '',
  bool: false,
  uint64: 0n,
  int64: 0n,
  list_float64: [],
};

/** A call as a run writes it while it goes on; null in every column that may be. */
export const callRow = ({ run_id, cell_id }: CellFile, { seq, end_ns, tokens }: LiveCall): CallRow => ({
  ...(Object.fromEntries(
    Object.entries<Column>(calls).map(([name, { type, nullable }]) => [
      name,
      nullable ? null : (blanks[type] ?? 0),
    ]),
  ) as CallRow),
  run_id,
  cell_id,
  query_id: queryId(cell_id, `item ${seq}`, 0),
  call_id: String(seq),
  phase: 'measure',
  seq,
  dispatch_ns: end_ns - 5_000_000n,
  end_ns,
  status: 'ok',
  completion_tokens: tokens,
});
