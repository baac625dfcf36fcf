import {
  type CallStampsOf,
  callTimeNames,
  createLoadTally,
  type LoadSummary,
  type LoadTallyOptions,
  PARENT_LATE,
  type Slo,
} from '@perwatt/metrics';
import { parseQueryId, type RunFolder, scanColumns } from '@perwatt/records';
import { createRowSet, type RowSet } from './load-rows.js';

/** Rows of the trace that have their call on disk. */
export function rowsOnDisk(run: RunFolder, cellId: string): RowSet {
  const rows = createRowSet();
  scanColumns(run, { cellId, table: 'calls' }, (batch) => {
    const id = batch.text('query_id');
    for (let i = 0; i < batch.rows; i++) {
      const item = parseQueryId(id(i) ?? '')?.item_id;
      if (item !== undefined) rows.add(Number(item));
    }
  });
  return rows;
}

/** Calls of one sitting in the order in which they were written, ns from `zero`. */
export interface SittingCalls {
  readonly start_ns: Float64Array;
  readonly end_ns: Float64Array;
}

/** Starts and ends of the calls of a sitting. */
export function sittingCalls(
  run: RunFolder,
  cellId: string,
  { sitting, zero, most }: { readonly sitting: number; readonly zero: bigint; readonly most: number },
): SittingCalls {
  const start_ns = new Float64Array(most);
  const end_ns = new Float64Array(most);
  let n = 0;
  scanColumns(run, { cellId, table: 'calls' }, (batch) => {
    const own = batch.number('sitting');
    const [start, end] = [batch.number('dispatch_ns', zero), batch.number('end_ns', zero)];
    for (let i = 0; i < batch.rows; i++) {
      if (own(i) !== sitting || n >= most) continue;
      start_ns[n] = start(i) ?? 0;
      end_ns[n] = end(i) ?? 0;
      n += 1;
    }
  });
  return { start_ns: start_ns.subarray(0, n), end_ns: end_ns.subarray(0, n) };
}

/** What the calls of a cell came to, over all its sittings; read twice, so that half of the times are in memory at a time. */
export function summariseCalls(run: RunFolder, cellId: string, slo: Slo): LoadSummary {
  const half = callTimeNames.length / 2;
  const first = tallied(run, cellId, { slo, times: callTimeNames.slice(0, half) });
  const { times } = tallied(run, cellId, { slo, times: callTimeNames.slice(half) });
  const all = callTimeNames.map((name) => [name, first.times[name] ?? times[name]]);
  return { ...first, times: Object.fromEntries(all) };
}

function tallied(run: RunFolder, cellId: string, options: LoadTallyOptions): LoadSummary {
  const tally = createLoadTally(options);
  let zero: bigint | null = null;
  for (const { start_ns } of run.readCell(cellId).sittings) zero ??= BigInt(start_ns);
  scanColumns(run, { cellId, table: 'calls' }, (batch) => {
    const stamp = (name: string) => batch.number(name, zero ?? 0n);
    const [sched, dispatch, any] = [stamp('sched_ns'), stamp('dispatch_ns'), stamp('first_any_ns')];
    const [content, last, end] = [stamp('first_content_ns'), stamp('last_content_ns'), stamp('end_ns')];
    const [tokens, events, sitting] = [
      batch.number('completion_tokens'),
      batch.number('events'),
      batch.number('sitting'),
    ];
    const [status, kind] = [batch.text('status'), batch.text('error_kind')];
    for (let i = 0; i < batch.rows; i++) {
      const how = status(i) ?? 'unknown';
      const call: CallStampsOf = {
        sched_ns: sched(i),
        dispatch_ns: dispatch(i) ?? 0,
        first_any_ns: any(i),
        first_content_ns: content(i),
        last_content_ns: last(i),
        end_ns: end(i) ?? 0,
        streamed: (events(i) ?? 0) > 0,
        ok: how === 'ok',
        tokens: tokens(i),
      };
      if (kind(i) === PARENT_LATE) tally.drop(call, 'dropped');
      else tally.add(call, how, sitting(i) ?? 0);
    }
  });
  return tally.summary();
}
