import { messageOf } from '@perwatt/core';
import { type RecordBatch, RecordBatchReader, type Schema } from 'apache-arrow';
import { isRecord } from '../options.js';
import { ARROW_KEY, ARROW_VERSION } from './arrow-encode.js';
import { traceText } from './jsonl-traces.js';
import type { RawRow } from './trace-columns.js';
import { badFile, badRow } from './trace-errors.js';
import type { TraceFile } from './trace-file.js';
import type { ReadContext, TraceReader } from './trace-reader.js';
import { countOf, given, hashIdsOf, nameOf } from './trace-values.js';

/** Our own Arrow form; what it needs of apache-arrow is the stream reader only. */
export const perwattArrow: TraceReader = {
  format: 'perwatt-arrow',
  title: "Perwatt's own Arrow stream, from `perwatt trace convert`",
  unit: 'ns',
  block_tokens: null,
  containers: ['arrow'],
  keys: ['row', 'at_ns', 'input_tokens', 'output_tokens'],
  optional: [
    'conversation_id',
    'id',
    'parent_id',
    'parent_row',
    'turn',
    'images',
    'kind',
    'model',
    'hash_ids',
    'text',
  ],
  licence: 'by origin',
  read: readArrow,
};

async function readArrow(file: TraceFile, context: ReadContext): Promise<void> {
  let row = 0;
  for await (const { batch, block } of batchesOf(file)) {
    for (let i = 0; i < batch.numRows; i++) {
      row += 1;
      context.sink.add(row, () => [rawRow(batch, i, block)]);
    }
    if (context.sink.full()) return;
  }
}

async function* batchesOf(file: TraceFile) {
  try {
    const reader = await RecordBatchReader.from(file.chunks());
    await reader.open();
    const block = blockTokens(file.path, reader.schema);
    for await (const batch of reader) yield { batch, block };
  } catch (cause) {
    if (cause instanceof Error && (cause.name === 'PerwattError' || cause.name === 'AbortError')) throw cause;
    throw badFile(file.path, `not a whole Arrow stream (${messageOf(cause)})`, 'Convert the trace again.');
  }
}

function blockTokens(path: string, schema: Schema): number | undefined {
  const about = schema.metadata.get(ARROW_KEY);
  if (about === undefined)
    throw badFile(
      path,
      'an Arrow stream, but no trace of ours',
      'Give one that `perwatt trace convert` wrote.',
    );
  const facts: unknown = JSON.parse(about);
  if (!isRecord(facts) || facts['version'] !== ARROW_VERSION)
    throw badFile(path, 'a trace form of another version of Perwatt', 'Convert the trace again.');
  return typeof facts['block_tokens'] === 'number' ? facts['block_tokens'] : undefined;
}

function rawRow(batch: RecordBatch, i: number, block: number | undefined): RawRow {
  const value = (name: string): unknown => batch.getChild(name)?.get(i) ?? undefined;
  const count = (name: string) => (value(name) === undefined ? undefined : countOf(value(name), name));
  const at = value('at_ns');
  const hashes = value('hash_ids');
  const text = value('text');
  return {
    row: countOf(value('row'), 'row'),
    at: typeof at === 'bigint' ? at : null,
    stamp: typeof at === 'bigint' ? `${at}` : null,
    input: count('input_tokens') ?? null,
    output: count('output_tokens') ?? null,
    ...given('turn', count('turn')),
    ...given('images', count('images')),
    ...given('parent_row', count('parent_row')),
    ...given('conversation', nameOf(value('conversation_id'), 'conversation_id')),
    ...given('id', nameOf(value('id'), 'id')),
    ...given('parent', nameOf(value('parent_id'), 'parent_id')),
    ...given('kind', nameOf(value('kind'), 'kind')),
    ...given('model', nameOf(value('model'), 'model')),
    ...(hashes === undefined ? {} : { hash_ids: hashIdsOf(Array.from(hashes as Iterable<bigint>, Number)) }),
    ...(hashes === undefined ? {} : given('block_tokens', block)),
    ...(typeof text === 'string' ? { text: traceText(parsed(text)) } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRow('"text" is not JSON', cause);
  }
}
