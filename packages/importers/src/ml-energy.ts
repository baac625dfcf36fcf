import { baseName } from './figure-rows.js';
import { foreignError } from './foreign-error.js';
import type {
  Basis,
  Figure,
  ForeignFile,
  Importer,
  ImportOptions,
  PublishedRecord,
  Statistic,
} from './importer.js';
import { type Fields, isFields, textOrNull, wholeJson } from './json-files.js';
import { overLimit } from './power-limits.js';
import { factsOf, mlEnergySource } from './sources.js';

const textKeys = ['model_id', 'nickname', 'architecture', 'gpu_model', 'weight_precision'] as const;
const countKeys = [
  'num_gpus',
  'tensor_parallel',
  'expert_parallel',
  'data_parallel',
  'max_num_seqs',
] as const;
const numberKeys = [
  'total_params_billions',
  'activated_params_billions',
  'avg_batch_size',
  'avg_output_len',
  'avg_power_watts',
  'energy_per_token_joules',
  'energy_per_request_joules',
  'output_throughput_tokens_per_sec',
  'median_itl_ms',
  'p90_itl_ms',
  'p95_itl_ms',
  'p99_itl_ms',
] as const;

type Configuration = Readonly<Record<(typeof textKeys)[number], string>> &
  Readonly<Record<(typeof countKeys)[number] | (typeof numberKeys)[number], number>>;

const BILLION = 1e9;
const NS_PER_MS = 1e6;
const SAME = 1e-9;
// Three configurations stand twice in the data set: their J per token differ by 5.2, 10.2 and 19.0 %.
const DECLARED_SPREAD = 0.19;
const boundary = 'all GPUs of the server by their own counters, steady state; no CPU, no idle';

/** Throws when an object does not have exactly the keys of a configuration. */
function checkKeys(place: string, value: Fields): void {
  const expected: readonly string[] = [...textKeys, ...countKeys, ...numberKeys];
  const missing = expected.filter((key) => !(key in value)).map((key) => `"${key}" missing`);
  const unknown = Object.keys(value)
    .filter((key) => !expected.includes(key))
    .map((key) => `"${key}" not known`);
  const changed = [...missing, ...unknown];
  if (changed.length === 0) return;
  throw foreignError(place, `keys have changed: ${changed.join(', ')}; expected ${expected.join(', ')}`);
}

const isPositive = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

/** One configuration, checked. Throws naming file, record and key. */
function configuration(place: string, value: unknown): Configuration {
  if (!isFields(value)) throw foreignError(place, 'not an object');
  checkKeys(place, value);
  const refuse = (key: string, wanted: string) =>
    foreignError(place, `${key} is ${JSON.stringify(value[key])}, not ${wanted}`);
  for (const key of textKeys) if (textOrNull(value[key]) === null) throw refuse(key, 'a text');
  for (const key of numberKeys) if (!isPositive(value[key])) throw refuse(key, 'a number above 0');
  for (const key of countKeys) {
    if (!isPositive(value[key]) || !Number.isInteger(value[key])) throw refuse(key, 'a whole number above 0');
  }
  return value as Configuration;
}

/** Same configuration as far as a row tells. */
const keyOf = (c: Configuration) =>
  JSON.stringify([c.model_id, c.weight_precision, c.gpu_model, ...countKeys.map((key) => c[key])]);

const differ = (a: number, b: number) => Math.abs(a - b) > SAME * Math.max(Math.abs(a), Math.abs(b));

function doubts(c: Configuration): string[] {
  const perToken = c.avg_power_watts / c.output_throughput_tokens_per_sec;
  const perRequest = c.energy_per_token_joules * c.avg_output_len;
  const inconsistent =
    differ(perToken, c.energy_per_token_joules) || differ(perRequest, c.energy_per_request_joules);
  return [
    ...(inconsistent ? ['inconsistent'] : []),
    ...overLimit(c.gpu_model, c.num_gpus, c.avg_power_watts),
  ];
}

function figures(c: Configuration): Figure[] {
  const figure = (
    [metric, unit]: readonly [string, string],
    value: number,
    [statistic, basis]: readonly [Statistic, Basis],
  ): Figure => ({ metric, unit, value, statistic, basis });
  const declared = { spread: DECLARED_SPREAD, spread_kind: 'declared' } as const;
  const latency = (value: number, statistic: Statistic) =>
    figure(['ml-energy:itl_ns', 'ns'], value * NS_PER_MS, [statistic, 'measured']);
  return [
    {
      ...figure(['energy_per_output_token_j', 'J'], c.energy_per_token_joules, ['mean', 'measured']),
      ...declared,
    },
    {
      ...figure(['ml-energy:energy_per_request_j', 'J'], c.energy_per_request_joules, ['mean', 'allocated']),
      ...declared,
    },
    figure(['power_w', 'W'], c.avg_power_watts, ['mean', 'derived']),
    figure(['tokens_per_s', '1/s'], c.output_throughput_tokens_per_sec, ['mean', 'measured']),
    figure(['ml-energy:batch', 'requests'], c.avg_batch_size, ['mean', 'measured']),
    figure(['ml-energy:output_tokens', 'tokens'], c.avg_output_len, ['mean', 'measured']),
    latency(c.median_itl_ms, 'median'),
    latency(c.p90_itl_ms, 'p90'),
    latency(c.p95_itl_ms, 'p95'),
    latency(c.p99_itl_ms, 'p99'),
  ];
}

/** The task and the configurations of a file; null for the index, which only describes the others. */
function taskOf(file: ForeignFile, value: unknown): { task: string; configurations: unknown[] } | null {
  if (!isFields(value)) throw foreignError(file.path, 'not an object');
  if ('tasks' in value && 'last_updated' in value && !('configurations' in value)) return null;
  const { task, configurations } = value as Fields & { task?: unknown; configurations?: unknown };
  if (typeof task !== 'string' || !Array.isArray(configurations)) {
    throw foreignError(
      file.path,
      `keys are ${Object.keys(value).join(', ')}; expected task, task_display_name and configurations`,
    );
  }
  return { task, configurations };
}

async function* readFile(
  file: ForeignFile,
  options: ImportOptions,
): AsyncGenerator<PublishedRecord, void, undefined> {
  const found = taskOf(file, await wholeJson(file));
  if (found === null) return;
  const rows = found.configurations.map((value, i) =>
    configuration(`${file.path}: configurations[${i}]`, value),
  );
  const times = new Map<string, number>();
  for (const row of rows) times.set(keyOf(row), (times.get(keyOf(row)) ?? 0) + 1);
  const source = factsOf(mlEnergySource, file, options);
  for (const [i, c] of rows.entries()) {
    const repeated = (times.get(keyOf(c)) ?? 1) > 1;
    yield {
      source,
      path: file.path,
      source_row: i + 1,
      model: c.model_id,
      weight_format: c.weight_precision,
      total_params: Math.round(c.total_params_billions * BILLION),
      active_params: Math.round(c.activated_params_billions * BILLION),
      accelerator: c.gpu_model,
      devices: c.num_gpus,
      dataset: found.task,
      concurrency: c.max_num_seqs,
      setting: {
        tensor_parallel: c.tensor_parallel,
        expert_parallel: c.expert_parallel,
        data_parallel: c.data_parallel,
        architecture: c.architecture,
        nickname: c.nickname,
      },
      scope: 'gpu',
      boundary,
      window: 'steady',
      flags: [...doubts(c), ...(repeated ? ['repeated_key'] : [])],
      note: repeated
        ? 'another row of the file has the same configuration: another run of it, or a knob the file does not record'
        : null,
      figures: figures(c),
    };
  }
}

/** The leaderboard's task files (`gpqa.json`, …), version 3. Only stable runs are in them: what is absent was unstable or not run. */
export const mlEnergy: Importer = {
  kind: 'ml-energy',
  version: 1,
  title: 'ML.ENERGY leaderboard version 3: J per output token of models on GPU servers, steady state',
  files: 'task files with "task" and "configurations"; index.json is read over',
  extensions: ['.json'],
  async *read(files, options) {
    let records = 0;
    for (const file of files) {
      for await (const record of readFile(file, options)) {
        records += 1;
        yield record;
      }
    }
    if (records === 0)
      throw foreignError(files.map(({ path }) => baseName(path)).join(', '), 'no configurations');
  },
};
