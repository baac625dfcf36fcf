import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { LoadContext } from './dataset.js';

/** The text of a file, without a byte order mark. */
export interface TextFile {
  /** As the user named it. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads a UTF-8 file. A path that is not absolute starts from the context's root. Throws `FILE_UNREADABLE`, or
 * `DATASET_CHANGED` when its sha256 isn't the pinned one.
 */
export async function readText(path: string, context: LoadContext, sha256?: string): Promise<TextFile> {
  const { root, signal } = context;
  const bytes = await readFile(resolve(root, path), { ...(signal === undefined ? {} : { signal }) }).catch(
    (cause: unknown) => {
      signal?.throwIfAborted();
      throw new PerwattError(
        'FILE_UNREADABLE',
        `cannot read ${path}: ${systemCode(cause) ?? messageOf(cause)}`,
        { cause },
      );
    },
  );
  const found = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== undefined && sha256.toLowerCase() !== found)
    throw new PerwattError('DATASET_CHANGED', `${path} has sha256 ${found}, but ${sha256} is pinned`, {
      hint: 'Restore the pinned file, or change the `sha256` of the data set if the new one is meant.',
    });
  return { path, text: decode(path, bytes) };
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new PerwattError('DATASET_ROW_INVALID', `${path} is not UTF-8 text`, {
      cause,
      hint: 'Convert the file to UTF-8.',
    });
  }
}

/** A line of a file that is not blank, without its line end. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines that are not blank, ended by LF or CRLF; the last needs no end. */
export function* linesOf(text: string): Generator<Line> {
  let start = 0;
  for (let number = 1; start < text.length; number++) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
    if (line.trim() !== '') yield { number, text: line };
    start = end + 1;
  }
}
