import { type CsvRow, csvRows } from './csv-rows.js';
import type { Figure, Importer, PublishedRecord } from './importer.js';
import { aiBenchmarksSource, factsOf } from './sources.js';

const columns = [
  'model',
  'system',
  'compute',
  'output_tokens_per_s',
  'wall_power_peak_w',
  'llama_cpp_vulkan',
  'source_url',
] as const;

/** Rows whose thread says that the watts are an average, though they stand in the column of peaks. */
const averages: readonly { readonly thread: string; readonly model: string; readonly power_w: number }[] = [
  { thread: '/ai-benchmarks/issues/10', model: 'DeepSeek R1 671b', power_w: 477 },
];

const isAverage = (row: CsvRow, power_w: number) =>
  averages.some(
    (known) =>
      row.text('source_url').endsWith(known.thread) &&
      row.text('model') === known.model &&
      power_w === known.power_w,
  );

/**
 * A row's figures. Watts are the highest reading at the wall, so that watts over rate is an upper bound of the energy per
 * token and can't be ranked; where they are an average it is neither.
 */
function figures(row: CsvRow): Figure[] {
  const tokensPerS = row.positive('output_tokens_per_s');
  const power_w = row.optionalPositive('wall_power_peak_w');
  const rate: Figure = {
    metric: 'tokens_per_s',
    unit: '1/s',
    value: tokensPerS,
    statistic: 'mean',
    basis: 'measured',
  };
  const power = { metric: 'power_w', unit: 'W', basis: 'measured' } as const;
  const energy = { metric: 'energy_per_output_token_j', unit: 'J', basis: 'recomputed' } as const;
  if (power_w === null) {
    const none = { value: null, statistic: 'peak', reason: 'no_power_published' } as const;
    return [rate, { ...power, ...none }, { ...energy, ...none }];
  }
  const joules = power_w / tokensPerS;
  if (isAverage(row, power_w)) {
    return [
      rate,
      { ...power, value: power_w, statistic: 'mean' },
      { ...energy, value: joules, statistic: 'mean', rankable: false, flags: ['two_measurements'] },
    ];
  }
  const peak = { statistic: 'peak', bound: 'upper', rankable: false } as const;
  return [rate, { ...power, value: power_w, ...peak }, { ...energy, value: joules, ...peak }];
}

const recordOf = (row: CsvRow): Omit<PublishedRecord, 'source' | 'path'> => ({
  source_row: row.row,
  model: row.text('model'),
  accelerator: row.text('system'),
  setting: { compute: row.text('compute'), llama_cpp_vulkan: row.text('llama_cpp_vulkan') === '1' },
  scope: 'wall',
  boundary: 'the whole system at the wall',
  flags: row.repeated,
  note: 'the quantisation is not in the table',
  figures: figures(row),
});

/** The table of systems by tokens per second and peak watts at the wall. */
export const aiBenchmarks: Importer = {
  kind: 'ai-benchmarks',
  version: 1,
  title: 'ai-benchmarks: tokens per second and peak wall watts of boards, PCs and workstations',
  files: `a CSV of ${columns.join(', ')}`,
  extensions: ['.csv'],
  async *read(files, options) {
    for (const file of files) {
      const source = factsOf(aiBenchmarksSource, file, options);
      for await (const row of csvRows(file, { columns })) yield { source, path: file.path, ...recordOf(row) };
    }
  },
};
