import { CsvError, parse } from 'csv-parse/sync';
import type { RawRow } from './trace-columns.js';
import { badFile, badRow } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import { lineBatches } from './trace-lines.js';
import type { ReadContext, TraceReader } from './trace-reader.js';
import { scaledDecimal, wallTime } from './trace-times.js';
import { countOf, given, hashIdsOf, nameOf, timeOf } from './trace-values.js';

/** A field of the row by its column's name; undefined when the file has no such column. */
type Fields = (name: string) => string | undefined;

type CsvFormat = Omit<TraceReader, 'read' | 'containers'> & { readonly row: (fields: Fields) => RawRow };

const csvReader = ({ row, ...format }: CsvFormat): TraceReader => ({
  ...format,
  containers: ['csv'],
  read: (file, context) => readCsv(file, context, { ...format, row }),
});

const textIn = (fields: Fields, name: string): string => {
  const text = fields(name);
  if (text === undefined || text.trim() === '') throw badRow(`"${name}" is empty`);
  return text;
};

const countIn = (fields: Fields, name: string) => countOf(textIn(fields, name), name);

function wallStamp(fields: Fields, name: string) {
  const stamp = textIn(fields, name);
  return {
    at: timeOf(stamp, name, { parse: wallTime, expected: 'YYYY-MM-DD HH:MM:SS with a fraction' }),
    stamp,
  };
}

const azureKeys = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens'];

const azureRow = (fields: Fields): RawRow => ({
  ...wallStamp(fields, 'TIMESTAMP'),
  input: countIn(fields, 'ContextTokens'),
  output: countIn(fields, 'GeneratedTokens'),
});

const azureLlm = csvReader({
  format: 'azure-llm',
  title: 'Azure LLM inference traces, 2023 and 2024 (CSV)',
  unit: 'wall_time',
  block_tokens: null,
  keys: azureKeys,
  optional: [],
  licence: 'CC-BY-4.0',
  row: azureRow,
});

const azureLmm = csvReader({
  format: 'azure-lmm',
  title: 'Azure LMM inference trace, 2025, with images (CSV, packed or not)',
  unit: 'wall_time',
  block_tokens: null,
  keys: [...azureKeys, 'NumImages'],
  optional: [],
  licence: 'CC-BY-4.0',
  row: (fields) => ({ ...azureRow(fields), images: countIn(fields, 'NumImages') }),
});

const burstGpt = csvReader({
  format: 'burstgpt',
  title: 'BurstGPT 1, 2 and 3 (CSV)',
  unit: 's',
  block_tokens: null,
  keys: ['Timestamp', 'Request tokens', 'Response tokens'],
  optional: ['Model', 'Log Type', 'Session ID', 'Elapsed time'],
  licence: 'CC-BY-4.0',
  row: (fields) => {
    const stamp = textIn(fields, 'Timestamp');
    const parseSeconds = (text: string) => scaledDecimal(text, 9);
    return {
      at: timeOf(stamp, 'Timestamp', { parse: parseSeconds, expected: 'a number of seconds' }),
      stamp,
      input: countIn(fields, 'Request tokens'),
      output: countIn(fields, 'Response tokens'),
      ...given('model', nameOf(fields('Model'), 'Model')),
      ...given('kind', nameOf(fields('Log Type'), 'Log Type')),
      ...given('conversation', nameOf(fields('Session ID'), 'Session ID')),
    };
  },
});

const optionalCount = (fields: Fields, name: string) => {
  const text = fields(name);
  return text === undefined || text === '' ? undefined : countOf(text, name);
};

/** Columns of our own CSV, in the order they are written. */
export const perwattCsvColumns = [
  'row',
  'at_ns',
  'input_tokens',
  'output_tokens',
  'conversation_id',
  'id',
  'parent_id',
  'parent_row',
  'turn',
  'images',
  'kind',
  'model',
  'block_tokens',
  'hash_ids',
] as const;

const perwattCsv = csvReader({
  format: 'perwatt-csv',
  title: "Perwatt's own CSV, from `perwatt trace convert`",
  unit: 'ns',
  block_tokens: null,
  keys: ['row', 'at_ns', 'input_tokens', 'output_tokens'],
  optional: perwattCsvColumns.slice(4),
  licence: 'by origin',
  row: (fields) => {
    const stamp = fields('at_ns') ?? '';
    const parseNs = (text: string) => scaledDecimal(text, 0);
    const hashes = fields('hash_ids') ?? '';
    const blocks = optionalCount(fields, 'block_tokens');
    return {
      row: countIn(fields, 'row'),
      at: stamp === '' ? null : timeOf(stamp, 'at_ns', { parse: parseNs, expected: 'a number of ns' }),
      stamp: stamp === '' ? null : stamp,
      input: optionalCount(fields, 'input_tokens') ?? null,
      output: optionalCount(fields, 'output_tokens') ?? null,
      ...given('conversation', nameOf(fields('conversation_id'), 'conversation_id')),
      ...given('id', nameOf(fields('id'), 'id')),
      ...given('parent', nameOf(fields('parent_id'), 'parent_id')),
      ...given('parent_row', optionalCount(fields, 'parent_row')),
      ...given('turn', optionalCount(fields, 'turn')),
      ...given('images', optionalCount(fields, 'images')),
      ...given('kind', nameOf(fields('kind'), 'kind')),
      ...given('model', nameOf(fields('model'), 'model')),
      ...given('block_tokens', blocks),
      ...(hashes === '' && blocks === undefined ? {} : { hash_ids: hashes === '' ? [] : hashIdsOf(hashes) }),
    };
  },
});

export const csvTraces: readonly TraceReader[] = [azureLmm, azureLlm, burstGpt, perwattCsv];

/** Rows are lines: no trace has a line end within a field. */
async function readCsv(file: TraceFile, { sink }: ReadContext, format: CsvFormat): Promise<void> {
  let index: ReadonlyMap<string, number> | null = null;
  for await (const batch of lineBatches(file.chunks())) {
    for (const { line, text } of batch) {
      if (index === null) index = headerOf(file.path, fieldsIn(text), format);
      else sink.add(line, rowMaker(text, index, format));
    }
    if (sink.full()) return;
  }
  if (index === null) throw badFile(file.path, 'the file has no header', 'Give a whole file.');
}

const rowMaker = (text: string, index: ReadonlyMap<string, number>, format: CsvFormat) => () => {
  const values = fieldsIn(text);
  if (values.length !== index.size)
    throw badRow(`the row has ${values.length} fields, the header ${index.size}`);
  return [format.row((name) => values[index.get(name) ?? -1])];
};

/** The fields of a line; a parser is asked only where there are quotes. Throws `TRACE_INVALID`. */
export function fieldsIn(line: string): readonly string[] {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!text.includes('"')) return text.split(',');
  try {
    const [record] = parse(text) as string[][];
    return record ?? [];
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    throw badRow(cause.message.toLowerCase(), cause);
  }
}

function headerOf(
  path: string,
  names: readonly string[],
  { format, keys }: Pick<CsvFormat, 'format' | 'keys'>,
): ReadonlyMap<string, number> {
  const index = new Map(names.map((name, i) => [name.trim(), i]));
  const missing = keys.filter((key) => !index.has(key));
  if (missing.length === 0 && index.size === names.length) return index;
  const problem =
    missing.length > 0
      ? `there is no column ${missing.map((m) => `"${m}"`).join(', ')}, only ${names.map((n) => `"${n}"`).join(', ')}`
      : 'two columns have one name';
  throw badFile(
    `${path}:1`,
    problem,
    `Give a file of the format ${format}, or name its format with --format.`,
  );
}
