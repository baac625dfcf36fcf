import type { LoadColumns, LoadEngine } from '@perwatt/core';
import { vi } from 'vitest';

/** Makes one call and gives its row; the engine is closed then. */
export async function oneCall(engine: LoadEngine, body = '{"stream":true}') {
  engine.send({ row: 7, due_ns: null, body });
  const [row] = await rowsOf(engine, 1);
  await engine.close();
  return { row: row ?? {} };
}

/** Waits until so many calls have ended, and gives their rows in order of their ends. */
export async function rowsOf(engine: LoadEngine, count: number): Promise<Record<string, unknown>[]> {
  await vi.waitFor(
    () => {
      if (engine.ended < count) throw new Error(`${engine.ended} of ${count} calls have ended`);
    },
    { timeout: 20_000, interval: 1 },
  );
  return decoded(engine.drain());
}

interface AnyColumn {
  readonly values?: ArrayLike<unknown>;
  readonly valid?: Uint8Array;
  readonly indices?: Uint16Array;
  readonly names?: readonly string[];
  readonly offsets?: Int32Array;
  readonly bytes?: Uint8Array;
}

/** Columns as rows, null where they have no value. */
export function decoded({ length, row, ...columns }: LoadColumns): Record<string, unknown>[] {
  return Array.from({ length }, (_, i) => ({
    row: row[i],
    ...Object.fromEntries(
      Object.entries(columns as unknown as Record<string, AnyColumn>).map(([name, column]) => [
        name,
        column.valid?.[i] === 0 ? null : valueAt(column, i),
      ]),
    ),
  }));
}

function valueAt({ values, indices, names, offsets, bytes }: AnyColumn, i: number): unknown {
  if (indices !== undefined) return names?.[indices[i] ?? 0];
  if (offsets === undefined) return values?.[i];
  const [start, end] = [offsets[i] ?? 0, offsets[i + 1] ?? 0];
  if (bytes !== undefined) return Buffer.from(bytes.subarray(start, end)).toString();
  return Array.from(values ?? []).slice(start, end);
}
