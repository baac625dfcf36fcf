import type { queries } from '@perwatt/core';
import type { ArraysOf, CellFile, ColumnBatch } from '@perwatt/records';
import { countArray, nameArray, stampArray, textArray } from './column-arrays.js';

export interface QueryArraysContext {
  readonly cell: CellFile;
  readonly sitting: number;
  /** Energy of the picked rows, in their order. */
  readonly energies: Float64Array | null;
}

/** The columns of the `queries` table for calls of which each is a query of its own; nothing is graded. */
export function queryArrays(
  batch: ColumnBatch,
  picked: readonly number[],
  { cell, sitting, energies }: QueryArraysContext,
): ArraysOf<typeof queries> {
  const n = picked.length;
  const none = new Uint8Array(n);
  const name = (text: string) => ({ names: [text], indices: new Uint8Array(n) });
  const noName = { names: [], indices: new Uint8Array(n), valid: none };
  const ids = picked.map(batch.text('query_id')).map((id) => id ?? '');
  const status = picked.map(batch.text('status'));
  const failed = status.map((s) => s !== 'ok');
  const tokens = (column: string) => countArray(picked.map(batch.number(column)));
  const completion = tokens('completion_tokens');
  return {
    run_id: name(cell.run_id),
    cell_id: name(cell.cell_id),
    query_id: textArray(ids),
    item_id: textArray(ids.map((id) => id.split('/')[1] ?? '')),
    repeat: { values: new Uint16Array(n) },
    sitting: { values: new Uint16Array(n).fill(sitting) },
    dataset: name(cell.point.dataset),
    subject: noName,
    strategy: name(cell.point.strategy),
    model: name(cell.point.model),
    accelerator: name(cell.point.accelerator),
    scheduled_ns: stampArray(picked.map(batch.stamp('sched_ns'))),
    start_ns: stampArray(picked.map(batch.stamp('dispatch_ns'))),
    end_ns: stampArray(picked.map(batch.stamp('end_ns'))),
    calls: { values: new Uint32Array(n).fill(1) },
    rounds: { values: new Uint32Array(n).fill(1) },
    prompt_tokens: tokens('prompt_tokens'),
    completion_tokens: completion,
    cached_tokens: tokens('cached_tokens'),
    reasoning_tokens: tokens('reasoning_tokens'),
    sequential_tokens: completion,
    token_source: nameArray(picked.map(batch.text('token_source'))),
    status: { names: ['answered', 'failed'], indices: Uint8Array.from(failed, Number) },
    error_code: nameArray(status.map((s) => (s === 'ok' ? null : s))),
    verdict: name('unscored'),
    score: { values: new Float64Array(n), valid: none },
    extracted: { offsets: new Int32Array(n + 1), bytes: new Uint8Array(), valid: none },
    rule: noName,
    grader: name('none'),
    grader_version: { values: new Uint16Array(n).fill(1) },
    energy_gross_j:
      energies === null ? { values: new Float64Array(n), valid: none } : { values: energies.slice(0, n) },
    energy_net_j: { values: new Float64Array(n), valid: none },
    energy_lo_j: { values: new Float64Array(n), valid: none },
    energy_hi_j: { values: new Float64Array(n), valid: none },
    energy_method: name(energies === null ? 'none' : 'time_share'),
  };
}
