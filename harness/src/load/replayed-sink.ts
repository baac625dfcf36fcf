import type { LoadColumns, replayed } from '@perwatt/core';
import { PARENT_LATE } from '@perwatt/metrics';
import { type ArraysOf, type RunFolder, type SegmentEntry, SegmentWriter } from '@perwatt/records';
import { countArray, nameArray, stampArray, textArray } from './column-arrays.js';
import type { LoadRowArrays } from './load-rows.js';
import { sharedBlocks } from './shared-blocks.js';
import type { TurnFact } from './turn-share.js';

export interface ReplayedInput {
  readonly run: RunFolder;
  readonly cell_id: string;
  readonly left: LoadRowArrays;
  readonly sitting: number;
}

/** Where goes what is known of a replay's calls beside the calls themselves. */
export interface ReplayedSink {
  take(columns: LoadColumns, facts: readonly TurnFact[] | null): void;
  flush(): void;
  close(): SegmentEntry;
  /** Turns that were late and that were left out, so far. */
  counts(): { readonly late: number; readonly dropped: number };
}

/** Opens the sitting's segment of `replayed`; null for a load of which there is nothing to say. */
export function openReplayedSink({ run, cell_id, left, sitting }: ReplayedInput): ReplayedSink | null {
  const { turns, blocks } = left;
  if ((turns === undefined || turns === null) && blocks === null) return null;
  const folder = run.cellFolder(cell_id);
  const { run_id } = run.manifest;
  const writer = SegmentWriter.create({
    folder,
    file: `replayed-${run.nextSegment(folder, 'replayed')}.arrows`,
    table: 'replayed',
    sitting,
    metadata: { run_id, cell_id },
  });
  const shared = blocks === null ? null : sharedBlocks(blocks);
  let [late, dropped] = [0, 0];
  const parentRow = (index: number) => {
    const from = turns?.parent[turns.slot[index] ?? 0] ?? -1;
    return from < 0 ? null : (turns?.row[from] ?? null);
  };
  const wanted = (index: number) => left.input_tokens[index] || null;
  const made = (index: number) => turns?.texts?.tokens?.[turns.slot[index] ?? 0] ?? null;
  const ofTrace = turns?.texts?.whole === false;
  return {
    take({ row, length, error_kind }, facts) {
      const calls = Array.from(row);
      const name = (text: string) => ({ names: [text], indices: new Uint16Array(length) });
      const fact = (i: number) => facts?.[i] ?? null;
      for (let i = 0; i < length; i++) {
        if (fact(i)?.parent === 'late') late += 1;
        if (error_kind.valid[i] === 1 && error_kind.names[error_kind.indices[i] ?? 0] === PARENT_LATE)
          dropped += 1;
      }
      const arrays: ArraysOf<typeof replayed> = {
        run_id: name(run_id),
        cell_id: name(cell_id),
        query_id: textArray(calls.map((index) => `${cell_id}/${left.row[index]}/0`)),
        sitting: { values: new Uint16Array(length).fill(sitting) },
        parent_row: countArray(calls.map(parentRow)),
        parent: nameArray(calls.map((_, i) => fact(i)?.parent ?? 'none')),
        late_ns: stampArray(calls.map((_, i) => stampOf(fact(i)?.late_ns ?? null))),
        history: nameArray(calls.map((_, i) => fact(i)?.history ?? 'none')),
        prompt: name(ofTrace ? 'trace' : 'made_up'),
        wanted_prompt_tokens: countArray(calls.map(wanted)),
        made_prompt_tokens: countArray(calls.map(made)),
        shared_blocks: countArray(calls.map((index) => shared?.[index] ?? null)),
      };
      writer.appendArrays(arrays);
    },
    flush() {
      if (writer.pendingRows > 0) writer.flush();
    },
    close: () => writer.close(),
    counts: () => ({ late, dropped }),
  };
}

const stampOf = (ns: number | null): bigint | null => (ns === null ? null : BigInt(Math.round(ns)));
