import {
  Bool,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int64,
  List,
  Schema,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { type Column, type ColumnType, opt, req, type ValueOf } from './column.js';
import { kernels } from './kernels-table.js';
import { published } from './published-table.js';
import { train_evals, train_steps } from './training-tables.js';

/** Version of the table schemas and of the run folder's layout. A reader refuses a newer one. */
export const SCHEMA_VERSION = 1;
/** One row per query: one item put once through one strategy in one cell. Written when a sitting of the cell closes. */
export const queries = {
  run_id: req('name', '', 'Run the query belongs to.'),
  cell_id: req('name', '', 'Cell the query belongs to.'),
  query_id: req('text', '', '`<cell_id>/<item_id>/<repeat>`; unique in a run.'),
  item_id: req('text', '', 'Item of the data set.'),
  repeat: req('uint16', '', 'Execution of the cell, from 0, each with its own seed.'),
  sitting: req('uint16', '', 'Session of work on the cell, from 0; a resume opens the next one.'),
  dataset: req('name', '', 'Data set of the cell.'),
  subject: opt('name', '', 'Subject, level or category of the item.'),
  strategy: req('name', '', 'Strategy of the cell.'),
  model: req('name', '', 'Model of the cell.'),
  accelerator: req('name', '', 'Accelerator of the cell.'),
  scheduled_ns: opt('int64', 'ns', 'When the query was due; null in a closed loop.'),
  start_ns: req('int64', 'ns', 'When the first call was dispatched.'),
  end_ns: req('int64', 'ns', 'When the last call ended.'),
  calls: req('uint32', '', 'Calls made.'),
  rounds: req('uint32', '', 'Causal depth: batches of calls that had to follow one another.'),
  prompt_tokens: opt('uint32', 'tokens', 'Prompt tokens of all calls; null when a call has no count.'),
  completion_tokens: opt('uint32', 'tokens', 'Output tokens of all calls; null when a call has no count.'),
  cached_tokens: opt('uint32', 'tokens', 'Prompt tokens served from a cache; null when not reported.'),
  reasoning_tokens: opt('uint32', 'tokens', 'Output tokens spent on reasoning; null when not reported.'),
  sequential_tokens: opt('uint32', 'tokens', 'Output tokens on the longest causal chain of calls.'),
  token_source: opt('name', '', 'Who counted the output tokens.'),
  status: req('name', '', '`answered`, `abstained` or `failed`.'),
  error_code: opt('name', '', 'Status of the call that made the query fail.'),
  verdict: req('name', '', "The grader's verdict."),
  score: opt('float64', '', '0…1; null when unscored.'),
  extracted: opt('text', '', 'The answer found in the text.'),
  rule: opt('name', '', 'Extraction rule that found it.'),
  grader: req('name', '', 'Grader that judged.'),
  grader_version: req('uint16', '', 'Its version.'),
  energy_gross_j: opt(
    'float64',
    'J',
    'Energy of the query in the declared boundary; null when not resolved.',
  ),
  energy_net_j: opt('float64', 'J', 'Gross less the baseline with the model loaded; may be negative.'),
  energy_lo_j: opt('float64', 'J', 'Lower bound of the gross energy from the sensor alone.'),
  energy_hi_j: opt('float64', 'J', 'Upper bound of the gross energy from the sensor alone.'),
  energy_method: req('name', '', '`isolated` (measured), `time_share`, `token_share` (allocated) or `none`.'),
} as const;

/** One row per request to a client; a retry is a row of its own. */
export const calls = {
  run_id: req('name', '', 'Run the call belongs to.'),
  cell_id: req('name', '', 'Cell the call belongs to.'),
  query_id: req('text', '', 'Query the call was made for.'),
  call_id: req('text', '', 'Unique within its query and sitting.'),
  sitting: req('uint16', '', 'Session of work on the cell.'),
  phase: req('name', '', '`warmup` or `measure`.'),
  seq: req('uint32', '', 'Order of dispatch within the sitting.'),
  role: req('name', '', 'What the call was for.'),
  endpoint: req('name', '', 'Logical endpoint.'),
  model: req('name', '', 'Model asked.'),
  parent_ids: opt('text', '', 'Calls that had to end first, separated by blanks; null for none.'),
  round: req('uint16', '', 'Causal depth, from 0.'),
  branch: opt('uint16', '', 'Index among parallel attempts.'),
  retry: req('uint8', '', 'Times the call had been sent before.'),
  sched_ns: opt('int64', 'ns', 'Due time; null in a closed loop.'),
  dispatch_ns: req('int64', 'ns', 'Handed to the client.'),
  socket_ns: opt('int64', 'ns', 'Put on a connection.'),
  sent_ns: opt('int64', 'ns', 'Last request byte written.'),
  headers_ns: opt('int64', 'ns', 'Response headers seen.'),
  first_event_ns: opt('int64', 'ns', 'First event of the stream.'),
  first_any_ns: opt('int64', 'ns', 'First non-empty delta of any kind.'),
  first_content_ns: opt('int64', 'ns', 'First non-empty answer text.'),
  last_content_ns: opt('int64', 'ns', 'Last non-empty delta of any kind.'),
  done_ns: opt('int64', 'ns', '`[DONE]` seen.'),
  end_ns: req('int64', 'ns', 'Stream ended or failed.'),
  status: req('name', '', '`ok`, or how the call failed.'),
  http_status: opt('uint16', '', 'HTTP status; null where there is none.'),
  finish_reason: opt('name', '', 'Why the server stopped.'),
  error_kind: opt('name', '', 'Kind of failure.'),
  error_message: opt('text', '', 'What failed, in words.'),
  max_tokens: req('uint32', 'tokens', 'Output tokens asked for at most.'),
  temperature: req('float64', '', 'Sampling temperature; 0 is greedy.'),
  top_p: req('float64', '', 'Nucleus share.'),
  seed: opt('uint32', '', 'Seed sent; null when none was.'),
  prompt_tokens: opt('uint32', 'tokens', 'Prompt tokens by the server or engine.'),
  completion_tokens: opt('uint32', 'tokens', 'Output tokens, counted as `token_source` says.'),
  cached_tokens: opt('uint32', 'tokens', 'Prompt tokens served from a cache.'),
  reasoning_tokens: opt('uint32', 'tokens', 'Output tokens spent on reasoning.'),
  token_source: opt('name', '', 'Who counted the output tokens.'),
  events: req('uint32', '', 'Events of the stream.'),
  content_events: req('uint32', '', 'Events with a non-empty delta.'),
  reads: req('uint32', '', 'Reads of the socket.'),
  bytes_in: req('uint64', '', 'Bytes of the response body.'),
  bytes_out: req('uint64', '', 'Bytes of the request body.'),
  conn_reused: opt('bool', '', 'Whether the connection had served before.'),
  icl_ns: opt('list_float64', 'ns', 'Gaps between successive non-empty events.'),
  event_tokens: opt(
    'list_float64',
    'tokens',
    'Tokens that each non-empty event brought, by the running usage of the server; null where it does not run.',
  ),
  prefix_key: opt(
    'text',
    '',
    'Calls of one key begin with the same text, within a repeat of their cell; null where nobody named one.',
  ),
  shared_prefix_tokens: opt(
    'uint32',
    'tokens',
    'Prompt tokens that an earlier call of the same key and repeat began with too, by their share of the characters; 0 without a key, null without a count.',
  ),
} as const;

/** Texts of a cell: prompts and completions of its calls, and one `answer` row that completes each query. */
export const texts = {
  run_id: req('name', '', 'Run the text belongs to.'),
  cell_id: req('name', '', 'Cell the text belongs to.'),
  query_id: req('text', '', 'Query the text belongs to.'),
  call_id: opt('text', '', 'Call the text belongs to; null for the answer of a query.'),
  sitting: req('uint16', '', 'Session of work on the cell.'),
  kind: req('name', '', '`prompt`, `completion`, `reasoning` or `answer`.'),
  text: opt('text', '', 'The text; null for a query that gave no answer.'),
  detail: opt('text', '', 'JSON: for an answer its status, reason, candidates and decisions.'),
} as const;

/**
 * One row per grading of an answer. A run grades every answer in both modes when a sitting closes (pass 0), a later grading
 * adds a pass in segments of its own. The verdict in `queries` is that of pass 0 in the cell's mode.
 */
export const grades = {
  run_id: req('name', '', 'Run the answer belongs to.'),
  cell_id: req('name', '', 'Cell the answer belongs to.'),
  query_id: req('text', '', 'Query that was answered.'),
  item_id: req('text', '', 'Item of the data set.'),
  sitting: req('uint16', '', 'Session of work that answered it.'),
  call_id: opt(
    'text',
    '',
    'Call whose own text was graded, where several attempts made the answer; null for the answer of the query.',
  ),
  pass: req('uint16', '', '0 by the run itself, then one more with each later grading of the cell.'),
  grader: req('name', '', 'Grader that judged.'),
  grader_version: req('uint16', '', 'Its version.'),
  mode: req(
    'name',
    '',
    '`robust` (our extraction) or `official` (that of the benchmark, without its guesses).',
  ),
  verdict: req('name', '', "The grader's verdict."),
  score: opt('float64', '', '0…1; null when unscored.'),
  extracted: opt('text', '', 'The answer as it stands in the text.'),
  span_start: opt('uint32', '', 'Where it begins in the answer of `texts`, in UTF-16 code units.'),
  span_end: opt('uint32', '', 'Where it ends, exclusive.'),
  rule: opt('name', '', 'Extraction rule that found it.'),
  answer: opt('text', '', 'The answer in the form that votes compare; null where none was judged.'),
  answer_class: opt(
    'uint16',
    '',
    'Number of the answer among the different ones of its item, pass and mode, over repeats; null without an answer.',
  ),
  salvaged: opt('text', '', 'What a truncated answer would have given; never used.'),
  reason: opt('text', '', 'Why, where the verdict alone does not say.'),
  flags: opt('text', '', 'What is odd about it, separated by blanks.'),
  known_bad: req('bool', '', "Whether the item's gold is on the data set's list of wrong or ambiguous ones."),
} as const;

/**
 * One row per call of a replay whose trace has conversations, texts or shared blocks, or whose prompts were counted: what the
 * trace says of the call, and what came of it.
 */
export const replayed = {
  run_id: req('name', '', 'Run the call belongs to.'),
  cell_id: req('name', '', 'Cell the call belongs to.'),
  query_id: req('text', '', 'Query the call was made for.'),
  sitting: req('uint16', '', 'Session of work on the cell.'),
  parent_row: opt(
    'uint32',
    '',
    'Row of the trace that this one goes on from; null where it begins a conversation.',
  ),
  parent: req(
    'name',
    '',
    'How that call stood: `none`, `absent` (not in this sitting), `ended`, `late` or `dropped`.',
  ),
  late_ns: opt(
    'int64',
    'ns',
    'How much later than by the trace the call became due; null where it was not held back.',
  ),
  history: req(
    'name',
    '',
    'Whose answers the earlier turns were sent with: `none`, `trace`, `server`, `mixed` or `incomplete`.',
  ),
  prompt: req('name', '', '`made_up` or `trace`.'),
  wanted_prompt_tokens: opt(
    'uint32',
    'tokens',
    'Length of the prompt by the trace; null where it does not say.',
  ),
  made_prompt_tokens: opt(
    'uint32',
    'tokens',
    'Length of what was sent, by the local count; null when nobody counted.',
  ),
  shared_blocks: opt(
    'uint32',
    '',
    'Blocks at the head of the prompt that calls before it had too; null where the trace names no blocks.',
  ),
} as const;

/** One row per reading of a power domain. */
export const samples = {
  at_ns: req('int64', 'ns', 'Middle of the read.'),
  read_ns: req('float64', 'ns', 'How long the read took.'),
  domain: req('name', '', 'Domain that was read.'),
  raw: opt('int64', '', 'Number as read, in `unit`; null when the read failed.'),
  unit: req('name', '', "The vendor's unit of `raw`."),
  event: req('name', '', 'What the counter state machine made of it.'),
  booked_energy_j: req('float64', 'J', "Energy booked since the recorder's start; never falls."),
  booked_lo_j: req('float64', 'J', 'Lower bound of the booked energy, sensor edges not included.'),
  booked_hi_j: req('float64', 'J', 'Upper bound of the booked energy, sensor edges not included.'),
  power_w: opt('float64', 'W', 'Power of a gauge or an estimate; null for counters.'),
} as const;

/** One row per reading of a channel beside power: how a device fares while its power is measured. */
export const channels = {
  at_ns: req('int64', 'ns', 'When it was read.'),
  device: req('name', '', 'Device that the channel belongs to.'),
  channel: req(
    'name',
    '',
    'What was read, its unit at the end: `gpu_temp_c`, `sm_clock_hz`, `throttle_reasons`.',
  ),
  value: opt('float64', '', 'The reading in `unit`; null when there was none.'),
  unit: req('name', '', '`°C`, `Hz`, `W`, `1` (a ratio or a count) or `bits`.'),
  text: opt('name', '', 'Names of the bits that are set, separated by blanks; null for numbers.'),
  missing_reason: opt('name', '', 'Why there is no value; null where there is one.'),
} as const;

/** Every table, by name. */
export const tables = {
  queries,
  calls,
  texts,
  grades,
  replayed,
  samples,
  channels,
  published,
  kernels,
  train_steps,
  train_evals,
} as const;
/** One of the names of `tables`. */
export type TableName = keyof typeof tables;
/** Columns by name. */
export type Table = Readonly<Record<string, Column>>;

/** The row type of a table, so that no row type is ever written by hand. */
export type RowOf<T extends Table> = {
  -readonly [K in keyof T]: T[K] extends Column<infer C, infer N>
    ? ValueOf[C] | (N extends true ? null : never)
    : never;
};
/** One row of a table. */
export type QueryRow = RowOf<typeof queries>;
export type CallRow = RowOf<typeof calls>;
export type TextRow = RowOf<typeof texts>;
export type GradeRow = RowOf<typeof grades>;
export type SampleRow = RowOf<typeof samples>;
export type PublishedRow = RowOf<typeof published>;
export type ChannelRow = RowOf<typeof channels>;
export type KernelRow = RowOf<typeof kernels>;
export type TrainStepRow = RowOf<typeof train_steps>;
export type TrainEvalRow = RowOf<typeof train_evals>;

const arrowTypes: Readonly<Record<Exclude<ColumnType, 'name'>, () => DataType>> = {
  text: () => new Utf8(),
  bool: () => new Bool(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
  int64: () => new Int64(),
  float64: () => new Float64(),
  list_float64: () => new List(new Field('item', new Float64(), false)),
};

/**
 * The Arrow schema of a table. Names are dictionaries of text with 16-bit indices (at most 65,536 distinct values a
 * segment), their ids the column's position. File metadata holds `table`, `schema_version` and what `metadata` adds.
 */
export function arrowSchema(name: TableName, metadata: Readonly<Record<string, string>> = {}): Schema {
  const fields = Object.entries<Column>(tables[name]).map(
    ([column, { type, nullable, unit, doc }], index) => {
      const dataType =
        type === 'name' ? new Dictionary(new Utf8(), new Uint16(), index + 1) : arrowTypes[type]();
      return new Field(
        column,
        dataType,
        nullable,
        new Map([
          ['unit', unit],
          ['doc', doc],
        ]),
      );
    },
  );
  const about = { table: name, schema_version: String(SCHEMA_VERSION), ...metadata };
  return new Schema(fields, new Map(Object.entries(about)));
}
