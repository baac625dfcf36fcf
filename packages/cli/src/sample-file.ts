import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { PerwattError, type Recorder, type SampleColumns } from '@perwatt/core';
import { SegmentWriter } from '@perwatt/records';

/** Samples on their way to an Arrow stream file, as a run keeps them. */
export interface SampleFile {
  /** Takes what one recorder read. */
  add(recorder: Recorder, columns: SampleColumns): void;
  /** Writes what waits, durably. */
  flush(): void;
  close(): void;
}

/** Creates the file, which must not exist. Its metadata names the domains and their facts. */
export function sampleFile(path: string, recorders: readonly Recorder[]): SampleFile {
  if (existsSync(path)) {
    throw new PerwattError('INPUT_INVALID', `${path} exists already`, {
      hint: 'Name a file that is not there yet, or remove this one.',
    });
  }
  const writer = SegmentWriter.create({
    folder: dirname(path),
    file: basename(path),
    table: 'samples',
    sitting: 0,
    metadata: { domains: JSON.stringify(recorders.flatMap(({ domains }) => domains)) },
  });
  const names = new Map(
    recorders.map((recorder) => [
      recorder,
      { domains: recorder.domains.map(({ id }) => id), raw_units: recorder.raw_units },
    ]),
  );
  return {
    add(recorder, columns) {
      const own = names.get(recorder);
      if (own !== undefined) writer.appendColumns(columns, own);
    },
    flush: () => void writer.flush(),
    close: () => void writer.close(),
  };
}
