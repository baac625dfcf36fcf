import { PerwattError } from '@perwatt/core';
import { isRecord } from '../options.js';
import { type Conversation, chatRows, roleOf, type Utterance } from './chat-rows.js';
import { jsonRecord, recordBatches } from './json-records.js';
import type { RawRow } from './trace-columns.js';
import { badRow, shown } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import type { ReadContext, TraceReader } from './trace-reader.js';
import { wallTime } from './trace-times.js';
import { given, nameOf } from './trace-values.js';

type Fields = Readonly<Record<string, unknown>>;

type ChatFormat = Omit<TraceReader, 'read'> & { readonly conversation: (fields: Fields) => Conversation };

/** A source of conversations; which of its containers a file is shows in its first bytes. */
const chatReader = ({ conversation, ...format }: ChatFormat): TraceReader => ({
  ...format,
  read: async (file, context) => {
    for await (const batch of fieldBatches(file, [...format.keys, ...format.optional])) {
      for (const { line, fields } of batch) {
        if (context.sink.full()) return;
        await addConversation(() => conversation(fields()), line, context);
      }
    }
  },
});

interface FieldRecord {
  readonly line: number;
  readonly fields: () => Fields;
}

async function* fieldBatches(
  file: TraceFile,
  columns: readonly string[],
): AsyncGenerator<FieldRecord[], void, undefined> {
  if ((await file.head(4)).toString('latin1') === 'PAR1') {
    const { parquetBatches } = await import('./parquet-rows.js');
    for await (const batch of parquetBatches(file, columns))
      yield batch.map(({ row, fields }) => ({ line: row, fields: () => fields }));
    return;
  }
  for await (const batch of recordBatches(file))
    yield batch.map(({ line, text }) => ({ line, fields: () => jsonRecord(text).fields }));
}

async function addConversation(
  read: () => Conversation,
  line: number,
  { sink, counter }: ReadContext,
): Promise<void> {
  let rows: readonly RawRow[];
  try {
    rows = await chatRows(read(), counter);
  } catch (error) {
    if (!(error instanceof PerwattError) || error.code !== 'TRACE_INVALID') throw error;
    sink.bad(line, error);
    return;
  }
  if (rows.length === 0) sink.note('a conversation had no question of a user');
  sink.add(line, () => rows);
}

function listIn(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key];
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw badRow(`"${key}" is ${shown(value)}, not a list of turns`);
}

function textIn(fields: Fields, key: string): string {
  const value = fields[key];
  if (typeof value === 'string') return value;
  throw badRow(`"${key}" is ${shown(value)}, not a text`);
}

const shareGpt = chatReader({
  format: 'sharegpt',
  title: 'ShareGPT conversations (JSON array or JSONL)',
  unit: 'none',
  block_tokens: null,
  containers: ['json', 'jsonl'],
  keys: ['conversations'],
  optional: ['id', 'model'],
  licence: 'declared Apache-2.0; rights in the texts are unclear',
  conversation: (fields) => ({
    id: nameOf(fields['id'], 'id'),
    at: null,
    ...given('model', nameOf(fields['model'], 'model')),
    said: listIn(fields, 'conversations').map((turn) => ({
      role: roleOf(turn['from'] ?? turn['role']),
      content: textIn(turn, turn['value'] === undefined ? 'content' : 'value'),
      at: null,
    })),
  }),
});

const said = (fields: Fields, stampOf: (turn: Fields) => bigint | null): readonly Utterance[] =>
  listIn(fields, 'conversation').map((turn) => ({
    role: roleOf(turn['role']),
    content: textIn(turn, 'content'),
    at: stampOf(turn),
  }));

const wildChat = chatReader({
  format: 'wildchat',
  title: 'WildChat-1M (Parquet or JSONL)',
  unit: 'wall_time',
  block_tokens: null,
  containers: ['parquet', 'jsonl'],
  keys: ['conversation_hash', 'conversation', 'timestamp'],
  optional: ['model', 'language'],
  licence: 'ODC-BY',
  conversation: (fields) => ({
    id: nameOf(fields['conversation_hash'], 'conversation_hash'),
    at: wallStamp(fields['timestamp']),
    ...given('model', nameOf(fields['model'], 'model')),
    ...given('kind', nameOf(fields['language'], 'language')),
    said: said(fields, (turn) => wallStamp(turn['timestamp'])),
  }),
});

const lmsysChat = chatReader({
  format: 'lmsys-chat',
  title: 'LMSYS-Chat-1M (Parquet or JSONL)',
  unit: 'none',
  block_tokens: null,
  containers: ['parquet', 'jsonl'],
  keys: ['conversation_id', 'conversation'],
  optional: ['model', 'language'],
  licence: 'its own agreement; not to be passed on',
  conversation: (fields) => ({
    id: nameOf(fields['conversation_id'], 'conversation_id'),
    at: null,
    ...given('model', nameOf(fields['model'], 'model')),
    ...given('kind', nameOf(fields['language'], 'language')),
    said: said(fields, () => null),
  }),
});

export const chatTraces: readonly TraceReader[] = [wildChat, lmsysChat, shareGpt];

/** A stamp from Parquet (ns as a whole number) or from JSON (a wall-clock text); null where there is none. */
function wallStamp(value: unknown): bigint | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return value;
  const at = typeof value === 'string' ? wallTime(value) : null;
  if (at === null) throw badRow(`"timestamp" is ${shown(value)}, not a stamp`);
  return at;
}
