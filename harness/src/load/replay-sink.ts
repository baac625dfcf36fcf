import type { LoadColumns } from '@perwatt/core';
import { type RunFolder, type SegmentEntry, SegmentWriter } from '@perwatt/records';
import type { PowerLog } from '../power-log.js';
import { callArrays } from './call-arrays.js';
import type { LoadRowArrays } from './load-rows.js';
import type { ReplayPlan } from './replay-plan.js';
import { openReplayedSink } from './replayed-sink.js';
import type { TurnFact } from './turn-share.js';

/** Most rows that wait for the disk. */
const FLUSH_ROWS = 16_384;

export interface SinkInput {
  readonly run: RunFolder;
  readonly plan: ReplayPlan;
  readonly power: PowerLog;
  readonly left: LoadRowArrays;
  readonly sitting: number;
  readonly onCalls: (columns: LoadColumns, facts: readonly TurnFact[] | null) => void;
}

/** Where ended calls go. */
export interface ReplaySink {
  readonly take: (columns: LoadColumns, facts: readonly TurnFact[] | null) => void;
  /** Syncs what waits, the samples of its time first. */
  readonly flush: () => void;
  readonly close: () => readonly SegmentEntry[];
  /** Turns that were late and that were left out; null where no turns are told apart. */
  readonly turns: () => { readonly late: number; readonly dropped: number } | null;
}

/** Opens the sitting's segment of calls. */
export function openReplaySink({ run, plan, power, left, sitting, onCalls }: SinkInput): ReplaySink {
  const folder = run.cellFolder(plan.cell_id);
  const { run_id } = run.manifest;
  const writer = SegmentWriter.create({
    folder,
    file: `calls-${run.nextSegment(folder, 'calls')}.arrows`,
    table: 'calls',
    sitting,
    metadata: { run_id, cell_id: plan.cell_id },
  });
  const { point, cell_id } = plan;
  const owner = {
    run_id,
    cell_id,
    sitting,
    endpoint: 'target',
    model: point.model,
    phase: 'measure',
  } as const;
  const beside = openReplayedSink({ run, cell_id, left, sitting });
  const flush = () => {
    beside?.flush();
    if (writer.pendingRows === 0) return;
    power.drain();
    power.flush();
    writer.flush();
  };
  return {
    take(columns, facts) {
      onCalls(columns, facts);
      beside?.take(columns, facts);
      const arrays = callArrays(columns, owner, {
        query_id: (index) => `${cell_id}/${left.row[index]}/0`,
        max_tokens: (index) => left.output_tokens[index] ?? 0,
      });
      writer.appendArrays(arrays);
      if (writer.pendingRows >= FLUSH_ROWS) flush();
    },
    flush,
    close: () => (beside === null ? [writer.close()] : [beside.close(), writer.close()]),
    turns: () => (left.turns ? (beside?.counts() ?? null) : null),
  };
}
