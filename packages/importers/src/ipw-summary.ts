import { foreignError } from './foreign-error.js';
import type { Figure, ForeignFile } from './importer.js';
import type { Charged } from './ipw-query.js';
import { type Fields, fieldsAt, isFields, numberOrNull, textOrNull, wholeJson } from './json-files.js';

/** What the summary of a run says of all its files. Null where there is none, or it does not say. */
export interface RunContext {
  readonly model: string | null;
  readonly accelerator: string | null;
  readonly dataset: string | null;
  /** Queries at work at once. */
  readonly concurrency: number | null;
  /** How traces of the run were charged: alone only where the run says that it took one at a time. */
  readonly charged: Charged;
  readonly summary: Fields | null;
}

const SHORT = 0.9;

/** The context that a summary gives. Throws `INPUT_INVALID` when the file is no summary. */
export async function summaryOf(file: ForeignFile | undefined): Promise<RunContext> {
  if (file === undefined) {
    const nothing = { model: null, accelerator: null, dataset: null, concurrency: null, summary: null };
    return { ...nothing, charged: 'whole_device' };
  }
  const summary = await wholeJson(file);
  if (!isFields(summary)) throw foreignError(file.path, 'not an object');
  const config = fieldsAt(summary, 'config');
  const text = (...keys: readonly string[]) =>
    keys.map((key) => textOrNull(config[key]) ?? textOrNull(summary[key])).find((each) => each !== null) ??
    null;
  const concurrency = numberOrNull(config['concurrency'] ?? config['max_concurrency']);
  return {
    model: text('model', 'model_id'),
    accelerator: text('hardware_label', 'hardware') ?? textOrNull(fieldsAt(summary, 'gpu_info')['name']),
    dataset: text('dataset', 'dataset_id'),
    concurrency,
    charged: concurrency === 1 ? 'alone' : 'whole_device',
    summary,
  };
}

/**
 * Figures printed in a summary of an agentic run, as printed; null when it has no totals. Its energy is set against mean
 * power × time: where it falls short, samples of many queries are missing and IPJ is flattered.
 */
export function summaryRecord(
  summary: Fields,
): { readonly figures: Figure[]; readonly note: string | null } | null {
  const totals = fieldsAt(summary, 'totals');
  const efficiency = fieldsAt(summary, 'efficiency');
  const queries = numberOrNull(totals['queries']);
  if (queries === null) return null;
  const energy_j = numberOrNull(totals['gpu_energy_joules']);
  const wall_s = numberOrNull(totals['wall_clock_s']);
  const statistics = fieldsAt(summary, 'statistics');
  const power_w = numberOrNull(fieldsAt(statistics, 'gpu_power_watts')['avg']);
  const mean_j = numberOrNull(fieldsAt(statistics, 'gpu_energy_joules')['avg']);
  const expected_j = power_w === null || wall_s === null ? null : power_w * wall_s;
  const short = energy_j !== null && expected_j !== null && energy_j < SHORT * expected_j;
  const counted = energy_j === null || mean_j === null ? null : Math.round(energy_j / mean_j);
  const printed = (
    [metric, unit]: readonly [string, string],
    value: number | null,
    flags: readonly string[],
  ): Figure => ({
    metric: `ipw:summary_${metric}`,
    unit,
    value,
    statistic: metric === 'gpu_energy_j' ? 'sum' : 'mean',
    basis: 'derived',
    n: metric.startsWith('gpu_energy') || metric.startsWith('ipj') ? (counted ?? queries) : queries,
    rankable: false,
    reason: value === null ? 'not_recorded' : null,
    flags,
  });
  const doubt = short ? ['energy_short'] : [];
  return {
    figures: [
      printed(['accuracy', '1'], numberOrNull(efficiency['accuracy'] ?? totals['accuracy']), [
        'failures_left_out',
      ]),
      printed(['gpu_energy_j', 'J'], energy_j, doubt),
      printed(['gpu_power_w', 'W'], power_w, []),
      printed(['ipj_of_total_energy_per_j', '1/J'], numberOrNull(efficiency['ipj']), [
        ...doubt,
        'shrinks_with_n',
      ]),
      printed(['ipw_of_mean_power_per_w', '1/W'], numberOrNull(efficiency['ipw']), ['mean_of_means']),
    ],
    note: short
      ? `printed ${energy_j} J over ${counted ?? 'some'} of ${queries} queries; mean power × time is ${expected_j} J`
      : null,
  };
}
