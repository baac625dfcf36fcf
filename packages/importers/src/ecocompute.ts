import { type CsvRow, csvHeader, csvRows } from './csv-rows.js';
import { batchRaw, batchSummary } from './ecocompute-batch.js';
import { board, roundingFlags } from './ecocompute-board.js';
import { baseName } from './figure-rows.js';
import { foreignError } from './foreign-error.js';
import type { Figure, ForeignFile, Importer, ImportOptions, PublishedRecord } from './importer.js';
import { overLimit } from './power-limits.js';
import { ecocomputeSource, factsOf } from './sources.js';

const summaryColumns = [
  'model',
  'config',
  'gpu',
  'energy_j_1k',
  'throughput',
  'power_w',
  'cv_percent',
  'ppl',
] as const;

const formatColumns = [
  'model',
  'config',
  'precision',
  'throughput_mean',
  'throughput_std',
  'power_mean',
  'power_std',
  'energy_per_1k_tokens_mean',
  'energy_per_1k_tokens_std',
  'delta_energy_pct',
  'n_runs',
] as const;

const summaryFigures = (row: CsvRow, suspect: boolean): Figure[] => {
  const energy_j = row.positive('energy_j_1k') / 1000;
  const power_w = row.positive('power_w');
  const rate = row.positive('throughput');
  return [
    {
      metric: 'energy_per_output_token_j',
      unit: 'J',
      value: energy_j,
      statistic: 'mean',
      basis: 'measured',
      spread: row.positive('cv_percent') / 100,
      spread_kind: 'cv',
      flags: roundingFlags(energy_j, power_w, rate),
    },
    { metric: 'power_w', unit: 'W', value: power_w, statistic: 'mean', basis: 'measured' },
    { metric: 'tokens_per_s', unit: '1/s', value: rate, statistic: 'mean', basis: 'measured' },
    {
      metric: 'ecocompute:perplexity_wikitext2',
      unit: '1',
      value: row.positive('ppl'),
      statistic: 'single',
      basis: 'measured',
      flags: suspect ? ['suspect'] : [],
      note: suspect ? 'worse without quantisation than with it' : null,
    },
  ];
};

/** Models whose perplexity at full precision is worse than at a quantised one: the figure, not the model, is in doubt. */
function suspectModels(rows: readonly CsvRow[]): ReadonlySet<string> {
  const best = new Map<string, number>();
  for (const row of rows) {
    if (row.text('config') === 'fp16') continue;
    const model = row.text('model');
    best.set(model, Math.min(best.get(model) ?? Number.POSITIVE_INFINITY, row.positive('ppl')));
  }
  const worse = rows.filter(
    (row) =>
      row.text('config') === 'fp16' &&
      row.positive('ppl') > (best.get(row.text('model')) ?? Number.POSITIVE_INFINITY),
  );
  return new Set(worse.map((row) => row.text('model')));
}

async function* summary(file: ForeignFile, options: ImportOptions): AsyncGenerator<PublishedRecord> {
  const source = factsOf(ecocomputeSource, file, options);
  const rows: CsvRow[] = [];
  for await (const row of csvRows(file, { columns: summaryColumns })) rows.push(row);
  const suspects = suspectModels(rows);
  for (const row of rows) {
    const config = row.text('config');
    const model = row.text('model');
    yield {
      source,
      path: file.path,
      source_row: row.row,
      model,
      weight_format: config,
      accelerator: row.text('gpu'),
      ...board,
      flags: [...overLimit(row.text('gpu'), 1, row.positive('power_w')), ...row.repeated],
      figures: summaryFigures(row, config === 'fp16' && suspects.has(model)),
    };
  }
}

const cards: readonly {
  readonly name: RegExp;
  readonly accelerator: string;
  readonly memory_bytes: number;
}[] = [
  { name: /^rtx5090/i, accelerator: 'RTX 5090', memory_bytes: 32e9 },
  { name: /^t4/i, accelerator: 'T4', memory_bytes: 16e9 },
];

const NEARLY_FULL = 0.85;
const BITS_PER_BYTE = 8;

/** `memory_nearly_full` where the weights alone, by the size in the model's name, take most of the card. */
function memoryFlags(model: string, bits: number, memory_bytes: number | null): string[] {
  const size = /(\d+(?:\.\d+)?)B\b/i.exec(model)?.[1];
  if (size === undefined || memory_bytes === null) return [];
  const weights = (Number(size) * 1e9 * bits) / BITS_PER_BYTE;
  return weights > NEARLY_FULL * memory_bytes ? ['suspect', 'memory_nearly_full'] : [];
}

const formatFigures = (row: CsvRow): Figure[] => {
  const shared = { statistic: 'mean', basis: 'measured', spread_kind: 'sd' } as const;
  const energy_j = row.positive('energy_per_1k_tokens_mean') / 1000;
  const power_w = row.positive('power_mean');
  const rate = row.positive('throughput_mean');
  return [
    {
      ...shared,
      metric: 'energy_per_output_token_j',
      unit: 'J',
      value: energy_j,
      spread: row.positive('energy_per_1k_tokens_std') / 1000,
      flags: roundingFlags(energy_j, power_w, rate),
    },
    { ...shared, metric: 'power_w', unit: 'W', value: power_w, spread: row.positive('power_std') },
    { ...shared, metric: 'tokens_per_s', unit: '1/s', value: rate, spread: row.positive('throughput_std') },
  ];
};

async function* formats(file: ForeignFile, options: ImportOptions): AsyncGenerator<PublishedRecord> {
  const source = factsOf(ecocomputeSource, file, options);
  const card = cards.find(({ name }) => name.test(baseName(file.path)));
  const accelerator = options.accelerator ?? card?.accelerator;
  if (accelerator === undefined) {
    throw foreignError(
      file.path,
      'the file does not say which GPU it is about: give `--accelerator NAME`, or its own name back (rtx5090…, t4…)',
    );
  }
  const memory = options.accelerator === undefined ? (card?.memory_bytes ?? null) : null;
  for await (const row of csvRows(file, { columns: formatColumns })) {
    const model = row.text('model');
    yield {
      source,
      path: file.path,
      source_row: row.row,
      model,
      weight_format: row.text('config').toLowerCase(),
      accelerator,
      ...board,
      n: row.count('n_runs'),
      flags: [
        ...memoryFlags(model, row.count('precision'), memory),
        ...overLimit(accelerator, 1, row.positive('power_mean')),
        ...row.repeated,
      ],
      figures: formatFigures(row),
    };
  }
}

/** Which reader a file's first line calls for. */
function readerOf(file: ForeignFile, header: readonly string[]) {
  if (header.includes('energy_j_1k')) return summary;
  if (header.includes('energy_per_1k_tokens_mean')) return formats;
  if (header[0] === '' && header.includes('energy_per_request_j')) return batchSummary;
  if (header.includes('batch_size') && header.includes('total_energy_j')) return batchRaw;
  throw foreignError(
    `${file.path}:1`,
    `columns ${header.map((name) => `"${name}"`).join(', ')} are none of the four layouts; expected those with "energy_j_1k", "energy_per_1k_tokens_mean" or "batch_size"`,
  );
}

/** Energy per token by weight format on three GPUs, and a batch sweep. */
export const ecocompute: Importer = {
  kind: 'ecocompute',
  version: 1,
  title: 'EcoCompute: J per 1,000 tokens by weight format on single GPUs, and a sweep over batch sizes',
  files: 'its CSV files by weight format (A800, RTX 5090, T4) and by batch size (raw, summary)',
  extensions: ['.csv'],
  async *read(files, options) {
    for (const file of files) yield* readerOf(file, await csvHeader(file))(file, options);
  },
};
