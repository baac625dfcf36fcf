import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One event stream of the reference, with the parse it must give. */
export interface StreamCase {
  readonly id: string;
  /** Parts of the body; each is one read of the client. */
  readonly segments: readonly Buffer[];
  readonly expect: Readonly<Record<string, unknown>>;
  /** Length and digest that the reference states, where it does. */
  readonly bytes?: number;
  readonly sha256?: string;
}

interface RawCase {
  readonly id: string;
  readonly bytes?: number;
  readonly sha256?: string;
  readonly segments?: readonly { readonly text?: string; readonly b64?: string }[];
  readonly expect: Readonly<Record<string, unknown>>;
}

/** Folder of the shared reference data: `PERWATT_SHARED`, else beside the repository. */
export const sharedFolder = (): string =>
  process.env['PERWATT_SHARED'] ?? resolve(import.meta.dirname, '../../../../shared');

/** The reference streams; null when the shared folder is not there. */
export function streamCases(): readonly StreamCase[] | null {
  const raw = rawCases();
  if (raw === null) return null;
  const base = raw.find(({ id }) => id === 'one-segment')?.segments ?? [];
  return raw.map(({ segments, ...stream }) => {
    const parts = (segments ?? base).map(({ text, b64 }) =>
      b64 === undefined ? Buffer.from(text ?? '') : Buffer.from(b64, 'base64'),
    );
    return { ...stream, segments: segments === undefined ? singleBytes(Buffer.concat(parts)) : parts };
  });
}

function rawCases(): readonly RawCase[] | null {
  try {
    const text = readFileSync(resolve(sharedFolder(), 'reference/load-cases.md'), 'utf8');
    const blocks = [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)];
    return JSON.parse(blocks.at(-1)?.[1] ?? '') as RawCase[];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

const singleBytes = (bytes: Buffer): Buffer[] => Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
