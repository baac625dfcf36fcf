import { type CsvRow, csvRows } from './csv-rows.js';
import { foreignError } from './foreign-error.js';
import type { Figure, Importer, ImportOptions, PublishedRecord } from './importer.js';
import { factsOf, powerCapSource } from './sources.js';

const columns = [
  'power_cap_w',
  'draft_depth',
  'output_tokens_per_s',
  'gpu_power_mean_w',
  'draft_acceptance',
] as const;

const OVER = 1.05;
const REACHED = 0.98;

/** How the draw stands to the cap: a card that can't spend it is not held by it. */
function capFlags(power_w: number, cap_w: number): string[] {
  if (power_w > OVER * cap_w) return ['over_power_cap'];
  return power_w < REACHED * cap_w ? ['cap_not_reached'] : [];
}

function acceptanceOf(row: CsvRow): Figure[] {
  const depth = row.number('draft_depth');
  if (!Number.isInteger(depth) || depth < 0)
    throw foreignError(row.place, `draft_depth is ${depth}, not a count`);
  const value = row.optionalPositive('draft_acceptance');
  if (value !== null && value > 1) throw foreignError(row.place, `draft_acceptance is ${value}, not a share`);
  if (depth === 0 && value === null) return [];
  const share = {
    metric: 'qwen38-mtp:draft_acceptance',
    unit: '1',
    statistic: 'share',
    basis: 'measured',
  } as const;
  return [{ ...share, value, reason: value === null ? 'not_published' : null }];
}

/**
 * A row's figures. The text above the source's table says that the watts are the 95th percentile of one reading a second,
 * the median of three passes, though the column's name says mean: the energy per token is then an upper bound.
 */
function figures(row: CsvRow): Figure[] {
  const power_w = row.positive('gpu_power_mean_w');
  const rate = row.positive('output_tokens_per_s');
  const statistic = 'p95';
  const bound = 'upper';
  return [
    { metric: 'tokens_per_s', unit: '1/s', value: rate, statistic: 'mean', basis: 'measured', n: 27 },
    { metric: 'power_w', unit: 'W', value: power_w, statistic, basis: 'measured', bound },
    {
      metric: 'energy_per_output_token_j',
      unit: 'J',
      value: power_w / rate,
      statistic,
      basis: 'recomputed',
      bound,
    },
    ...acceptanceOf(row),
  ];
}

function recordOf(row: CsvRow, options: ImportOptions): Omit<PublishedRecord, 'source' | 'path'> {
  const cap_w = row.positive('power_cap_w');
  return {
    source_row: row.row,
    model: options.model ?? 'Qwen3.8-27B',
    weight_format: 'UD-Q4_K_XL',
    accelerator: options.accelerator ?? 'RTX 5090',
    devices: 1,
    engine: 'llama.cpp b10451',
    dataset: 'three prompts, 400 tokens at most',
    concurrency: 1,
    setting: {
      power_cap_w: cap_w,
      draft_depth: row.number('draft_depth'),
      kv_cache: 'q4_0',
      context: 131_072,
    },
    phase: 'decode',
    window: 'decode',
    scope: 'gpu',
    boundary: 'one GPU board, one reading a second',
    n: 3,
    flags: [...capFlags(row.positive('gpu_power_mean_w'), cap_w), ...row.repeated],
    note: 'watts are the 95th percentile while decoding, the median of three passes, by the text of the source',
    figures: figures(row),
  };
}

/** A sweep over power caps and draft depths on one board. */
export const powerCap: Importer = {
  kind: 'power-cap',
  version: 1,
  title: 'power cap by draft depth: tokens per second and board watts of one GPU',
  files: `a CSV of ${columns.join(', ')}`,
  extensions: ['.csv'],
  async *read(files, options) {
    for (const file of files) {
      const source = factsOf(powerCapSource, file, options);
      for await (const row of csvRows(file, { columns })) {
        yield { source, path: file.path, ...recordOf(row, options) };
      }
    }
  },
};
