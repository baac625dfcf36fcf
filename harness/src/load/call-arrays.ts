import { calls, type LoadColumns } from '@perwatt/core';
import type { ArraysOf } from '@perwatt/records';
import { textsOf } from './column-arrays.js';

/** What the rows of one sitting of a load have in common. */
export interface LoadOwner {
  readonly run_id: string;
  readonly cell_id: string;
  readonly sitting: number;
  readonly endpoint: string;
  readonly model: string;
  readonly phase: 'warmup' | 'measure';
}

/** What the caller of an engine knows of a call beside its columns, by the number of its row, which is the order of dispatch. */
export interface LoadRowFacts {
  query_id(row: number): string;
  max_tokens(row: number): number;
}

/** The columns of the `calls` table for calls of which each is a query of its own, greedy and sent once. */
export function callArrays(
  columns: LoadColumns,
  owner: LoadOwner,
  facts: LoadRowFacts,
): ArraysOf<typeof calls> {
  const { length: n, row } = columns;
  const name = (text: string) => ({ names: [text], indices: new Uint8Array(n) });
  const none = new Uint8Array(n);
  const own = {
    run_id: name(owner.run_id),
    cell_id: name(owner.cell_id),
    query_id: textsOf(n, (i) => facts.query_id(row[i] ?? 0)),
    call_id: textsOf(n, () => '0'),
    sitting: { values: new Uint16Array(n).fill(owner.sitting) },
    phase: name(owner.phase),
    seq: { values: Uint32Array.from(row) },
    role: name('solver'),
    endpoint: name(owner.endpoint),
    model: name(owner.model),
    parent_ids: { offsets: new Int32Array(n + 1), bytes: new Uint8Array(), valid: none },
    round: { values: new Uint16Array(n) },
    branch: { values: new Uint16Array(n), valid: none },
    retry: { values: new Uint8Array(n) },
    max_tokens: { values: Uint32Array.from(row, facts.max_tokens) },
    temperature: { values: new Float64Array(n) },
    top_p: { values: new Float64Array(n).fill(1) },
    seed: { values: new Uint32Array(n), valid: none },
    prefix_key: { offsets: new Int32Array(n + 1), bytes: new Uint8Array(), valid: none },
    shared_prefix_tokens: { values: new Uint32Array(n), valid: none },
  };
  const measured = Object.entries(columns).filter(([column]) => column in calls);
  return { ...(Object.fromEntries(measured) as Omit<LoadColumns, 'row' | 'length'>), ...own };
}
