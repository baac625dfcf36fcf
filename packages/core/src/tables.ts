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

/** Version of the table schemas and of the run folder's layout. A reader refuses a newer one. */
export const SCHEMA_VERSION = 1;

/**
 * How a column is stored. `name` is dictionary-encoded text (few distinct values: names), `text` is plain text.
 * 64-bit integers are bigint in rows, everything else is number, string or boolean.
 */
export type ColumnType =
  | 'name'
  | 'text'
  | 'bool'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'int64'
  | 'float64'
  | 'list_float64';

interface ValueOf {
  name: string;
  text: string;
  bool: boolean;
  uint8: number;
  uint16: number;
  uint32: number;
  uint64: bigint;
  int64: bigint;
  float64: number;
  list_float64: readonly number[];
}

/** One column: its type, whether it may be null, its unit and its meaning. */
export interface Column<T extends ColumnType = ColumnType, N extends boolean = boolean> {
  readonly type: T;
  readonly nullable: N;
  /** SI symbol or the word counted; '' for a plain value. The column's name ends in it, lower case. */
  readonly unit: '' | 'J' | 'W' | 'ns' | 'tokens';
  readonly doc: string;
}

type Spec<T extends ColumnType> = readonly [type: T, unit: Column['unit'], doc: string];
const req = <T extends ColumnType>(...[type, unit, doc]: Spec<T>): Column<T, false> => ({
  type,
  nullable: false,
  unit,
  doc,
});
const opt = <T extends ColumnType>(...[type, unit, doc]: Spec<T>): Column<T, true> => ({
  type,
  nullable: true,
  unit,
  doc,
});

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

/**
 * One row per figure that someone else published, in a run of kind `published`. Never measured here: `provenance` is
 * always `published`, and what the source does not say is null.
 */
export const published = {
  run_id: req('name', '', 'Run the figure was imported into.'),
  source: req('name', '', 'Data set or project that published it.'),
  source_version: opt('name', '', 'Commit or version of the source; null when the file is not a known one.'),
  source_file: req('name', '', 'File the figure stands in, or was computed from.'),
  source_row: req('uint32', '', 'Record within the file, from 1; 0 for a figure over all of them.'),
  item_id: opt('text', '', 'Query the figure is of; null for a figure of a whole configuration.'),
  model: opt('name', '', 'Model as the source names it.'),
  weight_format: opt('name', '', 'Number format of the weights.'),
  total_params: opt('float64', '', 'Parameters of the model.'),
  active_params: opt('float64', '', 'Parameters a token uses.'),
  accelerator: opt('name', '', 'Device or system as the source names it.'),
  devices: opt('uint16', '', 'Devices whose power is summed in the figure.'),
  engine: opt('name', '', 'Inference engine, with its version where it is known.'),
  dataset: opt('name', '', 'Workload.'),
  concurrency: opt('uint32', '', 'Most requests in flight, or the batch size.'),
  setting: req('text', '', 'JSON object of the remaining knobs of the configuration, keys sorted.'),
  phase: req('name', '', '`all`, `prefill` or `decode`.'),
  metric: req('name', '', 'Our metric where the definition is the same, else `<source>:<name>`.'),
  unit: req('name', '', 'Unit of the value, bounds and standard deviation, SI without prefixes.'),
  value: opt('float64', '', 'The figure; null with a reason.'),
  lo: opt('float64', '', 'Lower end of the published range.'),
  hi: opt('float64', '', 'Upper end of the published range.'),
  spread: opt('float64', '', 'Spread between runs, as `spread_kind` says; null when it is not known.'),
  spread_kind: opt(
    'name',
    '',
    '`sd` (in the unit), `cv` (share of the value) or `declared` (share below which two figures of the source do not differ).',
  ),
  n: opt('uint32', '', 'Runs, queries or samples behind the value; null when the source does not say.'),
  statistic: req('name', '', '`mean`, `median`, `p90`, `p95`, `p99`, `peak`, `sum`, `single` or `share`.'),
  basis: req(
    'name',
    '',
    '`measured`, `derived` (by the source from others), `allocated`, `recomputed` (here, from the source).',
  ),
  bound: req('name', '', '`none`, or `upper` where the true value is at most this.'),
  scope: opt('name', '', 'Scope of the power in the figure; null for figures without energy.'),
  boundary: opt('name', '', 'What the power covers, in words.'),
  window: req('name', '', '`steady`, `whole`, `decode` or `unknown`.'),
  rankable: req('bool', '', 'Whether it may be ordered among figures of its source, scope and workload.'),
  flags: opt('name', '', 'Codes of what is doubtful, separated by blanks.'),
  reason: opt('name', '', 'Why the value is null.'),
  provenance: req('name', '', 'Always `published`.'),
  licence: req('name', '', 'Licence of the data.'),
  citation: req('name', '', 'Whom to cite.'),
  date: opt('name', '', 'Date of publication, ISO 8601.'),
  note: opt('name', '', 'Anything else a reader should know.'),
} as const;

/**
 * One row per implementation of a kernel that was tried at one shape on one device. Figures are of one launch. What could not
 * be run, was wrong or came to grief is a row too, with its status and reason; its figures are null.
 */
export const kernels = {
  run_id: req('name', '', 'Run or kernel session the row belongs to.'),
  session: req('uint16', '', 'Session of kernel runs in the folder, from 0.'),
  phase: req('name', '', '`alone`, or `before` or `after` the cells of a run.'),
  device: req('name', '', 'Device by its id, for example `cpu:0`.'),
  device_name: req('name', '', 'Device as its driver names it.'),
  backend: req('name', '', 'Interface it was driven through, for example `cpu`, `wgpu` or `cuda`.'),
  implementation: req(
    'name',
    '',
    'What was run, with the library and version where there is one; figures of different ones are never merged.',
  ),
  portable: opt(
    'bool',
    '',
    "Whether it is a portable implementation, so that its rate is not the device's peak.",
  ),
  kernel: req('name', '', 'Kernel, for example `copy`, `gemm` or `gemv`.'),
  dtype: req('name', '', 'Type of the inputs; beside int4 weights, of the activations.'),
  n: opt('uint32', '', 'Elements (copy, triad), or columns of the right matrix (gemm).'),
  m: opt('uint32', '', 'Rows of the result (gemm), or of the weights (gemv).'),
  k: opt('uint32', '', 'Length that is summed over (gemm, gemv).'),
  batch: opt('uint32', '', 'Vectors (gemv), or sequences (attention).'),
  group: opt('uint32', '', 'Weights that share a scale (int4).'),
  heads: opt('uint32', '', 'Query heads.'),
  kv_heads: opt('uint32', '', 'Key and value heads.'),
  head_dim: opt('uint32', '', 'Length of one head.'),
  length: opt('uint32', '', 'Positions attended to.'),
  prefix: opt('uint32', '', 'Positions that all sequences share.'),
  suffix: opt('uint32', '', 'Positions that each sequence has of its own.'),
  rows: opt('uint32', '', 'Rows (norm, softmax).'),
  width: opt('uint32', '', 'Length of one row (norm, softmax).'),
  options: opt(
    'name',
    '',
    'What else tells it apart, separated by blanks: `naive`, `scales=f16`; null for nothing.',
  ),
  convention: req('name', '', 'Convention that `flop` and `bytes` are counted by.'),
  flop: req('float64', '', 'Useful operations, 2 for a multiply-add; integer operations for integer types.'),
  bytes: req('float64', '', 'Compulsory bytes: each input read once, each output written once.'),
  start_ns: opt('int64', 'ns', 'When the timed part began, on the clock of the host.'),
  end_ns: opt('int64', 'ns', 'When the last measured part ended, energy included.'),
  time_mean_ns: opt('float64', 'ns', 'Mean time.'),
  time_lo_ns: opt('float64', 'ns', 'Lower end of its 95 % interval (t, over batches).'),
  time_hi_ns: opt('float64', 'ns', 'Upper end of its 95 % interval.'),
  time_median_ns: opt('float64', 'ns', 'Median over batches.'),
  deviation_ratio: opt('float64', '', 'Standard deviation over batches as a share of their mean.'),
  batches: req('uint32', '', 'Timed batches behind the time.'),
  launches: req('float64', '', 'Launches in these batches.'),
  stop_reason: opt('name', '', 'Why no more batches were timed.'),
  time_source: opt('name', '', 'Clock of the times: `device` or `host`.'),
  host_difference_ratio: opt(
    'float64',
    '',
    'How much longer the host found the same batches than the device, as a share; null where only the host timed them.',
  ),
  clock_lo_hz: opt('float64', '', 'Lowest clock seen while it was timed (Hz).'),
  clock_hi_hz: opt('float64', '', 'Highest clock seen (Hz).'),
  throttled: opt(
    'name',
    '',
    'Reasons for a lower clock that were seen, separated by blanks; null when unknown.',
  ),
  peak_flop_per_s: opt('float64', '', 'Best GEMM rate of the session with this type on this device (1/s).'),
  peak_implementation: opt('name', '', 'What reached it.'),
  bandwidth_bytes_per_s: opt('float64', '', 'Best copy or triad rate of the session on this device (1/s).'),
  bound: opt('name', '', 'Ceiling that is the nearer one for this intensity: `compute` or `memory`.'),
  roofline_ns: opt('float64', 'ns', 'Least time that both ceilings allow.'),
  roofline_ratio: opt('float64', '', 'That time over the mean time; not clamped to 1.'),
  energy_gross_j: opt('float64', 'J', 'Energy by the meter; null with a reason.'),
  energy_lo_j: opt('float64', 'J', 'Lower end of its interval, over windows or by the sensor.'),
  energy_hi_j: opt('float64', 'J', 'Upper end of its interval.'),
  energy_net_j: opt('float64', 'J', 'Gross less the idle power with the device open; may be negative.'),
  energy_power_w: opt('float64', 'W', 'Mean power within the windows.'),
  energy_idle_w: opt('float64', 'W', 'Idle power that net energy subtracts.'),
  energy_windows: req('uint16', '', 'Windows behind the energy.'),
  energy_window_ns: opt('float64', 'ns', 'Their mean length.'),
  energy_duty_ratio: opt('float64', '', 'Least share of a window that the device was busy.'),
  energy_domain: opt('name', '', 'Domains that were summed, separated by blanks.'),
  energy_scope: opt('name', '', 'Their scopes: the boundary of the energy.'),
  energy_provenance: opt('name', '', 'Where the energy comes from.'),
  energy_reason: opt('text', '', 'Why there is no energy.'),
  error_ratio: opt('float64', '', 'Relative error against a reference in double precision.'),
  tolerance_ratio: opt('float64', '', 'The most that it may be.'),
  flags: opt(
    'name',
    '',
    'What is odd about the time, separated by blanks: `timed-out`, `noisy`, `not-warm`, `clocks-differ`, `slowed-down`, `one-set`.',
  ),
  status: req('name', '', '`ok`, `wrong`, `unsupported`, `failed`, `crashed`, `timed_out` or `interrupted`.'),
  error_code: opt('name', '', 'What kind of failure it was, for example `KERNEL_OUT_OF_MEMORY`.'),
  reason: opt('text', '', 'Why it is not `ok`.'),
} as const;

/** One row per training step: what it took, and when. A step that a crash undid and a resume made again has two rows. */
export const train_steps = {
  run_id: req('name', '', 'Training run the step belongs to.'),
  training: req('name', '', 'Training within the run: a recipe with one choice of parameters.'),
  recipe: req('name', '', 'Recipe that was trained.'),
  seed: req('uint32', '', 'Seed of the training.'),
  sitting: req('uint16', '', 'Session of work on the run, from 0; a resume opens the next one.'),
  step: req('uint32', '', 'Step within its seed, from 1.'),
  tokens: req('uint32', '', 'What the trained policies produced in rollouts, tokens.'),
  env_actions: req('uint32', '', 'Actions that the trained policies took in an environment.'),
  privileged_actions: req('uint32', '', 'Actions of a teacher, and of replays to where it took over.'),
  calls: req('uint32', '', 'Rollouts: attempts, clones and teacher branches.'),
  verification_tokens: req(
    'uint32',
    'tokens',
    'What was spent on telling whether outputs are right, tokens.',
  ),
  updates: req('uint32', '', 'Updates that were kept.'),
  rejected_updates: req('uint32', '', 'Updates that were taken back.'),
  reward: req('float64', '', 'Mean reward of the rollouts.'),
  start_ns: req('int64', 'ns', 'When the step began.'),
  end_ns: req('int64', 'ns', 'When it ended.'),
  cpu_ns: opt('float64', 'ns', 'CPU time of its thread; null where the system does not tell.'),
} as const;

/** One row per evaluation of a policy on items that training never sees. Its energy is no part of the training's. */
export const train_evals = {
  run_id: req('name', '', 'Training run the evaluation belongs to.'),
  training: req('name', '', 'Training within the run.'),
  recipe: req('name', '', 'Recipe that was trained.'),
  seed: req('uint32', '', 'Seed of the training.'),
  sitting: req('uint16', '', 'Session of work on the run.'),
  step: req('uint32', '', 'Steps done before it; 0 for the policy before training.'),
  accuracy: req('float64', '', 'Mean score of the items, 0…1.'),
  items: req('uint32', '', 'Items evaluated.'),
  scores: req('list_float64', '', 'Score by item, 0…1; the same items in the same order every time.'),
  tokens: req('uint32', '', 'Tokens or actions of the evaluation.'),
  calls: req('uint32', '', 'Calls of the evaluation.'),
  measures: req('text', '', 'Further figures of the recipe, as a JSON object.'),
  start_ns: req('int64', 'ns', 'When it began.'),
  end_ns: req('int64', 'ns', 'When it ended.'),
  cpu_ns: opt('float64', 'ns', 'CPU time of its thread; null where the system does not tell.'),
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
