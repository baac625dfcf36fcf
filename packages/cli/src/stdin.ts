import { addAbortSignal, type Readable } from 'node:stream';
import type { Io } from './io.js';

/** Standard input for a command that waits for it: reading ends with an `AbortError` when the command is told to stop. */
export const stdinOf = ({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>): Readable =>
  addAbortSignal(signal, stdin);
