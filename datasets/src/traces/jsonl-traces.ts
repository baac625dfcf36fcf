import type { Message, TraceText } from '@perwatt/core';
import { isRecord } from '../options.js';
import { hashReader, type JsonRecord, jsonRecord, numberText } from './json-records.js';
import type { RawRow } from './trace-columns.js';
import { badRow, shown } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import { lineBatches } from './trace-lines.js';
import type { ReadContext, TraceReader } from './trace-reader.js';
import type { TraceSink } from './trace-sink.js';
import { scaledDecimal } from './trace-times.js';
import { countOf, given, hashIdsOf, nameOf, timeOf } from './trace-values.js';

/** Makes rows of the records of one file; what it finds odd goes to the sink's notes. */
type RowMaker = (record: JsonRecord) => RawRow;

type JsonlFormat = Omit<TraceReader, 'read' | 'containers'> & {
  readonly rows: (sink: TraceSink) => RowMaker;
};

const jsonlReader = ({ rows, ...format }: JsonlFormat): TraceReader => ({
  ...format,
  containers: ['jsonl'],
  read: (file, context) => readJsonl(file, context, rows(context.sink)),
});

async function readJsonl(file: TraceFile, { sink }: ReadContext, make: RowMaker): Promise<void> {
  for await (const batch of lineBatches(file.chunks())) {
    for (const { line, text } of batch) sink.add(line, () => [make(jsonRecord(text))]);
    if (sink.full()) return;
  }
}

function stampOf(record: JsonRecord, key: string, shift: number) {
  const stamp = numberText(record, key);
  if (stamp === null) throw badRow(`"${key}" is ${shown(record.fields[key])}, not a number`);
  const parse = (text: string) => scaledDecimal(text, shift);
  return { at: timeOf(stamp, key, { parse, expected: 'a number' }), stamp };
}

const lengthsOf = ({ fields }: JsonRecord) => ({
  input: countOf(fields['input_length'], 'input_length'),
  output: countOf(fields['output_length'], 'output_length'),
});

const renumberedNote = (sink: TraceSink) => () =>
  sink.note('a row had hash ids of 2^52 or more, which were renumbered by first appearance');

const MOONCAKE_BLOCK = 512;

const mooncake = jsonlReader({
  format: 'mooncake',
  title: "Mooncake traces of FAST'25 and arXiv (JSONL)",
  unit: 'ms',
  block_tokens: MOONCAKE_BLOCK,
  keys: ['timestamp', 'input_length', 'output_length', 'hash_ids'],
  optional: [],
  licence: 'Apache-2.0',
  rows: (sink) => {
    const hashesOf = hashReader(renumberedNote(sink));
    return (record) => {
      const ids = hashesOf(record);
      const lengths = lengthsOf(record);
      const row = { ...stampOf(record, 'timestamp', 6), ...lengths };
      if (ids === undefined) return row;
      const hash_ids = hashIdsOf(ids);
      if (hash_ids.length !== Math.ceil(lengths.input / MOONCAKE_BLOCK))
        sink.note('the number of blocks of a row did not fit its input length');
      return { ...row, hash_ids };
    };
  },
});

const qwenBailian = jsonlReader({
  format: 'qwen-bailian',
  title: 'Qwen-Bailian usage traces of Alibaba (JSONL)',
  unit: 's',
  block_tokens: 16,
  keys: ['chat_id', 'parent_chat_id', 'timestamp', 'input_length', 'output_length', 'hash_ids'],
  optional: ['type', 'turn'],
  licence: 'Apache-2.0',
  rows: (sink) => {
    const hashesOf = hashReader(renumberedNote(sink));
    return (record) => {
      const { fields } = record;
      const parent = nameOf(
        numberText(record, 'parent_chat_id') ?? fields['parent_chat_id'],
        'parent_chat_id',
      );
      const ids = hashesOf(record);
      const { turn } = fields;
      return {
        ...stampOf(record, 'timestamp', 9),
        ...lengthsOf(record),
        ...given('id', nameOf(numberText(record, 'chat_id') ?? fields['chat_id'], 'chat_id')),
        ...(parent === '-1' ? {} : given('parent', parent)),
        ...given('kind', nameOf(fields['type'], 'type')),
        ...(turn === undefined ? {} : { turn: countOf(turn, 'turn') }),
        ...(ids === undefined ? {} : { hash_ids: hashIdsOf(ids) }),
      };
    };
  },
});

const optionalCount = ({ fields }: JsonRecord, key: string) =>
  fields[key] === undefined || fields[key] === null ? undefined : countOf(fields[key], key);

const perwattJsonl = jsonlReader({
  format: 'perwatt-jsonl',
  title: "Perwatt's own JSONL, from `perwatt trace convert`",
  unit: 'ns',
  block_tokens: null,
  keys: ['row', 'at_ns', 'input_tokens', 'output_tokens'],
  optional: ['conversation_id', 'id', 'parent_id', 'turn', 'images', 'kind', 'model', 'block_tokens', 'text'],
  licence: 'by origin',
  rows: () => (record) => {
    const { fields } = record;
    const time = fields['at_ns'] === null ? { at: null, stamp: null } : stampOf(record, 'at_ns', 0);
    const name = (key: string) => nameOf(fields[key], key);
    return {
      ...time,
      row: countOf(fields['row'], 'row'),
      input: optionalCount(record, 'input_tokens') ?? null,
      output: optionalCount(record, 'output_tokens') ?? null,
      ...given('conversation', name('conversation_id')),
      ...given('id', name('id')),
      ...given('parent', name('parent_id')),
      ...given('turn', optionalCount(record, 'turn')),
      ...given('images', optionalCount(record, 'images')),
      ...given('kind', name('kind')),
      ...given('model', name('model')),
      ...given('block_tokens', optionalCount(record, 'block_tokens')),
      ...(fields['hash_ids'] === undefined ? {} : { hash_ids: hashIdsOf(fields['hash_ids']) }),
      ...given('parent_row', optionalCount(record, 'parent_row')),
      ...(fields['text'] === undefined ? {} : { text: traceText(fields['text']) }),
    };
  },
});

/** The text of a row in our own forms. Throws `TRACE_INVALID`. */
export function traceText(value: unknown): TraceText {
  const { messages, answer } = isRecord(value) ? value : {};
  if (
    !Array.isArray(messages) ||
    !messages.every(isMessage) ||
    !(answer === null || typeof answer === 'string')
  )
    throw badRow(`"text" is ${shown(value)}, not messages and an answer`);
  return { messages, answer };
}

const isMessage = (value: unknown): value is Message =>
  isRecord(value) && typeof value['content'] === 'string' && typeof value['role'] === 'string';

export const jsonlTraces: readonly TraceReader[] = [qwenBailian, mooncake, perwattJsonl];
