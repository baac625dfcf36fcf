import { didYouMean, PerwattError, type TraceFormat } from '@perwatt/core';
import { isRecord } from '../options.js';
import { perwattArrow } from './arrow-trace.js';
import { chatTraces } from './chat-traces.js';
import { csvTraces, fieldsIn } from './csv-traces.js';
import { jsonElements } from './json-elements.js';
import { jsonlTraces } from './jsonl-traces.js';
import { badFile } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import { lineBatches } from './trace-lines.js';
import type { Container, TraceReader } from './trace-reader.js';

/** Every format there is. */
export const traceReaders: readonly TraceReader[] = [
  ...csvTraces,
  ...jsonlTraces,
  ...chatTraces,
  perwattArrow,
];

/** The reader of a declared format. Throws `USAGE` for one that isn't known. */
export function readerByFormat(format: string): TraceReader {
  const reader = traceReaders.find((each) => each.format === format);
  if (reader !== undefined) return reader;
  const known = traceReaders.map((each) => each.format);
  throw new PerwattError('USAGE', `unknown trace format "${format}"${didYouMean(format, known)}`, {
    hint: `Formats: ${known.join(', ')}.`,
  });
}

/**
 * The reader for a file, by how it is put together and by the names in its header or first record; values are never looked
 * at. Throws `TRACE_INVALID` when no format fits, or two fit as well.
 */
export async function recognise(file: TraceFile): Promise<TraceReader> {
  const container = await containerOf(file);
  const names = new Set(await namesIn(file, container));
  const fits = traceReaders
    .filter(({ containers, keys }) => containers.includes(container) && keys.every((key) => names.has(key)))
    .sort((a, b) => b.keys.length - a.keys.length);
  const [best] = fits;
  if (best !== undefined) return best;
  const shown = [...names].slice(0, 12).map((name) => `"${name}"`);
  throw badFile(
    file.path,
    `no known trace has ${container} with ${shown.length === 0 ? 'no names' : shown.join(', ')}`,
    `Name the format with --format: ${traceReaders.map(({ format }: { format: TraceFormat }) => format).join(', ')}.`,
  );
}

async function containerOf(file: TraceFile): Promise<Container> {
  const head = await file.head(4096);
  if (head.length === 0) throw badFile(file.path, 'the file is empty', 'Give a whole file.');
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  if (head.length >= 4 && head.readUInt32LE() === 0xff_ff_ff_ff) return 'arrow';
  const text = head.toString('utf8').replace('\ufeff', '').trimStart();
  if (text.startsWith('[')) return 'json';
  return text.startsWith('{') ? 'jsonl' : 'csv';
}

async function namesIn(file: TraceFile, container: Container): Promise<readonly string[]> {
  switch (container) {
    case 'arrow':
      return perwattArrow.keys;
    case 'parquet':
      return (await import('./parquet-rows.js')).parquetColumns(file);
    case 'csv':
      return headerNames((await firstText(lineBatches(file.chunks()))) ?? '');
    case 'json':
      return keysOf(file.path, await firstText(jsonElements(file.path, file.chunks())));
    case 'jsonl':
      return keysOf(file.path, await firstText(lineBatches(file.chunks())));
  }
}

async function firstText(
  batches: AsyncGenerator<readonly { readonly text: string }[], void, undefined>,
): Promise<string | undefined> {
  for await (const [first] of batches) if (first !== undefined) return first.text;
  return undefined;
}

const headerNames = (line: string) => fieldsIn(line).map((name) => name.trim());

function keysOf(path: string, text: string | undefined): readonly string[] {
  try {
    const value: unknown = JSON.parse(text ?? 'null');
    if (isRecord(value)) return Object.keys(value);
  } catch {}
  throw badFile(
    path,
    'the first record is not a JSON object',
    'Name the format with --format and leave bad rows out with --skip-bad.',
  );
}
