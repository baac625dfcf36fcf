import { calls, type LoadColumns } from '@perwatt/core';
import type { ArraysOf } from '@perwatt/records';
import { textArray } from './column-arrays.js';

/** What the rows of one sitting of a load have in common. */
export interface LoadOwner {
  readonly run_id: string;
  readonly cell_id: string;
  readonly sitting: number;
  readonly endpoint: string;
  readonly model: string;
  readonly phase: 'warmup' | 'measure';
}

/** What the caller of an engine knows of a call beside its columns, by the number of its row. */
export interface LoadRow {
  readonly query_id: string;
  readonly max_tokens: number;
  /** Order of dispatch. */
  readonly seq: number;
}

/** The columns of the `calls` table for calls of which each is a query of its own, greedy and sent once. */
export function callArrays(
  columns: LoadColumns,
  owner: LoadOwner,
  rowOf: (row: number) => LoadRow,
): ArraysOf<typeof calls> {
  const n = columns.length;
  const rows = Array.from(columns.row, rowOf);
  const name = (text: string) => ({ names: [text], indices: new Uint8Array(n) });
  const none = new Uint8Array(n);
  const own = {
    run_id: name(owner.run_id),
    cell_id: name(owner.cell_id),
    query_id: textArray(rows.map(({ query_id }) => query_id)),
    call_id: textArray(rows.map(() => '0')),
    sitting: { values: new Uint16Array(n).fill(owner.sitting) },
    phase: name(owner.phase),
    seq: { values: Uint32Array.from(rows, ({ seq }) => seq) },
    role: name('solver'),
    endpoint: name(owner.endpoint),
    model: name(owner.model),
    parent_ids: { offsets: new Int32Array(n + 1), bytes: new Uint8Array(), valid: none },
    round: { values: new Uint16Array(n) },
    branch: { values: new Uint16Array(n), valid: none },
    retry: { values: new Uint8Array(n) },
    max_tokens: { values: Uint32Array.from(rows, ({ max_tokens }) => max_tokens) },
    temperature: { values: new Float64Array(n) },
    top_p: { values: new Float64Array(n).fill(1) },
    seed: { values: new Uint32Array(n), valid: none },
  };
  const measured = Object.entries(columns).filter(([column]) => column in calls);
  return { ...(Object.fromEntries(measured) as Omit<LoadColumns, 'row' | 'length'>), ...own };
}
