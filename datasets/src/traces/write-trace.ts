import { PerwattError, type TraceMeta, type TraceRow } from '@perwatt/core';
import { arrowEncoder } from './arrow-encode.js';
import { perwattCsvColumns } from './csv-traces.js';
import type { TraceField } from './trace-columns.js';
import type { TraceTable } from './trace-table.js';

/** Forms a trace can be written in. `arrow` and `jsonl` keep everything; the others keep what they have a column for. */
export const traceOutputs = ['arrow', 'csv', 'jsonl', 'mooncake', 'burstgpt'] as const;

export type TraceOutput = (typeof traceOutputs)[number];

/** Rows to be written, in order of time, and what they have. */
export interface WritableTrace {
  /** For messages. */
  readonly name: string;
  readonly present: ReadonlySet<TraceField>;
  readonly block_tokens: number | null;
  /** Where the rows come from, as JSON; kept by the Arrow form. */
  readonly origin: object;
  readonly rows: () => Iterable<TraceRow>;
}

/** Rows of a table, with their texts where it has them. */
export const writable = (table: TraceTable): WritableTrace => ({
  name: table.meta.path,
  present: table.present,
  block_tokens: table.meta.block_tokens,
  origin: metaJson(table.meta),
  *rows() {
    for (let i = 0; i < table.length; i++) {
      const text = table.present.has('text') ? table.text(i) : null;
      yield text === null ? table.row(i) : { ...table.row(i), text };
    }
  },
});

/** Facts of a trace for JSON: the span as text, since a double doesn't hold every ns. */
export const metaJson = ({ span_ns, ...meta }: TraceMeta): object => ({
  ...meta,
  span_ns: span_ns === null ? null : `${span_ns}`,
});

const BATCH_ROWS = 16_384;
const BATCH_CHARACTERS = 16 * 1024 * 1024;

/** The bytes of a file, piece by piece. Throws `INPUT_INVALID` when the form cannot say what the trace holds. */
export function* traceBytes(trace: WritableTrace, output: TraceOutput): Generator<Uint8Array> {
  const loss = lossOf(trace, output);
  if (loss.refused !== null) throw new PerwattError('INPUT_INVALID', loss.refused, { hint: loss.hint });
  if (output === 'arrow') return yield* arrowBytes(trace);
  const { header, line } = lineWriters[output](trace);
  if (header !== null) yield Buffer.from(`${header}\n`);
  let lines: string[] = [];
  let size = 0;
  for (const row of trace.rows()) {
    const text = line(row);
    lines.push(text);
    size += text.length;
    if (lines.length < BATCH_ROWS && size < BATCH_CHARACTERS) continue;
    yield Buffer.from(`${lines.join('\n')}\n`);
    lines = [];
    size = 0;
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
}

function* arrowBytes(trace: WritableTrace): Generator<Uint8Array> {
  const encoder = arrowEncoder(trace.present, trace);
  let batch: TraceRow[] = [];
  let size = 0;
  for (const row of trace.rows()) {
    batch.push(row);
    size += sizeOf(row);
    if (batch.length < BATCH_ROWS && size < BATCH_CHARACTERS) continue;
    yield encoder.batch(batch);
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield encoder.batch(batch);
  yield encoder.end();
}

const sizeOf = ({ text, hash_ids }: TraceRow): number =>
  8 * (hash_ids?.length ?? 0) +
  (text === undefined
    ? 0
    : text.messages.reduce((n, { content }) => n + content.length, text.answer?.length ?? 0));

interface LineWriter {
  readonly header: string | null;
  readonly line: (row: TraceRow) => string;
}

const lineWriters: Readonly<Record<Exclude<TraceOutput, 'arrow'>, (trace: WritableTrace) => LineWriter>> = {
  csv: (trace) => {
    const columns = perwattCsvColumns.filter((name) => has(trace.present, name));
    return {
      header: columns.join(','),
      line: (row) => columns.map((name) => csvField(row[name])).join(','),
    };
  },
  jsonl: () => ({ header: null, line: jsonLine }),
  mooncake: () => ({ header: null, line: mooncakeLine }),
  burstgpt: (trace) => {
    const sessions = trace.present.has('conversation_id');
    return {
      header: `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type${sessions ? ',Session ID' : ''}`,
      line: (row) => `${burstGptLine(row)}${sessions ? `,${csvField(row.conversation_id)}` : ''}`,
    };
  },
};

const has = (present: ReadonlySet<TraceField>, name: (typeof perwattCsvColumns)[number]) =>
  name === 'row' ||
  name === 'at_ns' ||
  name === 'input_tokens' ||
  name === 'output_tokens' ||
  present.has(name === 'block_tokens' ? 'hash_ids' : name);

function csvField(value: string | number | bigint | readonly number[] | null | undefined): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? value.join(' ') : `${value}`;
  if (/[\r\n]/.test(text))
    throw new PerwattError(
      'INPUT_INVALID',
      `the name ${JSON.stringify(text)} has a line end, which this form can't hold`,
      {
        hint: 'Write it as arrow or jsonl, which keep everything.',
      },
    );
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Stamps stand as whole numbers of ns, which JSON allows and a double doesn't hold. */
function jsonLine({ row, at_ns, ...rest }: TraceRow): string {
  return `{"row":${row},"at_ns":${at_ns ?? 'null'},${JSON.stringify(rest).slice(1)}`;
}

function mooncakeLine(row: TraceRow): string {
  const { input, output } = lengthsOf(row);
  return JSON.stringify({
    timestamp: Number(toUnit(row.at_ns ?? 0n, 1_000_000n)),
    input_length: input,
    output_length: output,
    ...(row.hash_ids === undefined ? {} : { hash_ids: row.hash_ids }),
  });
}

function lengthsOf({ row, input_tokens, output_tokens }: TraceRow) {
  if (input_tokens !== null && output_tokens !== null) return { input: input_tokens, output: output_tokens };
  throw new PerwattError('INPUT_INVALID', `row ${row} has no token count, which this form needs`, {
    hint: 'Write it as arrow or jsonl, which keep everything.',
  });
}

const toUnit = (at: bigint, unit: bigint) => (at + unit / 2n) / unit;

function burstGptLine(row: TraceRow): string {
  const { input, output } = lengthsOf(row);
  const [model, kind] = [csvField(row.model ?? 'unknown'), csvField(row.kind ?? 'API log')];
  return `${seconds(row.at_ns ?? 0n)},${model},${input},${output},${input + output},${kind}`;
}

/** ns as decimal seconds, exactly. */
function seconds(at: bigint): string {
  const fraction = `${at % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '');
  return `${at / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}

/** What a form can't say of a trace: why it is refused, or which fields are left out. */
export interface TraceLoss {
  readonly refused: string | null;
  readonly hint: string;
  readonly left_out: readonly string[];
}

const columnsOf: Readonly<Record<TraceOutput, readonly TraceField[] | 'all'>> = {
  arrow: 'all',
  jsonl: 'all',
  csv: [
    'at_ns',
    ...perwattCsvColumns.slice(4).filter((name) => name !== 'block_tokens'),
  ] as readonly TraceField[],
  mooncake: ['at_ns', 'hash_ids'],
  burstgpt: ['at_ns', 'model', 'kind', 'conversation_id'],
};

/** What is lost when a trace is written in a form. */
export function lossOf({ name, present, block_tokens }: WritableTrace, output: TraceOutput): TraceLoss {
  const kept = columnsOf[output];
  const lost = kept === 'all' ? [] : [...present].filter((field) => !kept.includes(field));
  const foreign = output === 'mooncake' || output === 'burstgpt';
  const lacks = foreign && !present.has('at_ns') ? 'has no time' : null;
  const blocks =
    output === 'mooncake' && present.has('hash_ids') && block_tokens !== 512
      ? `has blocks of ${block_tokens ?? 'unknown many'} tokens, and mooncake means 512`
      : null;
  const why = lacks ?? blocks;
  return {
    refused: why === null ? null : `${name} cannot be written as ${output}: it ${why}`,
    hint: 'Write it as arrow or jsonl, which keep everything.',
    left_out: lost,
  };
}
