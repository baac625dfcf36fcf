import type { CallRow, TextRow } from '@perwatt/core';
import { type RunFolder, type SegmentEntry, SegmentWriter } from '@perwatt/records';

/** The two open segments of a sitting. Rows are synced at most two seconds after they were appended. */
export interface SittingLog {
  append(calls: readonly CallRow[], texts: readonly TextRow[]): void;
  flush(): void;
  /** Writes the rest, closes both files and returns their entries. */
  close(): SegmentEntry[];
}

/** Calls are synced before texts, so that an `answer` row on disk means that its calls are on disk too. */
export function openSittingLog(run: RunFolder, cellId: string, sitting: number): SittingLog {
  const folder = run.cellFolder(cellId);
  const metadata = { run_id: run.manifest.run_id, cell_id: cellId };
  const create = <T extends 'calls' | 'texts'>(table: T) =>
    SegmentWriter.create({
      folder,
      file: `${table}-${run.nextSegment(folder, table)}.arrows`,
      table,
      sitting,
      metadata,
    });
  const calls = create('calls');
  const texts = create('texts');
  return {
    append(callRows, textRows) {
      calls.append(callRows);
      texts.append(textRows);
    },
    flush() {
      calls.flush();
      texts.flush();
    },
    close: () => [calls.close(), texts.close()],
  };
}
