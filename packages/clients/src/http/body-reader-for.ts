import type { Dispatcher } from 'undici';
import { type BodyReader, errorReader, type StreamTarget, streamReader, wholeReader } from './body-reader.js';

/** Headers of a response as undici hands them over. */
export type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** Where what is read goes, and whether a stream was asked for. */
export interface BodyTarget extends Omit<StreamTarget, 'declared'> {
  readonly streamed: boolean;
}

/**
 * The reader for the body of a response: for its error message, for one JSON text, or for an event stream. A body that calls
 * itself JSON is one; a stream need not call itself so where one was asked for.
 */
export function bodyReaderFor(
  { status, headers }: { readonly status: number; readonly headers: ResponseHeaders },
  target: BodyTarget,
): BodyReader {
  if (status >= 300) return errorReader(status, status < 400 ? textOf(headers['location']) : null);
  const type = textOf(headers['content-type'])?.toLowerCase() ?? '';
  if (/[/+]json\b/.test(type)) return wholeReader(target.answer);
  const declared = /^text\/event-stream\b/.test(type);
  if (!target.streamed && !declared) return wholeReader(target.answer);
  return streamReader({ ...target, declared });
}

const textOf = (header: string | string[] | undefined): string | null =>
  (Array.isArray(header) ? header[0] : header) ?? null;
