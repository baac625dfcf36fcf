import { messageOf, PerwattError } from '@perwatt/core';
import { isRecord } from '../options.js';
import { type Row, rowError } from '../rows.js';
import { jsonElements } from '../traces/json-elements.js';
import { badFile, type DataFile } from './data-file.js';
import { inWords } from './limits.js';

/**
 * The objects of a file: of a JSON array, of one object a line, or of a file that is one object. An array of other values
 * gives `{ value }` for each. Nothing but the row in hand is held, unless the file is one value.
 */
export async function* jsonRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  const head = file.head.toString('utf8').replace('\ufeff', '').trimStart();
  if (/^\[\s*[{]/.test(head)) return yield* arrayRows(file);
  if (head.startsWith('[') || isOneObject(head)) return yield* wholeRows(file);
  yield* lineRows(file);
}

/** Whether the text begins an object that its first line doesn't end. */
function isOneObject(head: string): boolean {
  const end = head.indexOf('\n');
  return head.startsWith('{') && end !== -1 && !/\}\s*$/.test(head.slice(0, end));
}

async function* arrayRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  let entry = 0;
  const elements = jsonElements(file.path, bounded(file));
  for (;;) {
    const next = await elements.next().catch((cause: unknown) => {
      throw asRowError(cause);
    });
    if (next.done === true) return;
    for (const { text } of next.value) {
      entry += 1;
      const place = `${file.path} entry ${entry}`;
      yield { place, fields: objectOf(text, place) };
    }
  }
}

const asRowError = (cause: unknown) =>
  cause instanceof PerwattError && cause.code === 'TRACE_INVALID'
    ? new PerwattError('DATASET_ROW_INVALID', cause.message, { hint: cause.hint, cause })
    : cause;

/** The chunks of a file, an error once so many come without an end of an object that one row must be beyond the limit. */
async function* bounded(file: DataFile): AsyncGenerator<Buffer, void, undefined> {
  let since = 0;
  for await (const chunk of file.chunks()) {
    const end = chunk.lastIndexOf(0x7d);
    since = end === -1 ? since + chunk.length : chunk.length - end;
    if (since > file.limits.record_bytes) throw tooLong(`${file.path}: an entry`, file);
    yield chunk;
  }
}

const tooLong = (what: string, { limits, path }: DataFile) =>
  new PerwattError('DATASET_ROW_INVALID', `${what} is longer than ${inWords(limits.record_bytes)}`, {
    hint: `Check what ${path} is: no row of a data set is that long.`,
  });

async function* wholeRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of file.chunks()) {
    size += chunk.length;
    if (size > file.limits.record_bytes) throw tooLong(`${file.path} as one JSON value`, file);
    parts.push(chunk);
  }
  const value = parse(decoded(Buffer.concat(parts), file).replace(/^\ufeff/, ''), file.path);
  if (!Array.isArray(value)) return yield { place: file.path, fields: asObject(value, file.path) };
  for (const [index, each] of value.entries())
    yield { place: `${file.path} entry ${index + 1}`, fields: isRecord(each) ? each : { value: each } };
}

async function* lineRows(file: DataFile): AsyncGenerator<Row, void, undefined> {
  for await (const { number, text } of fileLines(file)) {
    const place = `${file.path} line ${number}`;
    yield { place, fields: objectOf(text, place) };
  }
}

const NEWLINE = 0x0a;

/** The lines of a file that are not blank, ended by LF or CRLF; the last needs no end. */
export async function* fileLines(
  file: DataFile,
): AsyncGenerator<{ readonly number: number; readonly text: string }, void, undefined> {
  let rest: Buffer[] = [];
  let held = 0;
  let number = 0;
  const lineOf = (bytes: Buffer) => {
    number += 1;
    const text = decoded(bytes, file);
    return { number, text: number === 1 ? text.replace(/^\ufeff/, '') : text };
  };
  for await (const chunk of file.chunks()) {
    let start = held === 0 ? emptyLines(chunk, 0) : 0;
    number += start;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = lineOf(Buffer.concat([...rest, chunk.subarray(start, end)]));
      start = emptyLines(chunk, end + 1);
      [rest, held, number] = [[], 0, number + start - end - 1];
      if (line.text.trim() !== '') yield { ...line, text: line.text.replace(/\r$/, '') };
    }
    rest.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > file.limits.record_bytes) throw tooLong(`${file.path} line ${number + 1}`, file);
  }
  const last = lineOf(Buffer.concat(rest));
  if (last.text.trim() !== '') yield last;
}

/** Where the line ends that stand at `start` stop. */
function emptyLines(chunk: Buffer, start: number): number {
  let end = start;
  while (chunk[end] === NEWLINE) end += 1;
  return end;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decoded(bytes: Uint8Array, { path }: DataFile): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw badFile(path, 'is not UTF-8 text', 'Convert the file to UTF-8.', cause);
  }
}

const objectOf = (text: string, place: string) => asObject(parse(text, place), place);

function asObject(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw rowError(place, 'not a JSON object');
  return value;
}

function parse(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw rowError(place, `not JSON (${messageOf(cause)})`, cause);
  }
}
