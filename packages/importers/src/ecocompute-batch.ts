import { type CsvRow, csvRows } from './csv-rows.js';
import { board, roundingFlags } from './ecocompute-board.js';
import type { Figure, ForeignFile, ImportOptions, PublishedRecord } from './importer.js';
import { ecocomputeBatchSource, factsOf } from './sources.js';

const rawColumns = [
  'batch_size',
  'total_time_s',
  'throughput_tok_s',
  'avg_power_w',
  'total_energy_j',
  'energy_per_request_j',
  'energy_per_1k_tokens_j',
  'avg_gpu_util_pct',
  'avg_memory_util_pct',
  'peak_memory_gb',
  'tokens_generated',
] as const;

const summaryColumns = [
  'batch_size',
  'throughput_tok_s_mean',
  'throughput_tok_s_std',
  'throughput_tok_s_min',
  'throughput_tok_s_max',
  'avg_power_w_mean',
  'avg_power_w_std',
  'energy_per_request_j_mean',
  'energy_per_request_j_std',
  'energy_per_1k_tokens_j_mean',
  'energy_per_1k_tokens_j_std',
  'avg_gpu_util_pct_mean',
  'avg_gpu_util_pct_std',
  'peak_memory_gb_mean',
  'peak_memory_gb_max',
] as const;

const NS_PER_S = 1e9;
const SAME = 1e-9;
const RUNS = 10;

const shared = (file: ForeignFile, options: ImportOptions) =>
  ({
    source: factsOf(ecocomputeBatchSource, file, options),
    path: file.path,
    model: options.model ?? 'Mistral-7B-Instruct-v0.3',
    weight_format: 'int8_pure',
    accelerator: options.accelerator ?? 'A800-SXM4-80GB',
    ...board,
    window: 'whole',
    setting: { output_tokens: 256 },
  }) as const;

/** Watts × seconds, and joules over requests, must be the joules of the row. */
function sumFlags(row: CsvRow): string[] {
  const total_j = row.positive('total_energy_j');
  const product_j = row.positive('avg_power_w') * row.positive('total_time_s');
  const requests_j = row.positive('energy_per_request_j') * row.count('batch_size');
  const off = (other: number) => Math.abs(other / total_j - 1) > SAME;
  return off(product_j) || off(requests_j) ? ['inconsistent'] : [];
}

function rawFigures(row: CsvRow): Figure[] {
  const energy = { unit: 'J', statistic: 'mean' } as const;
  return [
    {
      ...energy,
      metric: 'energy_per_output_token_j',
      value: row.positive('energy_per_1k_tokens_j') / 1000,
      basis: 'derived',
    },
    {
      ...energy,
      metric: 'energy_per_query_j',
      value: row.positive('energy_per_request_j'),
      basis: 'allocated',
    },
    {
      ...energy,
      metric: 'ecocompute:run_energy_j',
      value: row.positive('total_energy_j'),
      statistic: 'sum',
      basis: 'derived',
    },
    {
      metric: 'power_w',
      unit: 'W',
      value: row.positive('avg_power_w'),
      statistic: 'mean',
      basis: 'measured',
    },
    {
      metric: 'tokens_per_s',
      unit: '1/s',
      value: row.positive('throughput_tok_s'),
      statistic: 'mean',
      basis: 'measured',
    },
    {
      metric: 'ecocompute:run_time_ns',
      unit: 'ns',
      value: row.positive('total_time_s') * NS_PER_S,
      statistic: 'single',
      basis: 'measured',
    },
    {
      metric: 'ecocompute:run_output_tokens',
      unit: 'tokens',
      value: row.count('tokens_generated'),
      statistic: 'sum',
      basis: 'measured',
    },
  ];
}

/** One record a run: ten runs of every batch size. */
export async function* batchRaw(file: ForeignFile, options: ImportOptions): AsyncGenerator<PublishedRecord> {
  for await (const row of csvRows(file, { columns: rawColumns })) {
    const about = {
      source_row: row.row,
      concurrency: row.count('batch_size'),
      n: 1,
      flags: [...sumFlags(row), ...row.repeated],
    };
    yield { ...shared(file, options), ...about, figures: rawFigures(row) };
  }
}

function summaryFigures(row: CsvRow): Figure[] {
  const mean = { statistic: 'mean', spread_kind: 'sd', n: RUNS } as const;
  const energy_j = row.positive('energy_per_1k_tokens_j_mean') / 1000;
  const power_w = row.positive('avg_power_w_mean');
  const rate = row.positive('throughput_tok_s_mean');
  return [
    {
      ...mean,
      metric: 'energy_per_output_token_j',
      unit: 'J',
      value: energy_j,
      spread: row.positive('energy_per_1k_tokens_j_std') / 1000,
      basis: 'derived',
      flags: roundingFlags(energy_j, power_w, rate),
    },
    {
      ...mean,
      metric: 'energy_per_query_j',
      unit: 'J',
      value: row.positive('energy_per_request_j_mean'),
      spread: row.positive('energy_per_request_j_std'),
      basis: 'allocated',
    },
    {
      ...mean,
      metric: 'power_w',
      unit: 'W',
      value: power_w,
      spread: row.positive('avg_power_w_std'),
      basis: 'measured',
    },
    {
      ...mean,
      metric: 'tokens_per_s',
      unit: '1/s',
      value: rate,
      lo: row.positive('throughput_tok_s_min'),
      hi: row.positive('throughput_tok_s_max'),
      spread: row.positive('throughput_tok_s_std'),
      basis: 'measured',
    },
  ];
}

/** One record a batch size: means and standard deviations over its ten runs. */
export async function* batchSummary(
  file: ForeignFile,
  options: ImportOptions,
): AsyncGenerator<PublishedRecord> {
  for await (const row of csvRows(file, { columns: summaryColumns, header_lines: 3 })) {
    const about = { source_row: row.row, concurrency: row.count('batch_size'), flags: row.repeated };
    yield { ...shared(file, options), ...about, figures: summaryFigures(row) };
  }
}
