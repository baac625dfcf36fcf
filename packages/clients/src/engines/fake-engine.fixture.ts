import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Engine, type LaunchedEntry } from '@perwatt/core';
import { onTestFinished } from 'vitest';

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-engines-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An entry of `engines` as a matrix gives it, defaults filled in. */
export function entryOf(input: Record<string, unknown>): LaunchedEntry {
  const entry = Engine.parse(input);
  if (entry.kind === 'agent') throw new RangeError('an entry of this host was wanted');
  return entry;
}
