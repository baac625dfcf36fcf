import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceRow } from '@perwatt/core';
import { onTestFinished } from 'vitest';
import { type LoadTraceOptions, loadTrace } from './load-trace.js';
import { memoryTexts } from './text-store.js';
import type { TraceTable } from './trace-table.js';

/** A folder of its own that is gone after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-traces-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file and loads it as a trace, texts included. */
export async function loadText(
  name: string,
  content: string | Uint8Array,
  options: Partial<LoadTraceOptions> = {},
): Promise<TraceTable> {
  const root = scratch();
  writeFileSync(join(root, name), content);
  return loadTrace(name, { root, zeroOutput: 'keep', texts: memoryTexts(), ...options });
}

export const rowsOf = (table: TraceTable): readonly TraceRow[] => [...table.rows()];
