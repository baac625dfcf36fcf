import type { queries } from '@perwatt/core';
import type { ArraysOf, CellFile, ColumnBatch } from '@perwatt/records';
import { type At, countsOf, createTexts, namesOf, stampsOf } from './column-arrays.js';

export interface QueryArraysContext {
  readonly cell: CellFile;
  readonly sitting: number;
  /** Energy of the picked rows, in their order. */
  readonly energies: Float64Array | null;
}

/** The columns of the `queries` table for calls of which each is a query of its own; nothing is graded. */
export function queryArrays(
  batch: ColumnBatch,
  picked: Uint32Array,
  { cell, sitting, energies }: QueryArraysContext,
): ArraysOf<typeof queries> {
  const n = picked.length;
  const of =
    <T>(at: At<T>): At<T> =>
    (i) =>
      at(picked[i] ?? 0);
  const none = new Uint8Array(n);
  const name = (text: string) => ({ names: [text], indices: new Uint8Array(n) });
  const noName = { names: [], indices: new Uint8Array(n), valid: none };
  const status = of(batch.text('status'));
  const failure = (i: number) => (status(i) === 'ok' ? null : status(i));
  const tokens = (column: string) => countsOf(n, of(batch.number(column)));
  const stamps = (column: string) => stampsOf(n, of(batch.stamp(column)));
  const completion = tokens('completion_tokens');
  return {
    run_id: name(cell.run_id),
    cell_id: name(cell.cell_id),
    ...idArrays(n, of(batch.text('query_id'))),
    repeat: { values: new Uint16Array(n) },
    sitting: { values: new Uint16Array(n).fill(sitting) },
    dataset: name(cell.point.dataset),
    subject: noName,
    strategy: name(cell.point.strategy),
    model: name(cell.point.model),
    accelerator: name(cell.point.accelerator),
    scheduled_ns: stamps('sched_ns'),
    start_ns: stamps('dispatch_ns'),
    end_ns: stamps('end_ns'),
    calls: { values: new Uint32Array(n).fill(1) },
    rounds: { values: new Uint32Array(n).fill(1) },
    prompt_tokens: tokens('prompt_tokens'),
    completion_tokens: completion,
    cached_tokens: tokens('cached_tokens'),
    reasoning_tokens: tokens('reasoning_tokens'),
    sequential_tokens: completion,
    token_source: namesOf(n, of(batch.text('token_source'))),
    status: {
      names: ['answered', 'failed'],
      indices: Uint8Array.from(picked, (_, i) => Number(status(i) !== 'ok')),
    },
    error_code: namesOf(n, failure),
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

/** Ids of the queries, and of the items within them. */
function idArrays(count: number, idAt: At<string>) {
  const [ids, items] = [createTexts(count), createTexts(count)];
  for (let i = 0; i < count; i++) {
    const id = idAt(i) ?? '';
    ids.add(id);
    items.add(id.split('/', 2)[1] ?? '');
  }
  return { query_id: ids.arrays(), item_id: items.arrays() };
}
